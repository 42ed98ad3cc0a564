//! A client's stream of bytes: TCP or a Unix socket, plain or in TLS.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::Encryption;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::certificate;

/// A connected socket. Clones refer to the same socket.
#[derive(Debug, Clone)]
pub(crate) struct Socket(Arc<socket2::Socket>);

impl Socket {
    pub(crate) fn new(socket: socket2::Socket) -> Self {
        Self(Arc::new(socket))
    }

    /// Sets the times after which reads and writes end with `WouldBlock`.
    pub(crate) fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()> {
        self.0.set_read_timeout(Some(read))?;
        self.0.set_write_timeout(Some(write))
    }

    /// Ends reads and writes: a thread that waits for one gets the end of the stream.
    pub(crate) fn close(&self) {
        // A socket that is closed already gives an error.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    /// Ends reads: a thread that waits for one gets the end of the stream.
    pub(crate) fn stop_reading(&self) {
        // A socket that is closed already gives an error.
        let _ = self.0.shutdown(Shutdown::Read);
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(bytes)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Length of a read from an unauthenticated client below which the next read is delayed: a login byte by byte must not
/// cost a system call for each.
pub(crate) const PIECE_MIN: usize = 64;

/// The delay of that read.
pub(crate) const PACE: Duration = Duration::from_millis(2);

/// A socket during a TLS handshake.
struct Paced<'s>(&'s mut Socket);

impl Read for Paced<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes)?;
        if (1..PIECE_MIN).contains(&read) {
            std::thread::sleep(PACE);
        }
        Ok(read)
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The stream over a socket.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(Socket),
    Tls(Box<StreamOwned<ServerConnection, Socket>>),
}

impl Stream {
    /// Switches the stream to TLS. `begun`: bytes of the client that were read already.
    pub(crate) fn start_tls(
        self,
        configuration: Arc<ServerConfig>,
        begun: &[u8],
    ) -> io::Result<Self> {
        let Self::Plain(mut socket) = self else {
            return Ok(self);
        };
        let mut tls = ServerConnection::new(configuration).map_err(io::Error::other)?;
        let mut begun = begun;
        while !begun.is_empty() {
            tls.read_tls(&mut begun)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
        let mut paced = Paced(&mut socket);
        while tls.is_handshaking() {
            tls.complete_io(&mut paced)?;
        }
        Ok(Self::Tls(Box::new(StreamOwned::new(tls, socket))))
    }

    /// The socket below.
    pub(crate) fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &tls.sock,
        }
    }

    /// How the stream is encrypted; `None` without TLS.
    pub(crate) fn encryption(&self) -> Option<Encryption> {
        let Self::Tls(tls) = self else {
            return None;
        };
        let version = match tls.conn.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let suite = tls.conn.negotiated_cipher_suite();
        let name = suite.and_then(|suite| suite.suite().as_str()).unwrap_or("");
        // The verifier has accepted valid certificates only.
        let certificate = tls.conn.peer_certificates();
        let certificate = certificate.and_then(<[_]>::first);
        Some(Encryption {
            version: version.to_owned(),
            cipher: openssl_cipher(name),
            certificate: certificate.and_then(|certificate| certificate::names(certificate)),
        })
    }

    /// Whether bytes of the client are buffered here, which the socket no longer reports.
    pub(crate) fn has_read_ahead(&mut self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => {
                let waiting = tls.conn.process_new_packets();
                waiting.is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
            }
        }
    }
}

/// OpenSSL's name of a cipher suite, from its standard name.
fn openssl_cipher(name: &str) -> String {
    match name.split_once("_WITH_") {
        None => name.replacen("TLS13_", "TLS_", 1),
        Some((exchange, cipher)) => {
            let exchange = exchange.replacen("TLS_", "", 1).replace('_', "-");
            let cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305");
            let cipher = cipher.replace("AES_", "AES").replace('_', "-");
            format!("{exchange}-{cipher}")
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(bytes),
            Self::Tls(tls) => tls.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::openssl_cipher;

    #[test]
    fn cipher_suites_have_the_names_of_openssl() {
        for (standard, name) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            (
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                "ECDHE-RSA-AES128-GCM-SHA256",
            ),
            (
                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                "ECDHE-ECDSA-CHACHA20-POLY1305",
            ),
        ] {
            assert_eq!(openssl_cipher(standard), name);
        }
    }
}
