//! A client that sends arbitrary bytes, and a server for it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Database, DatabaseOptions, Defaults, RootPassword};
use mayfly_testkit::fixture;
use mayfly_wire::{Server, ServerOptions, TlsOptions};

/// Generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const PROTOCOL_41: u32 = 1 << 9;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;

/// The capabilities of the tests' own client.
const CAPABILITIES: u32 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH;

/// A server that ends with its test.
pub(crate) struct Host {
    pub(crate) database: Arc<Database>,
    pub(crate) server: Server,
}

impl Host {
    /// A server with the default variables.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// A server on a free port, with a root account without a password, and with given variables.
    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        let mut options = DatabaseOptions::new();
        options.defaults = Defaults::MySql;
        options.threads = 2;
        options.variables = fixture::variables(variables);
        let database = Database::open(options).expect("opens");
        let root = RootPassword::Empty;
        database.set_up_root(root).expect("makes an account");
        let options = ServerOptions {
            addresses: vec!["127.0.0.1:0".parse().expect("an address")],
            tls: TlsOptions::Off,
            ..ServerOptions::default()
        };
        let server = Server::start(Arc::clone(&database), &options).expect("listens");
        Self { database, server }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    /// A client that has sent nothing yet.
    pub(crate) fn connect(&self) -> Raw {
        Raw::connect(self.address())
    }

    /// A client that was greeted.
    pub(crate) fn greeted(&self) -> Raw {
        let mut client = self.connect();
        client.read().expect("a greeting");
        client
    }

    /// A client that has logged in, without a password.
    pub(crate) fn log_in(&self, user: &str) -> Raw {
        let mut client = self.greeted();
        client.packet(&Raw::response(user));
        assert_eq!(client.errno(), Some(0), "{user} comes in");
        client
    }

    /// A client that is root.
    pub(crate) fn root(&self) -> Raw {
        self.log_in("root")
    }

    /// Waits until `count` connections are left.
    pub(crate) fn wait_for_connections(&self, count: usize) {
        let begun = std::time::Instant::now();
        while self.server.connections() != count {
            assert!(
                begun.elapsed() < PATIENCE,
                "{} connections, not {count}",
                self.server.connections()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A client that sends arbitrary bytes.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    pub(crate) sequence: u8,
}

impl Raw {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a server");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Self {
            stream,
            sequence: 0,
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // The server may have closed the connection already, which the answer shows.
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a payload as a packet.
    pub(crate) fn packet(&mut self, payload: &[u8]) {
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes[3] = self.sequence;
        bytes.extend_from_slice(payload);
        self.send(&bytes);
    }

    /// The next payload; `None` when the server has closed the connection.
    pub(crate) fn read(&mut self) -> Option<Vec<u8>> {
        let mut header = [0; 4];
        match self.stream.read_exact(&mut header) {
            Ok(()) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
                ) =>
            {
                return None;
            }
            Err(error) => panic!("no answer: {error}"),
        }
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        self.sequence = header[3].wrapping_add(1);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).ok()?;
        Some(payload)
    }

    /// The number of the error that comes, or 0 for any other packet; `None` at the end.
    pub(crate) fn errno(&mut self) -> Option<u16> {
        self.read().map(|payload| errno(&[payload]))
    }

    /// The response to the greeting.
    pub(crate) fn response(user: &str) -> Vec<u8> {
        Self::response_with(user, b"", "caching_sha2_password")
    }

    /// The response to the greeting with the proof of a plugin.
    pub(crate) fn response_with(user: &str, proof: &[u8], plugin: &str) -> Vec<u8> {
        let mut payload = CAPABILITIES.to_le_bytes().to_vec();
        payload.extend_from_slice(&(1_u32 << 24).to_le_bytes());
        payload.push(255);
        payload.extend_from_slice(&[0; 23]);
        payload.extend_from_slice(user.as_bytes());
        payload.extend_from_slice(&[0, proof.len() as u8]);
        payload.extend_from_slice(proof);
        payload.extend_from_slice(plugin.as_bytes());
        payload.push(0);
        payload
    }

    /// Sends a command with its content.
    pub(crate) fn command(&mut self, code: u8, content: &[u8]) {
        self.sequence = 0;
        self.packet(&[&[code], content].concat());
    }

    /// Runs a statement; returns the payloads of its answer.
    pub(crate) fn query(&mut self, sql: &str) -> Vec<Vec<u8>> {
        self.command(3, sql.as_bytes());
        let first = self.read().expect("an answer");
        let is_end = matches!(first.first(), Some(0 | 0xFF));
        let mut payloads = vec![first];
        let mut ends = if is_end { 2 } else { 0 };
        while ends < 2 {
            let payload = self.read().expect("an answer");
            let is_error = payload.first() == Some(&0xFF);
            ends += usize::from(payload.first() == Some(&0xFE) && payload.len() < 9);
            payloads.push(payload);
            if is_error {
                break;
            }
        }
        payloads
    }

    /// Whether a statement still gets its answer.
    pub(crate) fn works(&mut self) -> bool {
        let answer = self.query("SELECT 6 * 7");
        answer.iter().any(|payload| payload == b"\x0242")
    }
}

/// The number of the error that an answer ends with, or 0.
pub(crate) fn errno(answer: &[Vec<u8>]) -> u16 {
    match answer.last().map(Vec::as_slice) {
        Some([0xFF, low, high, ..]) => u16::from_le_bytes([*low, *high]),
        _ => 0,
    }
}
