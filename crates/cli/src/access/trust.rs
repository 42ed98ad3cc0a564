//! Options that establish trust in a server, under the names of MySQL's clients.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mayfly_client::{Address, Roots, Tls};

/// Options that establish trust in a server, under the names of MySQL's clients.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TrustOptions {
    /// Certificates (PEM) of the authorities that may sign the server's certificate [default: those of the system].
    #[arg(long, value_name = "FILE")]
    ssl_ca: Option<PathBuf>,
    /// TLS to a server over TCP: verifies the certificate and the name of the host, the certificate alone, or disables
    /// TLS [default: VERIFY_IDENTITY; DISABLED on this machine, unless --ssl-ca is given].
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    ssl_mode: Option<SslMode>,
    /// The server's public RSA key (PEM), with which caching_sha2_password may send the password without TLS.
    #[arg(long, value_name = "FILE")]
    server_public_key_path: Option<PathBuf>,
}

/// TLS modes. There is none without verification: an attacker in between could pose as the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SslMode {
    #[value(name = "DISABLED")]
    Disabled,
    #[value(name = "VERIFY_CA")]
    VerifyCa,
    #[value(name = "VERIFY_IDENTITY")]
    VerifyIdentity,
}

impl TrustOptions {
    /// Takes a setting of an option file; the command line takes precedence.
    pub(crate) fn read(
        &mut self,
        name: &str,
        value: Option<&str>,
        location: &str,
    ) -> Result<(), String> {
        let path = || value.map(PathBuf::from);
        match name {
            "ssl_ca" if self.ssl_ca.is_none() => self.ssl_ca = path(),
            "server_public_key_path" if self.server_public_key_path.is_none() => {
                self.server_public_key_path = path();
            }
            "ssl_mode" if self.ssl_mode.is_none() => {
                let mode = SslMode::from_str(value.unwrap_or_default(), true);
                let mode = mode.map_err(|_| {
                    format!("{location}: ssl-mode is DISABLED, VERIFY_CA or VERIFY_IDENTITY here: TLS is always verified")
                })?;
                self.ssl_mode = Some(mode);
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the files, and adds the trust options to an address.
    pub(crate) fn apply(&self, address: &mut Address) -> Result<(), String> {
        if let Some(path) = &self.server_public_key_path {
            address.server_key = Some(read(path)?);
        }
        address.tls = match self.mode(address) {
            SslMode::Disabled => Tls::Disabled,
            mode => Tls::Verified {
                roots: self.roots()?,
                identity: mode == SslMode::VerifyIdentity,
            },
        };
        Ok(())
    }

    fn mode(&self, address: &Address) -> SslMode {
        if address.socket.is_some() {
            return SslMode::Disabled;
        }
        let is_here = |host: &String| {
            let ip = host.parse::<IpAddr>();
            ip.map_or(host == "localhost", |ip| ip.is_loopback())
        };
        let is_here = address.host.as_ref().is_none_or(is_here);
        self.ssl_mode
            .unwrap_or(if is_here && self.ssl_ca.is_none() {
                SslMode::Disabled
            } else {
                SslMode::VerifyIdentity
            })
    }

    fn roots(&self) -> Result<Roots, String> {
        let Some(path) = &self.ssl_ca else {
            let loaded = rustls_native_certs::load_native_certs();
            let certificates = loaded
                .certs
                .into_iter()
                .map(|certificate| certificate.to_vec());
            return Ok(Roots::from_der(certificates));
        };
        Roots::from_pem(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The content of a small file of certificates or keys.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_elsewhere_are_verified_and_a_socket_needs_nothing() {
        let address = |host: &str| Address {
            host: Some(host.to_owned()),
            ..Address::default()
        };
        let default = TrustOptions::default();
        for (host, mode) in [
            ("localhost", SslMode::Disabled),
            ("127.0.0.1", SslMode::Disabled),
            ("::1", SslMode::Disabled),
            ("db.example", SslMode::VerifyIdentity),
            ("10.0.0.1", SslMode::VerifyIdentity),
            ("localhost.example", SslMode::VerifyIdentity),
        ] {
            assert_eq!(default.mode(&address(host)), mode, "{host}");
        }
        let named = TrustOptions {
            ssl_ca: Some(PathBuf::from("ca.pem")),
            ..TrustOptions::default()
        };
        assert_eq!(named.mode(&address("localhost")), SslMode::VerifyIdentity);
        let mut read = TrustOptions::default();
        assert!(read.read("ssl_mode", Some("required"), "file:1").is_err());
        assert_eq!(read.read("ssl_mode", Some("verify_ca"), "file:1"), Ok(()));
        assert_eq!(read.mode(&address("db.example")), SslMode::VerifyCa);
        let socket = Address {
            socket: Some("/socket".to_owned()),
            ..address("db.example")
        };
        assert_eq!(read.mode(&socket), SslMode::Disabled);
    }
}
