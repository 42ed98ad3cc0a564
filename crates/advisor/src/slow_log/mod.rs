//! Slow logs, plain or gzip, read as a stream of events.
//!
//! The formats are those of MySQL 5.1 to 9 (with and without `log_slow_extra`), MariaDB (every `log_slow_verbosity`) and
//! Percona Server. They share a frame: lines that begin with `#`, then perhaps `use database;` and
//! `SET timestamp=…;`, then the statement up to the next `# Time:` or `# User@Host:`. A database that
//! `use` names holds for all that follows, since a server writes it only when it changes.
//!
//! Invariant: what is kept of a line and of a statement is bounded, so that a log of any length, and a file that is no
//! log, is read in constant memory. Nothing in a file is an error: what cannot be read is skipped.

mod header;
mod lines;

use std::io::{BufRead, BufReader, Read, Result};

use flate2::bufread::MultiGzDecoder;

use crate::event::Event;
use crate::server::Server;

/// What is kept of a statement.
const STATEMENT_BYTES_MAX: usize = 1 << 20;
/// What is kept of a line above a statement.
const EXPLAIN_LINES_MAX: usize = 200;

/// Reads the events of one log.
pub struct SlowLog<'r> {
    reader: Box<dyn BufRead + 'r>,
    line: Vec<u8>,
    /// `line` has been read and belongs to the next event.
    kept: bool,
    database: Option<String>,
    time: Option<i64>,
    /// The first line that a server writes into a log, such as
    /// `/usr/sbin/mysqld, Version: 9.7.4 (Source distribution). started with:`.
    banner: Option<String>,
    /// A line has a member that only MariaDB writes.
    is_mariadb: bool,
}

impl std::fmt::Debug for SlowLog<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlowLog").finish_non_exhaustive()
    }
}

impl<'r> SlowLog<'r> {
    /// A log behind a reader; what begins as gzip does is unpacked.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn new(reader: impl Read + 'r) -> Result<Self> {
        let mut buffered = BufReader::with_capacity(1 << 16, reader);
        let is_gzip = buffered.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn BufRead + 'r> = if is_gzip {
            Box::new(BufReader::with_capacity(
                1 << 16,
                MultiGzDecoder::new(buffered),
            ))
        } else {
            Box::new(buffered)
        };
        Ok(Self {
            reader,
            line: Vec::new(),
            kept: false,
            database: None,
            time: None,
            banner: None,
            is_mariadb: false,
        })
    }

    /// The server that wrote what was read: what its line at the beginning says, or else the family that the form of
    /// the lines shows.
    pub fn server(&self) -> Option<Server> {
        let named = self.banner.as_deref().and_then(Server::of_banner);
        named.or_else(|| {
            self.is_mariadb
                .then(|| Server::of_version("10.6.0-MariaDB", false))
        })
    }

    fn next_line(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.kept) {
            return Ok(true);
        }
        lines::read_line(&mut *self.reader, &mut self.line, STATEMENT_BYTES_MAX)
    }

    /// The next event. Commands of administrators, such as the end of a connection, are left out.
    ///
    /// # Errors
    /// Those of the reader, also for damaged gzip data; the events before are good.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        loop {
            let Some(mut event) = self.read_headers()? else {
                return Ok(None);
            };
            self.read_statement(&mut event)?;
            if !event.text.is_empty() {
                return Ok(Some(event));
            }
        }
    }

    /// Skips to the next line that begins with `#`, and reads those that follow it. The line behind them is kept.
    fn read_headers(&mut self) -> Result<Option<Event>> {
        let mut event = Event::default();
        let mut any = false;
        while self.next_line()? {
            if is_banner(&self.line) {
                self.banner = Some(String::from_utf8_lossy(&self.line).into_owned());
            } else if self.line.starts_with(b"#") && !is_command(&self.line) {
                any = true;
                self.is_mariadb |=
                    self.line.ends_with(b"QC_hit: No") || self.line.ends_with(b"QC_hit: Yes");
                if event.explain.len() < EXPLAIN_LINES_MAX {
                    header::read_header(&String::from_utf8_lossy(&self.line), &mut event);
                }
            } else if any {
                self.kept = true;
                break;
            }
        }
        self.time = event.time.or(self.time);
        event.time = self.time;
        Ok(any.then_some(event))
    }

    fn read_statement(&mut self, event: &mut Event) -> Result<()> {
        let mut text = Vec::new();
        while self.next_line()? {
            if begins_event(&self.line) || is_banner(&self.line) {
                self.kept = true;
                break;
            }
            if text.is_empty() && (self.read_prelude(event) || is_command(&self.line)) {
                continue;
            }
            if text.len() + self.line.len() >= STATEMENT_BYTES_MAX {
                event.truncated = true;
                continue;
            }
            if !text.is_empty() {
                text.push(b'\n');
            }
            text.extend_from_slice(&self.line);
        }
        let text = String::from_utf8_lossy(&text);
        event.text = text.trim().trim_end_matches(';').trim_end().to_owned();
        event.database = event.database.take().or_else(|| self.database.clone());
        Ok(())
    }

    /// Takes `use database;` and `SET timestamp=…;`; whether the line is one of them.
    fn read_prelude(&mut self, event: &mut Event) -> bool {
        let Ok(line) = std::str::from_utf8(&self.line) else {
            return false;
        };
        let Some(line) = line.strip_suffix(';') else {
            return false;
        };
        if let Some(name) = line.strip_prefix("use ") {
            let name = name.trim().trim_matches('`');
            self.database = Some(name.to_owned());
            event.database = self.database.clone();
            return true;
        }
        let Some(values) = line.strip_prefix("SET ") else {
            return false;
        };
        let Some((_, time)) = values.rsplit_once("timestamp=") else {
            return false;
        };
        let digits = time.split('.').next().unwrap_or_default();
        match digits.parse::<i64>() {
            Ok(seconds) => event.time = seconds.checked_mul(1_000_000),
            Err(_) => return false,
        }
        true
    }
}

fn begins_event(line: &[u8]) -> bool {
    line.starts_with(b"# Time: ") || line.starts_with(b"# User@Host: ")
}

/// `# administrator command: Quit;` stands where a statement would.
fn is_command(line: &[u8]) -> bool {
    line.starts_with(b"# administrator command: ")
}

/// The three lines at the beginning of a log, also in its middle when the server was started again.
fn is_banner(line: &[u8]) -> bool {
    line.ends_with(b". started with:") || line.ends_with(b"started with:")
}

#[cfg(test)]
mod tests;
