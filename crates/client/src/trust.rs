//! Encryption as the user asks for it: whether there is any, and the authorities whose certificates are trusted.
//!
//! Without authorities no server is trusted: there is no encryption without a verified certificate.

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

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

    /// The authorities that a verifier takes.
    pub(super) fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        // Some certificates of a system are rejected by every verifier.
        store.add_parsable_certificates(self.0.iter().cloned());
        store
    }
}
