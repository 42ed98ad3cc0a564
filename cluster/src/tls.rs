//! Mutual TLS between the processes of a cluster, with certificates that `mayfly-cluster certificates` makes.
//!
//! One authority signs the certificate of each process, and each end of a connection asks the other for one. All certificates
//! carry one name, so that they do not depend on addresses: who has a certificate belongs to the cluster.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

/// The name in each certificate.
const NAME: &str = "mayfly-cluster";
const AUTHORITY: &str = "authority.pem";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// What a process proves itself with.
#[derive(Clone)]
pub struct Credentials {
    authority: Certificate,
    identity: Identity,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Credentials")
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads the files of a directory of one process.
    pub fn read(directory: &Path) -> io::Result<Self> {
        // The program has two of them, and connections take the one that is installed. It may be installed already.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let read = |name: &str| {
            let path = directory.join(name);
            fs::read(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })
        };
        Ok(Self {
            authority: Certificate::from_pem(read(AUTHORITY)?),
            identity: Identity::from_pem(read(CERTIFICATE)?, read(KEY)?),
        })
    }

    /// For a server: who connects needs a certificate of the same authority.
    pub fn server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new()
            .identity(self.identity.clone())
            .client_ca_root(self.authority.clone())
    }

    /// For a client.
    pub fn client(&self) -> ClientTlsConfig {
        ClientTlsConfig::new()
            .ca_certificate(self.authority.clone())
            .identity(self.identity.clone())
            .domain_name(NAME)
    }
}

/// Refuses an address that others than this machine reach, unless connections are secured.
pub fn check_address(address: SocketAddr, credentials: Option<&Credentials>) -> Result<(), String> {
    if address.ip().is_loopback() || credentials.is_some() {
        return Ok(());
    }
    Err(format!(
        "{address} can be reached from other machines: give certificates (--tls), or an address of loopback"
    ))
}

/// Whether `directory` has a certificate for each of `names`.
pub fn are_there(directory: &Path, names: &[String]) -> bool {
    let files =
        |name: &String| [AUTHORITY, CERTIFICATE, KEY].map(|file| directory.join(name).join(file));
    names.iter().flat_map(files).all(|file| file.exists())
}

/// Makes an authority, and a directory with a certificate for each of `names`. The authority's key is written nowhere: more
/// certificates need a new authority.
pub fn make(directory: &Path, names: &[String]) -> Result<Vec<PathBuf>, String> {
    let text = |error: rcgen::Error| error.to_string();
    let mut params = CertificateParams::new(Vec::new()).map_err(text)?;
    params.distinguished_name = name("Mayfly cluster authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().map_err(text)?).map_err(text)?;
    let mut made = Vec::with_capacity(names.len());
    for process in names {
        if process.is_empty() || process.contains(['/', '\\']) || process.starts_with('.') {
            return Err(format!("'{process}' is no name of a process"));
        }
        let mut params = CertificateParams::new(vec![NAME.to_owned()]).map_err(text)?;
        params.distinguished_name = name(process);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().map_err(text)?;
        let certificate = params.signed_by(&key, &authority).map_err(text)?;
        let files = directory.join(process);
        fs::create_dir_all(&files).map_err(|error| format!("{}: {error}", files.display()))?;
        write(&files.join(AUTHORITY), &authority.pem())?;
        write(&files.join(CERTIFICATE), &certificate.pem())?;
        write(&files.join(KEY), &key.serialize_pem())?;
        made.push(files);
    }
    Ok(made)
}

/// A distinguished name.
fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// Writes a new file that only its owner reads.
fn write(path: &Path, content: &str) -> Result<(), String> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_network_needs_certificates() {
        let network = SocketAddr::from(([0, 0, 0, 0], 7000));
        assert!(check_address(network, None).is_err());
        assert!(check_address(SocketAddr::from(([127, 0, 0, 1], 7000)), None).is_ok());
        let directory = tempfile::tempdir().expect("directory");
        make(directory.path(), &["a".to_owned()]).expect("certificates");
        let credentials = Credentials::read(&directory.path().join("a")).expect("credentials");
        assert!(check_address(network, Some(&credentials)).is_ok());
        assert!(make(directory.path(), &["../b".to_owned()]).is_err());
        assert!(are_there(directory.path(), &["a".to_owned()]));
        assert!(!are_there(
            directory.path(),
            &["a".to_owned(), "b".to_owned()]
        ));
        // A second authority does not overwrite the first.
        assert!(make(directory.path(), &["a".to_owned()]).is_err());
    }
}
