//! The few packets of the MySQL client protocol that asking another server needs.
//!
//! Text queries over a Unix socket, for a user without a password. It is written here, and not
//! taken from the `wire` crate, so that the oracle shares no code with what it judges. See the
//! MySQL source documentation, "Client/Server Protocol".

use std::io::{Error as IoError, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// An error that the server sent, or a failure to reach it (errno 2013).
#[derive(Debug, Clone)]
pub struct ServerError {
    /// MySQL error number.
    pub errno: u16,
    /// Five-character SQLSTATE.
    pub sqlstate: String,
    /// Message without number and state.
    pub message: String,
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ERROR {} ({}): {}",
            self.errno, self.sqlstate, self.message
        )
    }
}

impl std::error::Error for ServerError {}

impl From<IoError> for ServerError {
    fn from(error: IoError) -> Self {
        Self {
            errno: 2013,
            sqlstate: "HY000".into(),
            message: error.to_string(),
        }
    }
}

/// A result column as the server describes it.
#[derive(Debug, Clone)]
pub struct Column {
    /// Name shown to the user.
    pub name: String,
    /// `enum_field_types` of the protocol.
    pub type_code: u8,
}

/// A row: one value a column, in the server's text form.
pub type Row = Vec<Option<Vec<u8>>>;

/// What a statement gave.
#[derive(Debug)]
pub enum Answer {
    /// A result set.
    Rows {
        /// Its columns.
        columns: Vec<Column>,
        /// Its rows.
        rows: Vec<Row>,
    },
    /// No result set; the number of affected rows.
    Done(u64),
}

mod capability {
    pub(super) const LONG_PASSWORD: u32 = 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const LOCAL_FILES: u32 = 1 << 7;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
}

/// utf8mb4_general_ci: known to every server of the family.
const HANDSHAKE_COLLATION: u8 = 45;
const COM_QUERY: u8 = 3;

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    sequence: u8,
    /// The version text of the server's greeting.
    pub version: String,
}

impl Client {
    /// Connects as `user` without a password.
    ///
    /// # Errors
    /// When the socket cannot be reached or the server refuses the user.
    pub fn connect(socket: &Path, user: &str) -> Result<Self, ServerError> {
        let stream = UnixStream::connect(socket)?;
        let mut client = Self {
            stream,
            sequence: 0,
            version: String::new(),
        };
        let greeting = client.read_packet()?;
        if greeting.first() == Some(&0xff) {
            return Err(parse_error(&greeting));
        }
        let version: Vec<u8> = greeting
            .iter()
            .skip(1)
            .copied()
            .take_while(|b| *b != 0)
            .collect();
        client.version = String::from_utf8_lossy(&version).into_owned();

        let flags = capability::LONG_PASSWORD
            | capability::LONG_FLAG
            | capability::LOCAL_FILES
            | capability::PROTOCOL_41
            | capability::TRANSACTIONS
            | capability::SECURE_CONNECTION
            | capability::PLUGIN_AUTH;
        let mut reply = Vec::new();
        reply.extend_from_slice(&flags.to_le_bytes());
        reply.extend_from_slice(&(1u32 << 30).to_le_bytes());
        reply.push(HANDSHAKE_COLLATION);
        reply.extend_from_slice(&[0; 23]);
        reply.extend_from_slice(user.as_bytes());
        reply.push(0);
        reply.push(0);
        reply.extend_from_slice(b"caching_sha2_password\0");
        client.write_packet(&reply)?;
        loop {
            let packet = client.read_packet()?;
            match packet.first() {
                Some(0x00) => return Ok(client),
                // An empty answer is the empty password in every plugin we may be sent to.
                Some(0xfe) => client.write_packet(&[])?,
                Some(0x01) => {}
                _ => return Err(parse_error(&packet)),
            }
        }
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// The server's error packet, or a lost connection.
    pub fn query(&mut self, sql: &str) -> Result<Answer, ServerError> {
        self.sequence = 0;
        let mut command = vec![COM_QUERY];
        command.extend_from_slice(sql.as_bytes());
        self.write_packet(&command)?;
        let mut head = self.read_packet()?;
        if head.first() == Some(&0xfb) {
            let path = String::from_utf8_lossy(&head[1..]).into_owned();
            match std::fs::read(&path) {
                Ok(bytes) => {
                    for chunk in bytes.chunks(1 << 20) {
                        self.write_packet(chunk)?;
                    }
                    self.write_packet(&[])?;
                    head = self.read_packet()?;
                }
                Err(error) => {
                    self.write_packet(&[])?;
                    self.read_packet()?;
                    let message = format!("File '{path}' not found ({error})");
                    return Err(ServerError {
                        errno: 2,
                        sqlstate: "HY000".into(),
                        message,
                    });
                }
            }
        }
        match head.first() {
            Some(0xff) => Err(parse_error(&head)),
            Some(0x00) => {
                let mut rest = Reader(&head[1..]);
                Ok(Answer::Done(rest.length().unwrap_or(0)))
            }
            Some(_) => self.read_rows(&head),
            None => Err(protocol("empty packet")),
        }
    }

    fn read_rows(&mut self, head: &[u8]) -> Result<Answer, ServerError> {
        let n_columns = Reader(head)
            .length()
            .ok_or_else(|| protocol("column count"))?;
        let mut columns = Vec::new();
        for _ in 0..n_columns {
            let packet = self.read_packet()?;
            let mut reader = Reader(&packet);
            for _ in 0..4 {
                reader.text();
            }
            let name = reader
                .text()
                .flatten()
                .ok_or_else(|| protocol("column name"))?;
            reader.text();
            // Length of what follows (1), character set (2), display length (4).
            let type_code = *reader.0.get(7).ok_or_else(|| protocol("column type"))?;
            columns.push(Column {
                name: String::from_utf8_lossy(name).into_owned(),
                type_code,
            });
        }
        self.read_packet()?;
        let mut rows = Vec::new();
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0xfe) if packet.len() < 9 => return Ok(Answer::Rows { columns, rows }),
                Some(0xff) => return Err(parse_error(&packet)),
                _ => {}
            }
            let mut reader = Reader(&packet);
            let mut row = Vec::with_capacity(columns.len());
            for _ in &columns {
                let value = reader.text().ok_or_else(|| protocol("row value"))?;
                row.push(value.map(<[u8]>::to_vec));
            }
            rows.push(row);
        }
    }

    fn read_packet(&mut self) -> Result<Vec<u8>, ServerError> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header)?;
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            self.sequence = header[3].wrapping_add(1);
            let start = payload.len();
            payload.resize(start + length as usize, 0);
            self.stream.read_exact(&mut payload[start..])?;
            if length < 0xff_ffff {
                return Ok(payload);
            }
        }
    }

    fn write_packet(&mut self, payload: &[u8]) -> Result<(), ServerError> {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        if length >= 0xff_ffff {
            return Err(IoError::new(ErrorKind::InvalidInput, "statement over 16 MiB").into());
        }
        let bytes = length.to_le_bytes();
        let mut packet = vec![bytes[0], bytes[1], bytes[2], self.sequence];
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&packet)?;
        Ok(())
    }
}

fn protocol(what: &str) -> ServerError {
    IoError::new(ErrorKind::InvalidData, format!("malformed packet: {what}")).into()
}

fn parse_error(packet: &[u8]) -> ServerError {
    let errno = match packet {
        [0xff, low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => return protocol("error packet"),
    };
    let rest = packet.get(3..).unwrap_or_default();
    let (sqlstate, message) = match rest {
        [b'#', state @ ..] if state.len() >= 5 => state.split_at(5),
        _ => (&b"HY000"[..], rest),
    };
    ServerError {
        errno,
        sqlstate: String::from_utf8_lossy(sqlstate).into_owned(),
        message: String::from_utf8_lossy(message).into_owned(),
    }
}

/// Reads length-encoded integers and strings.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    fn length(&mut self) -> Option<u64> {
        let width = match self.take(1)?[0] {
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            small => return Some(u64::from(small)),
        };
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(self.take(width)?);
        Some(u64::from_le_bytes(bytes))
    }

    /// The inner `None` is NULL.
    fn text(&mut self) -> Option<Option<&'a [u8]>> {
        if self.0.first() == Some(&0xfb) {
            self.take(1)?;
            return Some(None);
        }
        let length = usize::try_from(self.length()?).ok()?;
        self.take(length).map(Some)
    }
}
