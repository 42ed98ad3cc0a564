//! A server in the program: clients and drivers of MySQL connect to its database.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Result, RootPassword, codes};

use crate::Database;

/// Time for which running statements may continue when a server is stopped.
const PATIENCE: Duration = Duration::from_millis(100);

/// Options of a server.
///
/// ```
/// # fn main() -> mayfly::Result<()> {
/// let database = mayfly::Options::new().without_files().open()?;
/// let server = database.serve(mayfly::ServerOptions::new())?;
/// println!("port {}, password {:?}", server.address().port(), server.password());
/// # assert_ne!(server.address().port(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ServerOptions {
    address: SocketAddr,
    socket: Option<PathBuf>,
    password: Option<String>,
}

impl ServerOptions {
    /// A free port of 127.0.0.1, TLS with a self-signed certificate for clients that ask for it, and a generated password of root.
    pub fn new() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            socket: None,
            password: None,
        }
    }

    /// The address to listen on; port 0 is any free one.
    #[must_use]
    pub fn address(mut self, host: IpAddr, port: u16) -> Self {
        self.address = SocketAddr::new(host, port);
        self
    }

    /// A Unix socket to listen on too.
    #[must_use]
    pub fn socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.socket = Some(path.into());
        self
    }

    /// The password that `root@localhost` gets if the database has no account yet. The empty password is refused unless the
    /// address is a loopback address.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A running server. Dropping it ends its connections at once; [`Server::stop`] waits for them.
#[derive(Debug)]
pub struct Server {
    server: mayfly_wire::Server,
    address: SocketAddr,
    socket: Option<PathBuf>,
    password: Option<String>,
}

impl Server {
    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server's Unix socket.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// The password of `root@localhost`; `None` where the database had accounts before.
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Number of connections of clients.
    pub fn connections(&self) -> usize {
        self.server.connections()
    }

    /// Stops the server: it accepts no more connections, and ends running statements 0.1 seconds later, also those of the
    /// program's own connections.
    pub fn stop(mut self) {
        self.server.stop(PATIENCE);
    }
}

impl Database {
    /// Starts a server, to which clients and drivers of MySQL connect. The account `root@localhost` is made if the database
    /// has no account.
    ///
    /// # Errors
    /// When the address or the socket cannot be listened on, or the password is empty and the address not a loopback address.
    pub fn serve(&self, options: ServerOptions) -> Result<Server> {
        let ServerOptions {
            address,
            socket,
            password,
        } = options;
        if password.as_deref() == Some("") && !address.ip().is_loopback() {
            let why =
                format!("an empty password is for loopback addresses only, not for {address}");
            return Err(codes::ER_UNKNOWN_ERROR.with(&[&why]));
        }
        let given = password.as_deref();
        let given = given.map_or(RootPassword::Generated, RootPassword::Given);
        let root = self.engine().set_up_root(given)?;
        let password = root.and_then(|root| root.generated.or(password));
        let options = mayfly_wire::ServerOptions {
            addresses: vec![address],
            socket,
            ..mayfly_wire::ServerOptions::default()
        };
        let server = mayfly_wire::Server::start(Arc::clone(self.engine()), &options)
            .map_err(|why| codes::ER_UNKNOWN_ERROR.with(&[&why]))?;
        Ok(Server {
            address: server.addresses().first().copied().unwrap_or(address),
            server,
            socket: options.socket,
            password,
        })
    }
}
