//! A client of MySQL's protocol for servers that are not trusted.
//!
//! [`Client::connect`] logs in, [`Client::run`] runs a text and passes its results to a [`Receiver`]. Invariants:
//! whatever a server sends ends in rows or in an error. It cannot make the client panic, keep more bytes than
//! [`Limits`] say, or wait longer. The password itself, as opposed to a proof of it, goes only through a Unix socket,
//! through TLS with a verified certificate, or encrypted with a key that the user has named. A file of this machine is
//! sent only where the text of the statement names it.

mod address;
mod channel;
mod column;
mod error;
mod local_file;
mod login;
mod packets;
mod reader;
mod receiver;
mod tls;
mod trust;

use std::io::Read as _;
use std::time::Duration;

use self::channel::Channel;
use self::login::ServerKey;
use self::packets::Packets;
use self::reader::Reader;
use self::receiver::{Keep, Pass};

pub use self::address::Address;
pub use self::channel::Closer;
pub use self::column::{Column, Row};
pub use self::error::Error;
pub use self::login::Server;
pub use self::receiver::{Receiver, ResultEnd, Rows};
pub use self::trust::{Roots, Tls};

/// Limits of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Greatest time of the login.
    pub login: Duration,
    /// Greatest time from the first byte of a statement to the last byte of its result.
    pub time: Duration,
    /// Greatest number of rows kept of a statement.
    pub rows: usize,
    /// Greatest number of bytes kept of a statement's result, and of a row.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            login: LOGIN_TIME,
            time: Duration::from_secs(60),
            rows: 1_000_000,
            bytes: 256 << 20,
        }
    }
}

/// Greatest time of a login, and greatest size of its packets.
const LOGIN_TIME: Duration = Duration::from_secs(30);
const LOGIN_BYTES: usize = 1 << 20;
/// Greatest number of columns of a result of a server of MySQL's family.
const COLUMNS_MAX: u64 = 4096;
/// Greatest size of the packets of a result other than its rows.
const DEFINITION_BYTES: usize = 1 << 14;
/// Bytes of a file that are sent in one packet.
const FILE_PIECE: usize = 1 << 16;
const COM_QUERY: u8 = 0x03;
const COM_QUIT: u8 = 0x01;
/// SERVER_MORE_RESULTS_EXISTS
const MORE_RESULTS: u16 = 8;

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    packets: Packets,
    limits: Limits,
    server: Server,
    local_files: bool,
    /// The reason why the connection cannot be used any more: after a protocol error, bytes of the server have no
    /// meaning.
    broken: Option<String>,
}

impl Client {
    /// Connects to a server and logs in.
    ///
    /// # Errors
    /// The server cannot be reached, cannot be trusted or refuses the account.
    pub fn connect(address: &Address, limits: Limits) -> Result<Self, Error> {
        let key = address.server_key.as_deref().map(ServerKey::read);
        let key = key.transpose()?;
        let mut packets = Packets::new(Channel::connect(address, limits.login)?);
        packets.set_limits(limits.login.min(limits.time), LOGIN_BYTES);
        let server = login::log_in(&mut packets, address, key.as_ref())?;
        Ok(Self {
            packets,
            limits,
            server,
            local_files: address.local_files,
            broken: None,
        })
    }

    /// What the server says of itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The TLS version and cipher suite; `None` without TLS.
    pub fn encryption(&self) -> Option<String> {
        self.packets.channel().encryption()
    }

    /// Whether the connection has ended: by an error, or because the server has closed it while it was idle.
    pub fn is_ended(&self) -> bool {
        self.broken.is_some() || self.packets.channel().is_ended()
    }

    /// A handle that ends the connection from another thread.
    ///
    /// # Errors
    /// The connection is closed, or the process has too many files open.
    pub fn closer(&self) -> std::io::Result<Closer> {
        self.packets.channel().closer()
    }

    /// Runs a statement and keeps its rows.
    ///
    /// # Errors
    /// Those of [`Self::run`]; and more rows or bytes than are kept.
    pub fn query(&mut self, sql: &str) -> Result<Rows, Error> {
        let mut keep = Keep {
            rows: Rows::default(),
            rows_max: self.limits.rows,
            bytes_max: self.limits.bytes,
            bytes: 0,
        };
        self.run(sql.as_bytes(), &mut keep)?;
        Ok(keep.rows)
    }

    /// Runs a statement and passes on its rows, which are not kept; only the limit of time applies.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn for_each_row(
        &mut self,
        sql: &str,
        take: impl FnMut(&[Option<String>]),
    ) -> Result<(), Error> {
        self.run(sql.as_bytes(), &mut Pass(take))
    }

    /// Runs a text and passes on its results.
    ///
    /// # Errors
    /// The server's error, that of the file of LOAD DATA LOCAL, or that of a lost connection.
    pub fn run(&mut self, text: &[u8], receiver: &mut dyn Receiver) -> Result<(), Error> {
        if let Some(broken) = &self.broken {
            return Err(Error::Connection(broken.clone()));
        }
        self.packets.set_limits(self.limits.time, DEFINITION_BYTES);
        let done = self.exchange(text, receiver);
        if let Err(error) = &done
            && error.is_lost()
        {
            self.broken = Some(error.message().to_owned());
            self.packets.close();
        }
        done
    }

    fn exchange(&mut self, text: &[u8], receiver: &mut dyn Receiver) -> Result<(), Error> {
        let mut command = Vec::with_capacity(text.len() + 1);
        command.push(COM_QUERY);
        command.extend_from_slice(text);
        self.packets.begin();
        self.packets.write(&command)?;
        drop(command);
        let mut file = None;
        loop {
            self.packets.set_packet_max(DEFINITION_BYTES);
            let first = self.packets.read()?;
            let status = match first.first() {
                Some(0x00) => {
                    let (end, status) = ok(&first)?;
                    receiver.end(&end)?;
                    status
                }
                Some(0xff) => return Err(reader::server_error(&first)),
                Some(0xfb) => {
                    let asked = first.get(1..).unwrap_or_default();
                    // A text loads one file.
                    let asked = if file.is_none() { asked } else { &[] };
                    file = Some(self.send_file(text, asked, receiver)?);
                    continue;
                }
                _ => self.result_set(Reader::new(&first).length()?, receiver)?,
            };
            if status & MORE_RESULTS == 0 {
                break;
            }
        }
        file.flatten()
            .map_or(Ok(()), |error| Err(Error::File(error)))
    }

    /// Reads a result with rows; returns the server's status at its end.
    fn result_set(&mut self, columns: u64, receiver: &mut dyn Receiver) -> Result<u16, Error> {
        if columns == 0 || columns > COLUMNS_MAX {
            let announced =
                format!("the server announces {columns} columns: a result has 1 to {COLUMNS_MAX}");
            return Err(announced.into());
        }
        let columns = columns as usize;
        let mut definitions = Vec::new();
        for _ in 0..columns {
            definitions.push(Column::read(&self.packets.read()?)?);
        }
        self.packets.read()?;
        receiver.columns(definitions)?;
        self.packets.set_packet_max(self.limits.bytes);
        loop {
            let packet = self.packets.read()?;
            match packet.first() {
                Some(0xff) => return Err(reader::server_error(&packet)),
                Some(0xfe) if packet.len() < 9 => {
                    let mut reader = Reader::new(&packet[1..]);
                    let warnings = reader.integer(2)? as u16;
                    let status = reader.integer(2)? as u16;
                    receiver.end(&ResultEnd {
                        has_rows: true,
                        warnings,
                        is_last: status & MORE_RESULTS == 0,
                        ..ResultEnd::default()
                    })?;
                    return Ok(status);
                }
                _ => receiver.row(&Row::new(&packet, columns))?,
            }
        }
    }

    /// Sends the file that the server asks for, if the statement names it; returns the error of a file that cannot be read,
    /// which the server does not learn.
    fn send_file(
        &mut self,
        text: &[u8],
        asked: &[u8],
        receiver: &mut dyn Receiver,
    ) -> Result<Option<String>, Error> {
        let named = local_file::named(text).filter(|_| self.local_files);
        let named = named.filter(|named| named == asked);
        let named = named.and_then(|named| String::from_utf8(named).ok());
        let Some(path) = named else {
            return Err(
                "the server asks for a file of this machine that the statement does not name, which it does not get"
                    .to_owned()
                    .into(),
            );
        };
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let mut error = None;
        match receiver.open(&path) {
            Err(reason) => error = Some(failed(reason)),
            Ok(mut file) => loop {
                let mut piece = Vec::with_capacity(FILE_PIECE);
                if let Err(reason) = file
                    .by_ref()
                    .take(FILE_PIECE as u64)
                    .read_to_end(&mut piece)
                {
                    error = Some(failed(reason));
                    break;
                }
                if piece.is_empty() {
                    break;
                }
                self.packets.write(&piece)?;
            },
        }
        self.packets.write(&[])?;
        Ok(error)
    }
}

/// The end of a result without rows, and the server's status.
fn ok(packet: &[u8]) -> Result<(ResultEnd, u16), String> {
    let mut reader = Reader::new(packet.get(1..).unwrap_or_default());
    let affected_rows = reader.length()?;
    let insert_id = reader.length()?;
    let status = reader.integer(2)? as u16;
    let warnings = reader.integer(2)? as u16;
    let info = if reader.is_at_end() {
        String::new()
    } else {
        // Some servers write it without its length.
        let text = reader.text().unwrap_or_default();
        mayfly_types::printable(&text).into_owned()
    };
    let end = ResultEnd {
        has_rows: false,
        affected_rows,
        insert_id,
        warnings,
        info,
        is_last: status & MORE_RESULTS == 0,
    };
    Ok((end, status))
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.broken.is_none() {
            self.packets.set_limits(Duration::from_secs(1), LOGIN_BYTES);
            self.packets.begin();
            let _ = self.packets.write(&[COM_QUIT]);
        }
    }
}
