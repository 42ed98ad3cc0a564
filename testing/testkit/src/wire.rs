//! Mayfly as a server over the wire: the database of [`crate::embedded`], with the client for other servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::Database;
use mayfly_wire::{Server, ServerOptions, TlsOptions};

use crate::client::ServerError;
use crate::runner::Paths;
use crate::server::{Flavour, ServerSession};

/// Greatest time in which connections must end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server on a Unix socket.
#[derive(Debug)]
pub struct Wire {
    server: Server,
    socket: PathBuf,
    paths: Paths,
}

impl Wire {
    /// Starts the server of a database.
    ///
    /// # Errors
    /// A text that says why it cannot start.
    pub fn start(database: &Arc<Database>, paths: Paths) -> Result<Self, String> {
        let socket = paths.tmp().join("mayfly.sock");
        let options = ServerOptions {
            socket: Some(socket.clone()),
            tls: TlsOptions::Off,
            ..ServerOptions::default()
        };
        let server = Server::start(Arc::clone(database), &options)?;
        Ok(Self {
            server,
            socket,
            paths,
        })
    }

    /// The socket that clients connect to.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// A new session of an account without a password.
    ///
    /// # Errors
    /// The server's error.
    pub fn session_of(&self, user: &str) -> Result<ServerSession, ServerError> {
        ServerSession::connect_as(user, &self.socket, Flavour::Mayfly, self.paths.clone())
    }

    /// Ends it; false when a connection did not end.
    #[must_use]
    pub fn stop(mut self) -> bool {
        self.server.stop(PATIENCE)
    }
}
