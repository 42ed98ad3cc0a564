//! TLS with a verified certificate.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error,
    SignatureScheme, StreamOwned,
};

use super::channel::Channel;
use super::trust::Roots;

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
