//! TLS: with the user's certificate, or one that is made when a client first asks for TLS.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::{certificate, pem};

/// File names in the data directory, as in MySQL.
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// Source of the certificate.
#[derive(Debug, Clone, Default)]
pub enum TlsOptions {
    /// A self-signed one, stored in the data directory if there is one.
    #[default]
    SelfSigned,
    /// The user's files, PEM: `ssl_cert` and `ssl_key`.
    Files {
        /// The certificate, followed by the intermediate certificates.
        certificate: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// No TLS.
    Off,
}

/// Configuration of a server's TLS connections. A self-signed certificate is made, or read, when the first client asks
/// for TLS: making it, and the random numbers that it takes, would be most of the server's start time. Files that the
/// user names are read at the start, so that an error is reported then.
#[derive(Debug)]
pub(crate) struct Tls {
    options: TlsOptions,
    authorities: Option<PathBuf>,
    directory: Option<PathBuf>,
    configuration: OnceLock<Result<Arc<ServerConfig>, String>>,
}

impl Tls {
    /// The configuration; `None` without TLS. Clients may show certificates that `authorities`, a file of certificates,
    /// have signed.
    pub(crate) fn new(
        options: &TlsOptions,
        authorities: Option<&Path>,
        directory: Option<&Path>,
    ) -> Result<Option<Self>, String> {
        if matches!(options, TlsOptions::Off) {
            return Ok(None);
        }
        let tls = Self {
            options: options.clone(),
            authorities: authorities.map(Path::to_owned),
            directory: directory.map(Path::to_owned),
            configuration: OnceLock::new(),
        };
        if matches!(options, TlsOptions::Files { .. }) || authorities.is_some() {
            tls.configuration()?;
        }
        Ok(Some(tls))
    }

    /// The configuration of a connection; an error says why there is none.
    pub(crate) fn configuration(&self) -> Result<Arc<ServerConfig>, String> {
        self.configuration.get_or_init(|| self.configure()).clone()
    }

    fn configure(&self) -> Result<Arc<ServerConfig>, String> {
        let (certificates, key) = self.identity()?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = match &self.authorities {
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
        Ok(Arc::new(configuration))
    }

    fn identity(&self) -> Result<Identity, String> {
        if let TlsOptions::Files { certificate, key } = &self.options {
            return read(certificate, key);
        }
        let Some(directory) = &self.directory else {
            let made = self_signed()?;
            let key = PrivateKeyDer::try_from(made.signing_key.serialize_der());
            let key = key.map_err(str::to_owned)?;
            return Ok((vec![made.cert.der().clone()], key));
        };
        let (certificate, key) = (directory.join(CERTIFICATE), directory.join(KEY));
        if !certificate.is_file() || !key.is_file() {
            let made = self_signed()?;
            // Left by an interrupted attempt.
            let _ = std::fs::remove_file(&key);
            pem::write_secret(&key, &made.signing_key.serialize_pem())?;
            pem::write_public(&certificate, &made.cert.pem())?;
        }
        read(&certificate, &key)
    }
}

/// A verifier that asks clients for certificates of these authorities; clients need not have one.
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

    /// Made by `openssl x509 -req` without a file of extensions.
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
        let error = Tls::new(&files, None, None).expect_err("refused");
        assert!(
            error.contains("old.pem: a certificate of X.509 version 1"),
            "{error}"
        );
    }

    #[test]
    fn a_made_certificate_is_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Tls::new(&TlsOptions::SelfSigned, None, Some(directory.path()));
        let tls = open().expect("options").expect("TLS");
        let path = directory.path().join(CERTIFICATE);
        assert!(!path.exists(), "nobody has asked for it");
        assert!(tls.configuration().is_ok());
        let made = std::fs::read(&path).expect("a file");
        let tls = open().expect("options").expect("TLS");
        assert!(tls.configuration().is_ok());
        assert_eq!(std::fs::read(&path).expect("a file"), made);
    }

    #[test]
    fn a_certificate_of_no_directory_is_made() {
        let tls = Tls::new(&TlsOptions::SelfSigned, None, None).expect("options");
        assert!(tls.expect("TLS").configuration().is_ok());
        assert!(
            Tls::new(&TlsOptions::Off, None, None)
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
        let error = Tls::new(&options, None, None).expect_err("no such file");
        assert!(error.contains("missing.pem"), "{error}");
    }
}
