//! TLS: a certificate of the user's, or one that is made at the first start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::{certificate, pem};

/// File names in the data directory, as MySQL's.
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// Where the certificate comes from.
#[derive(Debug, Clone, Default)]
pub enum TlsOptions {
    /// A self-signed one, kept in the data directory if there is one.
    #[default]
    SelfSigned,
    /// The user's files, PEM: `ssl_cert` and `ssl_key`.
    Files {
        /// Certificate, with those between it and the authority.
        certificate: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// No TLS.
    Off,
}

/// What connections need; `None` without TLS. Clients may give certificates that `authorities`, a file
/// of certificates, have signed.
pub(crate) fn configuration(
    options: &TlsOptions,
    authorities: Option<&Path>,
    directory: Option<&Path>,
) -> Result<Option<Arc<ServerConfig>>, String> {
    let (certificates, key) = match options {
        TlsOptions::Off => return Ok(None),
        TlsOptions::Files { certificate, key } => read(certificate, key)?,
        TlsOptions::SelfSigned => match directory {
            Some(directory) => {
                let (certificate, key) = (directory.join(CERTIFICATE), directory.join(KEY));
                if !certificate.is_file() || !key.is_file() {
                    let made = self_signed()?;
                    // What an interrupted start left.
                    let _ = std::fs::remove_file(&key);
                    pem::write_secret(&key, &made.signing_key.serialize_pem())?;
                    std::fs::write(&certificate, made.cert.pem())
                        .map_err(|error| format!("{}: {error}", certificate.display()))?;
                }
                read(&certificate, &key)?
            }
            None => {
                let made = self_signed()?;
                let key = PrivateKeyDer::try_from(made.signing_key.serialize_der());
                let key = key.map_err(str::to_owned)?;
                (vec![made.cert.der().clone()], key)
            }
        },
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = match authorities {
        Some(path) => verifier(path, &provider)?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    let configuration = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_client_cert_verifier(verifier)
                .with_single_cert(certificates, key)
        })
        .map_err(|error| format!("TLS: {error}"))?;
    Ok(Some(Arc::new(configuration)))
}

/// Asks clients for certificates of these authorities; they need not have one.
fn verifier(
    authorities: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", authorities.display());
    let mut roots = RootCertStore::empty();
    for root in read_certificates(authorities)? {
        roots.add(root).map_err(|error| failed(&error))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| failed(&error))
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read(path: &Path, key: &Path) -> Result<Identity, String> {
    let certificates = read_certificates(path)?;
    if let Some(version @ ..=2) = certificates.first().and_then(|it| certificate::version(it)) {
        return Err(format!(
            "{}: a certificate of X.509 version {version}, which has no names of hosts: version 3 is needed \
             (openssl x509 -req -extfile FILE, with subjectAltName in the file)",
            path.display()
        ));
    }
    let failed = |error| format!("{}: {error}", key.display());
    let key = PrivateKeyDer::from_pem_file(key).map_err(failed)?;
    Ok((certificates, key))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    certificates.map_err(|error| format!("{}: {error}", path.display()))
}

fn self_signed() -> Result<rcgen::CertifiedKey<rcgen::KeyPair>, String> {
    let names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    rcgen::generate_simple_self_signed(names).map_err(|error| format!("certificate: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `openssl x509 -req` makes them without a file of extensions.
    const VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBJTCBywIURE/NRzyZsINQM0OS/x/Q+G1x0QIwCgYIKoZIzj0EAwIwFDESMBAG
A1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE3NTM1M1oYDzIxMjYxMDI5MTc1MzUz
WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQBrlIrpz/KyFMH7vBsjR5cWYegExEDIf2cEWlVh2lEHje+3rsPz5Ojvng0OZpK
CADPgbIbKq+bbUaNnqSUWl4XMAoGCCqGSM49BAMCA0kAMEYCIQD5QsgeLiS5iXp/
SIKEFK/Yq4s03mJgCAVRbiamHJ4vaQIhAOQHTDc8FyiL9XeAm4fKM49j4PaLMCpx
lbgp8cqSInzx
-----END CERTIFICATE-----
";

    #[test]
    fn a_certificate_without_extensions_is_refused_with_what_to_do() {
        let directory = tempfile::tempdir().expect("a directory");
        let (certificate, key) = (
            directory.path().join("old.pem"),
            directory.path().join("key"),
        );
        std::fs::write(&certificate, VERSION_1).expect("written");
        let made = self_signed().expect("made");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
        let files = TlsOptions::Files { certificate, key };
        let error = configuration(&files, None, None).expect_err("refused");
        assert!(
            error.contains("old.pem: a certificate of X.509 version 1"),
            "{error}"
        );
    }

    #[test]
    fn a_made_certificate_is_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || configuration(&TlsOptions::SelfSigned, None, Some(directory.path()));
        assert!(open().expect("made").is_some());
        let path = directory.path().join(CERTIFICATE);
        let made = std::fs::read(&path).expect("a file");
        assert!(open().expect("read").is_some());
        assert_eq!(std::fs::read(&path).expect("a file"), made);
        assert!(configuration(&TlsOptions::SelfSigned, None, None).is_ok());
        assert!(
            configuration(&TlsOptions::Off, None, None)
                .expect("none")
                .is_none()
        );
    }

    #[test]
    fn wrong_files_are_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = TlsOptions::Files {
            certificate: directory.path().join("missing.pem"),
            key: directory.path().join("missing.key"),
        };
        let error = configuration(&options, None, None).expect_err("no such file");
        assert!(error.contains("missing.pem"), "{error}");
    }
}
