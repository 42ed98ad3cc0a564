//! TLS with a verified certificate.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};

use super::channel::Channel;

/// Encryption of a connection.
#[derive(Debug, Clone, Default)]
pub enum Tls {
    /// No encryption.
    #[default]
    Disabled,
    /// The server's certificate must be signed by one of these authorities and, for MySQL's `VERIFY_IDENTITY` but not
    /// for `VERIFY_CA`, name the host.
    Verified {
        /// The authorities.
        roots: Roots,
        /// Whether the certificate must name the host.
        identity: bool,
    },
}

/// Authorities of certificates.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<CertificateDer<'static>>);

impl Roots {
    /// The authorities in the text of a PEM file.
    ///
    /// # Errors
    /// The file holds none, or one that cannot be read.
    pub fn from_pem(text: &[u8]) -> Result<Self, String> {
        let roots = CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>();
        let roots = roots.map_err(|error| error.to_string())?;
        if roots.is_empty() {
            return Err("there is no certificate in it".to_owned());
        }
        Ok(Self(roots))
    }

    /// Certificates in DER form.
    pub fn from_der(certificates: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self(certificates.into_iter().map(CertificateDer::from).collect())
    }

    fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        // Some certificates of a system are rejected by every verifier.
        store.add_parsable_certificates(self.0.iter().cloned());
        store
    }
}

/// Encrypts a channel to a host.
pub(super) fn encrypt(
    channel: Channel,
    host: &str,
    roots: &Roots,
    identity: bool,
) -> Result<Channel, String> {
    let Channel::Plain(socket) = channel else {
        return Err("the connection is encrypted already".to_owned());
    };
    // Bytes received before the encryption may come from anybody.
    if !socket.buffer().is_empty() {
        return Err("the server sends bytes before it is asked for TLS".to_owned());
    }
    let store = roots.store();
    if store.is_empty() {
        return Err(
            "there is no authority of certificates to trust: name one with --ssl-ca".to_owned(),
        );
    }
    let failed = |error: &dyn std::fmt::Display| format!("TLS: {error}");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier {
        authority: WebPkiServerVerifier::builder_with_provider(
            Arc::new(store),
            Arc::clone(&provider),
        )
        .build()
        .map_err(|error| failed(&error))?,
        identity,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(&error))?;
    let connection =
        ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))?;
    let mut stream = StreamOwned::new(connection, socket.into_inner());
    // Verifies the certificate before anything is sent.
    while stream.conn.is_handshaking() {
        let done = stream.conn.complete_io(&mut stream.sock);
        done.map_err(|error| format!("TLS: {error}{}", advice(&error)))?;
    }
    Ok(Channel::Tls(Box::new(stream)))
}

/// Advice on an error of the certificate.
fn advice(error: &std::io::Error) -> &'static str {
    let error = error.get_ref().and_then(|error| error.downcast_ref());
    match error {
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "; --ssl-mode VERIFY_CA takes any name in a certificate of --ssl-ca",
        Some(Error::InvalidCertificate(_)) => "; name the certificate's authority with --ssl-ca",
        _ => "",
    }
}

/// Verifier of a certificate's authority, and optionally its name.
#[derive(Debug)]
struct Verifier {
    authority: Arc<WebPkiServerVerifier>,
    identity: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.authority.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // The name is checked after everything else.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.identity => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authority.supported_verify_schemes()
    }
}
