//! A client of MySQL's protocol for servers that are not trusted.
//!
//! Invariants: whatever a server sends ends in rows or in an error. It cannot make the client panic, keep more bytes
//! than [`Limits`] say, or wait longer. The password itself, as opposed to a proof of it, goes only through a Unix
//! socket, through TLS with a verified certificate, or encrypted with a key that the user has named.

mod address;
mod channel;
mod login;
mod packets;
mod reader;
mod tls;
mod trust;

use std::time::Duration;

use self::channel::Channel;
use self::login::ServerKey;
use self::packets::Packets;
use self::reader::Reader;
use crate::connection::{Connection, Rows};

pub use self::address::Address;
pub use self::trust::{Roots, Tls};

/// Limits of one statement.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Greatest time from its first byte to the last byte of its result.
    pub time: Duration,
    /// Greatest number of rows kept.
    pub rows: usize,
    /// Greatest number of bytes of its result kept.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60),
            rows: 1_000_000,
            bytes: 256 << 20,
        }
    }
}

/// Greatest number of columns of a result of a server of MySQL's family.
const COLUMNS_MAX: u64 = 4096;
const COM_QUERY: u8 = 0x03;
const COM_QUIT: u8 = 0x01;

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    packets: Packets,
    limits: Limits,
    /// The reason why the connection cannot be used any more: after a protocol error, bytes of the server have no
    /// meaning.
    broken: Option<String>,
}

/// Callback that takes the packet of a row with a number of columns, and returns how many of its bytes are kept.
type TakeRow<'t> = dyn FnMut(&[u8], usize) -> Result<Option<usize>, String> + 't;

/// Failure of a statement.
enum Failure {
    /// An error of the server, which remains usable.
    Server(String),
    /// The connection is lost.
    Connection(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Connection(message)
    }
}

impl Client {
    /// Connects to a server and logs in.
    ///
    /// # Errors
    /// The server cannot be reached, cannot be trusted or refuses the account.
    pub fn connect(address: &Address, limits: Limits) -> Result<Self, String> {
        let key = address.server_key.as_deref().map(ServerKey::read);
        let key = key.transpose()?;
        let mut packets = Packets::new(Channel::connect(address)?);
        packets.set_limits(LOGIN_TIME.min(limits.time), LOGIN_BYTES);
        login::log_in(&mut packets, address, key.as_ref())?;
        Ok(Self {
            packets,
            limits,
            broken: None,
        })
    }

    /// Runs a statement and passes on its rows, which are not kept; only the limit of time applies.
    ///
    /// # Errors
    /// The server's message, or that of a lost connection.
    pub fn for_each_row(
        &mut self,
        sql: &str,
        mut take: impl FnMut(&[Option<String>]),
    ) -> Result<(), String> {
        self.run(sql, self.limits.bytes, |packet, columns| {
            take(&row(packet, columns)?);
            Ok(None)
        })
        .map(drop)
    }

    /// Runs a statement; `take` is called for each row with its packet and its number of columns, and returns how many
    /// of its bytes are kept. Returns the names of the columns.
    fn run(
        &mut self,
        sql: &str,
        packet_max: usize,
        mut take: impl FnMut(&[u8], usize) -> Result<Option<usize>, String>,
    ) -> Result<Vec<String>, String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        self.packets.set_limits(self.limits.time, packet_max);
        match self.exchange(sql, &mut take) {
            Ok(names) => Ok(names),
            Err(Failure::Server(message)) => Err(message),
            Err(Failure::Connection(message)) => {
                self.broken = Some(message.clone());
                self.packets.close();
                Err(message)
            }
        }
    }

    fn exchange(&mut self, sql: &str, take: &mut TakeRow<'_>) -> Result<Vec<String>, Failure> {
        let mut command = vec![COM_QUERY];
        command.extend_from_slice(sql.as_bytes());
        self.packets.begin();
        self.packets.write(&command)?;
        let first = self.packets.read()?;
        let columns = match first.first() {
            Some(0x00) => return Ok(Vec::new()),
            Some(0xff) => return Err(Failure::Server(reader::server_error(&first))),
            Some(0xfb) => {
                return Err(
                    "the server asks for a file of this machine, which it does not get"
                        .to_owned()
                        .into(),
                );
            }
            _ => Reader::new(&first).length()?,
        };
        if columns == 0 || columns > COLUMNS_MAX {
            return Err(format!(
                "the server announces {columns} columns: a result has 1 to {COLUMNS_MAX}"
            )
            .into());
        }
        let columns = columns as usize;
        let mut names = Vec::new();
        for _ in 0..columns {
            let definition = self.packets.read()?;
            let mut reader = Reader::new(&definition);
            for _ in ["catalog", "schema", "table", "original table"] {
                reader.bytes()?;
            }
            names.push(reader.text()?);
        }
        self.packets.read()?;
        let mut kept = 0_usize;
        loop {
            let packet = self.packets.read()?;
            match packet.first() {
                Some(0xff) => return Err(Failure::Server(reader::server_error(&packet))),
                Some(0xfe) if packet.len() < 9 => return Ok(names),
                _ => {}
            }
            if let Some(bytes) = take(&packet, columns)? {
                kept += bytes;
                if kept > self.limits.bytes {
                    return Err(format!(
                        "the server sends more than {} bytes for one statement, which is as much as is kept",
                        self.limits.bytes
                    )
                    .into());
                }
            }
        }
    }
}

/// Greatest time of a login, and greatest size of its packets.
const LOGIN_TIME: Duration = Duration::from_secs(30);
const LOGIN_BYTES: usize = 1 << 20;

/// The values of a row's packet.
fn row(packet: &[u8], columns: usize) -> Result<Vec<Option<String>>, String> {
    let mut reader = Reader::new(packet);
    (0..columns).map(|_| reader.value()).collect()
}

impl Connection for Client {
    fn query(&mut self, sql: &str) -> Result<Rows, String> {
        let Limits {
            rows: most, bytes, ..
        } = self.limits;
        let mut rows = Vec::new();
        let names = self.run(sql, bytes, |packet, columns| {
            if rows.len() == most {
                return Err(format!(
                    "the server sends more than {most} rows for one statement, which is as many as are kept"
                ));
            }
            rows.push(row(packet, columns)?);
            let overhead = columns * size_of::<Option<String>>();
            Ok(Some(packet.len() + overhead))
        })?;
        Ok(Rows { names, rows })
    }
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
