//! Clients in TLS, with and without certificates: which are admitted, and their certificates as the server sees them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Database, DatabaseOptions, RootPassword};
use mayfly_wire::{Server, ServerOptions};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;

const ER_ACCESS_DENIED_ERROR: u16 = 1045;
const ER_SECURE_TRANSPORT_REQUIRED: u16 = 3159;

type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

/// An authority that signs certificates.
struct Authority(Issuer<'static, KeyPair>, String);

fn parameters(names: &[(DnType, &str)]) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    let mut name = DistinguishedName::new();
    for (part, text) in names {
        name.push(part.clone(), *text);
    }
    parameters.distinguished_name = name;
    parameters
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut parameters = parameters(&[(DnType::CommonName, name)]);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self(Issuer::new(parameters, key), pem)
    }

    fn sign(&self, names: &[(DnType, &str)]) -> Identity {
        let key = KeyPair::generate().unwrap();
        let signed = parameters(names).signed_by(&key, &self.0).unwrap();
        let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        (signed.der().clone(), secret)
    }
}

/// Verifier that accepts any certificate of the server, which these tests are not about.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = self.0.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

fn start(authorities: &Path, variables: &[(&str, &str)]) -> (Arc<Database>, Server) {
    let mut options = DatabaseOptions::new();
    options.threads = 1;
    for (name, value) in variables {
        let variable = ((*name).to_owned(), (*value).to_owned());
        options.variables.push(variable);
    }
    let database = Database::open(options).unwrap();
    database.set_up_root(RootPassword::Empty).unwrap();
    let options = ServerOptions {
        addresses: vec!["127.0.0.1:0".parse().unwrap()],
        authorities: Some(authorities.to_owned()),
        ..ServerOptions::default()
    };
    let server = Server::start(Arc::clone(&database), &options).unwrap();
    (database, server)
}

fn read(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = u32::try_from(payload.len()).unwrap().to_le_bytes().to_vec();
    packet[3] = sequence;
    packet.extend_from_slice(payload);
    packet
}

/// The response to the greeting; with an empty name the request for TLS.
fn response(capabilities: u32, user: &str) -> Vec<u8> {
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend_from_slice(&(1_u32 << 24).to_le_bytes());
    payload.push(255);
    payload.extend_from_slice(&[0; 23]);
    if !user.is_empty() {
        payload.extend_from_slice(user.as_bytes());
        payload.extend_from_slice(b"\0\0caching_sha2_password\0");
    }
    payload
}

fn answer(payload: &[u8]) -> Result<(), u16> {
    match payload {
        [0xFF, low, high, ..] => Err(u16::from_le_bytes([*low, *high])),
        _ => Ok(()),
    }
}

const CAPABILITIES: u32 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH;

/// Logs in without TLS; returns the error, if there is one.
fn log_in_plainly(address: SocketAddr, user: &str) -> Result<(), u16> {
    let mut stream = TcpStream::connect(address).unwrap();
    read(&mut stream).unwrap();
    let response = packet(1, &response(CAPABILITIES, user));
    stream.write_all(&response).unwrap();
    answer(&read(&mut stream).unwrap())
}

/// Logs in through TLS and asks for a status variable; returns the server's error, or `None` when it closed the
/// connection.
fn log_in(address: SocketAddr, user: &str, identity: Option<&Identity>) -> Option<Result<(), u16>> {
    let mut socket = TcpStream::connect(address).unwrap();
    let patience = Some(Duration::from_secs(60));
    socket.set_read_timeout(patience).unwrap();
    read(&mut socket).unwrap();
    let capabilities = CAPABILITIES | SSL;
    let request = packet(1, &response(capabilities, ""));
    socket.write_all(&request).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(provider)));
    let configuration = match identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder
            .with_client_auth_cert(vec![certificate.clone()], key.clone_key())
            .unwrap(),
    };
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(configuration), name).unwrap();
    let mut stream = StreamOwned::new(connection, socket);
    let response = packet(2, &response(capabilities, user));
    stream.write_all(&response).ok()?;
    let payload = read(&mut stream).ok()?;
    Some(answer(&payload))
}

#[test]
fn clients_show_their_certificates() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    let authority = Authority::new("authority");
    std::fs::write(&path, &authority.1).unwrap();
    let ann = authority.sign(&[
        (DnType::CountryName, "DE"),
        (DnType::OrganizationName, "Möbel/Co"),
        (DnType::CommonName, "ann"),
    ]);
    let bob = authority.sign(&[(DnType::CommonName, "bob")]);
    let stranger = Authority::new("authority").sign(&[(DnType::CommonName, "ann")]);
    let (database, server) = start(&path, &[]);
    let mut root = database.session();
    for account in [
        "anyone",
        "encrypted REQUIRE SSL",
        "certified REQUIRE X509",
        "ann REQUIRE SUBJECT '/C=DE/O=M\\\\xC3\\\\xB6bel/Co/CN=ann' AND ISSUER '/CN=authority'",
    ] {
        root.execute(&format!("CREATE USER {account}")).unwrap();
    }
    let address = server.addresses()[0];
    let denied = Err(ER_ACCESS_DENIED_ERROR);
    for (user, plainly, unknown, known) in [
        ("anyone", Ok(()), Ok(()), [Ok(()), Ok(())]),
        ("encrypted", denied, Ok(()), [Ok(()), Ok(())]),
        ("certified", denied, denied, [Ok(()), Ok(())]),
        ("ann", denied, denied, [Ok(()), denied]),
    ] {
        assert_eq!(log_in_plainly(address, user), plainly, "{user}");
        assert_eq!(log_in(address, user, None), Some(unknown), "{user}");
        for (identity, expected) in [&ann, &bob].into_iter().zip(known) {
            assert_eq!(
                log_in(address, user, Some(identity)),
                Some(expected),
                "{user}"
            );
        }
        // The server does not know the signer.
        assert_eq!(log_in(address, user, Some(&stranger)), None, "{user}");
    }
}

#[test]
fn the_server_may_require_tls_of_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, Authority::new("authority").1).unwrap();
    let (_database, server) = start(&path, &[("require_secure_transport", "ON")]);
    let address = server.addresses()[0];
    let refused = Err(ER_SECURE_TRANSPORT_REQUIRED);
    assert_eq!(log_in_plainly(address, "root"), refused);
    assert_eq!(log_in(address, "root", None), Some(Ok(())));
}

#[test]
fn authorities_that_are_none_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    for content in [
        None,
        Some("nothing"),
        Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    ] {
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let database = Database::open(DatabaseOptions::new()).unwrap();
        let options = ServerOptions {
            addresses: vec!["127.0.0.1:0".parse().unwrap()],
            authorities: Some(path.clone()),
            ..ServerOptions::default()
        };
        let error = Server::start(database, &options).unwrap_err();
        assert!(error.contains("ca.pem"), "{error}");
    }
}
