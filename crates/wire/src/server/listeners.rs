//! The listening sockets of the server.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mio::net::{TcpListener, UnixListener};
use mio::{Interest, Registry, Token};

use crate::stream::Socket;

/// The host of a client that connected through the Unix socket or the loopback interface.
const LOCALHOST: &str = "localhost";

/// Every user of the system may connect; the login decides the rest.
const SOCKET_MODE: u32 = 0o777;

/// An accepted socket with the client's address.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) socket: Socket,
    /// An address without its port, or `localhost`.
    pub(super) host: String,
    /// The port behind the address.
    pub(super) port: Option<u16>,
    /// Whether it was accepted from the Unix socket, where nobody can listen.
    pub(super) is_private: bool,
}

/// The listening sockets.
#[derive(Debug)]
pub(super) struct Listeners {
    addresses: Vec<SocketAddr>,
    listeners: Vec<Listener>,
}

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listeners {
    pub(super) fn open(addresses: &[SocketAddr], path: Option<&Path>) -> Result<Self, String> {
        let mut open = Self {
            addresses: Vec::new(),
            listeners: Vec::new(),
        };
        for address in addresses {
            let failed = |error: io::Error| format!("cannot listen on {address}: {error}");
            let listener = TcpListener::bind(*address).map_err(failed)?;
            open.addresses.push(listener.local_addr().map_err(failed)?);
            open.listeners.push(Listener::Tcp(listener));
        }
        if let Some(path) = path {
            let listener = unix_listener(path)
                .map_err(|error| format!("cannot listen on {}: {error}", path.display()))?;
            open.listeners
                .push(Listener::Unix(listener, path.to_owned()));
        }
        Ok(open)
    }

    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Number of listeners: their tokens are the numbers from 0.
    pub(super) fn len(&self) -> usize {
        self.listeners.len()
    }

    pub(super) fn register(&mut self, registry: &Registry) -> io::Result<()> {
        for (number, listener) in self.listeners.iter_mut().enumerate() {
            let token = Token(number);
            match listener {
                Listener::Tcp(listener) => {
                    registry.register(listener, token, Interest::READABLE)?
                }
                Listener::Unix(listener, _) => {
                    registry.register(listener, token, Interest::READABLE)?;
                }
            }
        }
        Ok(())
    }

    /// The next connection of a listener; `None` when none is waiting.
    pub(super) fn accept(&self, number: usize) -> io::Result<Option<Accepted>> {
        let accepted = match self.listeners.get(number) {
            Some(Listener::Tcp(listener)) => listener.accept().and_then(|(stream, address)| {
                let socket = socket2::Socket::from(std::net::TcpStream::from(stream));
                socket.set_nonblocking(false)?;
                socket.set_tcp_nodelay(true)?;
                // Detects eventually that a client's machine is gone.
                socket.set_keepalive(true)?;
                Ok(Accepted {
                    socket: Socket::new(socket),
                    host: host(address.ip()),
                    port: Some(address.port()),
                    is_private: false,
                })
            }),
            Some(Listener::Unix(listener, _)) => listener.accept().and_then(|(stream, _)| {
                let stream = std::os::unix::net::UnixStream::from(stream);
                stream.set_nonblocking(false)?;
                Ok(Accepted {
                    socket: Socket::new(OwnedFd::from(stream).into()),
                    host: LOCALHOST.to_owned(),
                    port: None,
                    is_private: true,
                })
            }),
            None => return Ok(None),
        };
        match accepted {
            Ok(accepted) => Ok(Some(accepted)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        for listener in &self.listeners {
            if let Listener::Unix(_, path) = listener {
                // The file may have been removed already.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// The name of a client's host. Names are not looked up; the loopback addresses are `localhost`.
fn host(address: IpAddr) -> String {
    let address = address.to_canonical();
    if address.is_loopback() {
        return LOCALHOST.to_owned();
    }
    address.to_string()
}

/// Listens on a path. The socket of a dead server is replaced, the one of a living server is not.
fn unix_listener(path: &Path) -> io::Result<UnixListener> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        bound => bound?,
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(SOCKET_MODE))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_servers_socket_is_replaced_and_a_living_ones_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("mayfly.sock");
        let first = Listeners::open(&[], Some(&path)).expect("free");
        assert!(Listeners::open(&[], Some(&path)).is_err());
        drop(first);
        assert!(!path.exists());
        // Left by a process that ended without removing it.
        drop(std::os::unix::net::UnixListener::bind(&path).expect("free"));
        assert!(path.exists());
        Listeners::open(&[], Some(&path)).expect("replaced");
    }

    #[test]
    fn loopback_is_localhost() {
        let name = |text: &str| host(text.parse().expect("an address"));
        assert_eq!(name("127.0.0.1"), "localhost");
        assert_eq!(name("::1"), "localhost");
        assert_eq!(name("::ffff:127.0.0.1"), "localhost");
        assert_eq!(name("192.0.2.7"), "192.0.2.7");
    }
}
