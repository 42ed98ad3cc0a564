//! The RSA keys with which a client encrypts its password where there is no TLS.
//!
//! They are made when a client first asks for them (which takes too long for a start), and stored
//! beside the data so that clients which remember the public key can continue to use it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;

use super::scramble::LENGTH;
use crate::pem;

/// File names, as MySQL's.
const PRIVATE_KEY: &str = "private_key.pem";
const PUBLIC_KEY: &str = "public_key.pem";

/// The keys of a server, made at the first request for them.
#[derive(Debug)]
pub(crate) struct LoginKeys {
    directory: Option<PathBuf>,
    keys: OnceLock<Option<Keys>>,
}

struct Keys {
    private: OaepPrivateDecryptingKey,
    public: Vec<u8>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl LoginKeys {
    /// Keys that are stored in a directory, or without one only in memory.
    pub(crate) fn new(directory: Option<&Path>) -> Self {
        Self {
            directory: directory.map(Path::to_owned),
            keys: OnceLock::new(),
        }
    }

    fn keys(&self) -> Option<&Keys> {
        let make = || {
            let made = Keys::open(self.directory.as_deref());
            if let Err(error) = &made {
                tracing::error!("no RSA keys for logins without TLS: {error}");
            }
            made.ok()
        };
        self.keys.get_or_init(make).as_ref()
    }

    /// The public key as PEM; `None` when there is none.
    pub(crate) fn public_key(&self) -> Option<&[u8]> {
        self.keys().map(|keys| keys.public.as_slice())
    }

    /// The decrypted password of a client, without its zero; `None` when it is invalid.
    pub(crate) fn password(&self, encrypted: &[u8], scramble: &[u8; LENGTH]) -> Option<Vec<u8>> {
        let keys = self.keys()?;
        let mut out = vec![0; keys.private.min_output_size()];
        let mut plain = keys
            .private
            .decrypt(&OAEP_SHA1_MGF1SHA1, encrypted, &mut out, None)
            .ok()?
            .to_vec();
        for (byte, mask) in plain.iter_mut().zip(scramble.iter().cycle()) {
            *byte ^= mask;
        }
        (plain.pop() == Some(0)).then_some(plain)
    }
}

impl Keys {
    fn open(directory: Option<&Path>) -> Result<Self, String> {
        let Some(directory) = directory else {
            return Self::of(Self::generate()?);
        };
        let path = directory.join(PRIVATE_KEY);
        if path.is_file() {
            let der = PrivatePkcs8KeyDer::from_pem_file(&path);
            let der = der.map_err(|error| format!("{}: {error}", path.display()))?;
            let key = PrivateDecryptingKey::from_pkcs8(der.secret_pkcs8_der());
            return Self::of(key.map_err(|error| format!("{}: {error}", path.display()))?);
        }
        let key = Self::generate()?;
        let der: Pkcs8V1Der<'static> = key.as_der().map_err(|error| error.to_string())?;
        pem::write_secret(&path, &pem::encode("PRIVATE KEY", der.as_ref()))?;
        let keys = Self::of(key)?;
        let public = String::from_utf8_lossy(&keys.public);
        pem::write_public(&directory.join(PUBLIC_KEY), &public)?;
        Ok(keys)
    }

    fn generate() -> Result<PrivateDecryptingKey, String> {
        PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|error| error.to_string())
    }

    fn of(key: PrivateDecryptingKey) -> Result<Self, String> {
        let der: PublicKeyX509Der<'static> = key
            .public_key()
            .as_der()
            .map_err(|error| error.to_string())?;
        let public = pem::encode("PUBLIC KEY", der.as_ref()).into_bytes();
        let private = OaepPrivateDecryptingKey::new(key).map_err(|error| error.to_string())?;
        Ok(Self { private, public })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql_common::crypto;

    #[test]
    fn a_password_comes_back_and_keys_are_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let scramble = *b"abcdefghijklmnopqrst";
        let keys = LoginKeys::new(Some(directory.path()));
        let public = keys.public_key().expect("a key").to_vec();
        let mut hidden = b"secret\0".to_vec();
        for (byte, mask) in hidden.iter_mut().zip(scramble.iter().cycle()) {
            *byte ^= mask;
        }
        let encrypted = crypto::encrypt(&hidden, &public);
        let password = keys.password(&encrypted, &scramble);
        assert_eq!(password.as_deref(), Some(b"secret".as_slice()));
        let again = LoginKeys::new(Some(directory.path()));
        assert_eq!(again.public_key(), Some(public.as_slice()));
        assert!(again.password(&encrypted, &scramble).is_some());
        assert_eq!(again.password(b"nonsense", &scramble), None);
    }
}
