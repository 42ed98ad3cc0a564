//! The address of a server: where it listens, the account, what proves that it is the server, and what the session may do.
//!
//! An address is what the user has named. Nothing that a server sends changes it.

use super::trust::Tls;

/// Address of a server, with the account.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// Its host.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// Its Unix socket, in place of host and port.
    pub socket: Option<String>,
    /// The account.
    pub user: String,
    /// Its password.
    pub password: Option<String>,
    /// The database that is current after the login.
    pub database: Option<String>,
    /// Whether a text may hold several statements, and a CALL may return several results.
    pub several_results: bool,
    /// Whether LOAD DATA LOCAL may read files of this machine: those that its own text names.
    pub local_files: bool,
    /// How the connection is encrypted; a Unix socket is not.
    pub tls: Tls,
    /// The server's public RSA key as PEM, for `caching_sha2_password` without TLS.
    pub server_key: Option<Vec<u8>>,
}

/// The host of an address; by default, this machine.
pub(super) fn host(address: &Address) -> &str {
    address.host.as_deref().unwrap_or("127.0.0.1")
}
