//! The connection to a server: a socket each of whose reads and writes ends by a deadline, with TLS or without.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustls::{ClientConnection, StreamOwned};

use super::address::{Address, host};
use super::error::Error;

/// Time in which one of a host's addresses must answer.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const PORT: u16 = 3306;

/// The connection to a server.
#[derive(Debug)]
pub(super) enum Channel {
    /// Unencrypted.
    Plain(BufReader<Socket>),
    /// Encrypted; the server's certificate was verified.
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
    /// Closed.
    Closed,
}

impl Channel {
    /// Connects to a server within a time.
    pub(super) fn connect(address: &Address, time: Duration) -> Result<Self, Error> {
        let stream = match &address.socket {
            Some(path) => UnixStream::connect(path).map(Stream::Unix),
            None => connect_tcp(host(address), address.port.unwrap_or(PORT), time).map(Stream::Tcp),
        };
        let stream = stream.map_err(|error| Error::Unreachable(error.to_string()))?;
        let socket = Socket {
            stream,
            deadline: None,
        };
        Ok(Self::Plain(BufReader::new(socket)))
    }

    /// No channel.
    pub(super) fn closed() -> Self {
        Self::Closed
    }

    /// Whether nobody in between can read: a Unix socket, or TLS.
    pub(super) fn is_private(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.get_ref().is_unix(),
            Self::Tls(_) => true,
            Self::Closed => false,
        }
    }

    /// Whether it is a Unix socket.
    pub(super) fn is_unix(&self) -> bool {
        matches!(self, Self::Plain(socket) if socket.get_ref().is_unix())
    }

    /// The TLS version and cipher suite; `None` without TLS.
    pub(super) fn encryption(&self) -> Option<String> {
        let Self::Tls(stream) = self else {
            return None;
        };
        let version = stream.conn.protocol_version()?.as_str()?.replace('_', ".");
        let suite = stream.conn.negotiated_cipher_suite()?.suite();
        Some(format!("{version}, {}", suite.as_str()?))
    }

    fn socket(&self) -> Option<&Socket> {
        match self {
            Self::Plain(socket) => Some(socket.get_ref()),
            Self::Tls(stream) => Some(&stream.sock),
            Self::Closed => None,
        }
    }

    /// Whether a server that is not asked anything has sent something, or has closed the connection.
    pub(super) fn is_ended(&self) -> bool {
        self.socket().is_none_or(|socket| {
            let mut polled = [PollFd::new(&socket.stream, PollFlags::IN)];
            let no_time = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            !matches!(poll(&mut polled, Some(&no_time)), Ok(0) | Err(Errno::INTR))
        })
    }

    /// A handle that closes the socket from another thread.
    pub(super) fn closer(&self) -> io::Result<Closer> {
        let socket = self.socket().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Closer(match &socket.stream {
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
        }))
    }

    /// Sets the time at which reads and writes end.
    pub(super) fn set_deadline(&mut self, deadline: Option<Instant>) {
        match self {
            Self::Plain(socket) => socket.get_mut().deadline = deadline,
            Self::Tls(stream) => stream.sock.deadline = deadline,
            Self::Closed => {}
        }
    }
}

fn connect_tcp(host: &str, port: u16, time: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::other("the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, time.min(CONNECT_TIME)) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
            Self::Closed => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.get_mut().write(bytes),
            Self::Tls(stream) => stream.write(bytes),
            Self::Closed => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.get_mut().flush(),
            Self::Tls(stream) => stream.flush(),
            Self::Closed => Ok(()),
        }
    }
}

/// Handle that ends a connection from another thread, whatever it waits for.
#[derive(Debug)]
pub struct Closer(Stream);

impl Closer {
    /// Ends the connection.
    pub fn close(&self) {
        // A connection that has ended already is what is wanted.
        let _ = match &self.0 {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// A socket with a deadline.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Stream,
    deadline: Option<Instant>,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Socket {
    fn is_unix(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    /// The time that is left; `None` without a deadline.
    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(deadline) = self.deadline else {
            return Ok(None);
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.stream {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(left)?;
                stream.read(buffer)
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(left)?;
                stream.read(buffer)
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.stream {
            Stream::Tcp(stream) => {
                stream.set_write_timeout(left)?;
                stream.write(bytes)
            }
            Stream::Unix(stream) => {
                stream.set_write_timeout(left)?;
                stream.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
