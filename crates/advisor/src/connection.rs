//! Connections that run statements: to a remote server, or a session of this process.

use mayfly_client::Client;
use mayfly_types::printable;

pub use mayfly_client::Rows;

/// A connection that runs statements.
pub trait Connection {
    /// Runs a statement.
    ///
    /// # Errors
    /// The server's message, or that of a lost connection.
    fn query(&mut self, sql: &str) -> Result<Rows, String>;
}

impl Connection for Client {
    fn query(&mut self, sql: &str) -> Result<Rows, String> {
        Self::query(self, sql).map_err(|error| printable(&error.to_string()).into_owned())
    }
}
