//! Slow logs, plain or gzip, read as a stream of events.
//!
//! The formats are those of MySQL 5.1 to 9 (with and without `log_slow_extra`), MariaDB (every `log_slow_verbosity`),
//! Percona Server and Mayfly. They share a frame: lines that begin with `#`, then perhaps `use database;` and `SET
//! timestamp=…;`, then the statement, which ends with a semicolon at the end of a line. A database that `use` names
//! applies to all later events, since a server writes it only when it changes.
//!
//! What stands between a statement and the next lines that begin an event belongs to neither: commands of
//! administrators, blank lines, the marks that `tail` puts between files and lines of those files, other programs'
//! lines.
//! A line in a string or a comment of the statement begins no event, whatever it looks like; but where a server has
//! logged a string that is never closed, the next event is found by its first two lines.
//!
//! Invariant: what is kept of a line and of a statement is bounded, so that a log of any length, and a file that is no
//! log, is read in constant memory. Nothing in a file is an error: what cannot be read is counted ([`Skipped`]).

mod header;
mod lines;
mod scan;

use std::io::{BufRead, BufReader, Read, Result};

use flate2::bufread::MultiGzDecoder;

use crate::event::Event;
use crate::server::{Family, Server};
use header::HeaderLine;
use lines::Lines;
use scan::Scan;

/// Greatest number of bytes kept of a statement.
const STATEMENT_BYTES_MAX: usize = 1 << 20;
/// Greatest number of lines kept above a statement.
const EXPLAIN_LINES_MAX: usize = 200;

/// Content of a log other than events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Entries that begin like events and have no statement.
    pub entries: u64,
    /// Lines outside of events. Those that servers write between events, and blank lines, are not counted.
    pub lines: u64,
}

/// Reader of the events of one log.
pub struct SlowLog<'r> {
    lines: Lines<'r>,
    database: Option<String>,
    time: Option<i64>,
    /// The first line that a server writes into a log, such as `/usr/sbin/mysqld, Version: 9.7.4 (Source distribution).
    /// started with:`.
    banner: Option<String>,
    /// The family whose format the lines have.
    family: Option<Family>,
    skipped: Skipped,
    /// Lines that follow a banner.
    banner_lines: u8,
}

impl std::fmt::Debug for SlowLog<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlowLog").finish_non_exhaustive()
    }
}

/// The lines above a statement.
#[derive(Default)]
struct Headers {
    event: Event,
    /// Whether there was a known one.
    any: bool,
    /// Whether an administrator command takes the place of the statement.
    is_command: bool,
    /// Whether there was a `use` or a `SET timestamp`.
    has_prelude: bool,
}

impl<'r> SlowLog<'r> {
    /// A log behind a reader; gzip is detected and decompressed.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn new(reader: impl Read + 'r) -> Result<Self> {
        let mut buffered = BufReader::with_capacity(1 << 16, reader);
        let is_gzip = buffered.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let mut reader: Box<dyn BufRead + 'r> = if is_gzip {
            Box::new(BufReader::with_capacity(
                1 << 16,
                MultiGzDecoder::new(buffered),
            ))
        } else {
            Box::new(buffered)
        };
        // The byte order mark of UTF-8.
        const MARK: &[u8] = &[0xef, 0xbb, 0xbf];
        if reader
            .fill_buf()
            .is_ok_and(|beginning| beginning.starts_with(MARK))
        {
            reader.consume(MARK.len());
        }
        Ok(Self {
            lines: Lines::new(reader, STATEMENT_BYTES_MAX),
            database: None,
            time: None,
            banner: None,
            family: None,
            skipped: Skipped::default(),
            banner_lines: 0,
        })
    }

    /// The server that wrote the part read so far: by its line at the beginning or, without one, by the family of the
    /// format.
    pub fn server(&self) -> Option<Server> {
        let named = self.banner.as_deref().and_then(Server::of_banner);
        named.or_else(|| match self.family? {
            Family::Mayfly => Some(Server::of_version("9.7.0-Mayfly", false)),
            Family::MariaDb => Some(Server::of_version("10.6.0-MariaDB", false)),
            Family::MySql => None,
        })
    }

    /// Content read so far that is not an event.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next event. Administrator commands, such as the end of a connection, are left out.
    ///
    /// # Errors
    /// Those of the reader, also for damaged gzip data; the events before are good.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        loop {
            let mut headers = self.read_headers()?;
            if !headers.any {
                return Ok(None);
            }
            self.read_statement(&mut headers)?;
            if !headers.event.text.is_empty() {
                return Ok(Some(headers.event));
            }
            // `use` alone is a statement too, but gives no event.
            self.skipped.entries += u64::from(!headers.is_command && !headers.has_prelude);
        }
    }

    /// Skips to the next lines that begin with `#` and have fields of an event, and reads them. The line behind them is
    /// kept.
    fn read_headers(&mut self) -> Result<Headers> {
        let mut headers = Headers::default();
        while self.lines.advance()? {
            let line = self.lines.line();
            if is_banner(line) {
                self.banner = Some(String::from_utf8_lossy(line).into_owned());
                self.banner_lines = 2;
            } else if is_section(line) {
                // The lines above it have no statement.
                self.skipped.entries += u64::from(headers.any);
                headers = Headers::default();
            } else if line.starts_with(b"#") && !is_command(line) {
                let said = self.read_header(&mut headers.event);
                headers.any |= said;
                // A single comment line of a statement's author.
                let is_bare = self.lines.line().trim_ascii().len() == 1;
                self.skipped.lines += u64::from(!said && !is_bare && !headers.any);
            } else if headers.any {
                self.lines.keep();
                break;
            } else if !line.trim_ascii().is_empty() && !is_command(line) {
                let of_banner = self.banner_lines > 0;
                self.banner_lines = self.banner_lines.saturating_sub(1);
                self.skipped.lines += u64::from(!of_banner);
            }
        }
        self.time = headers.event.time.or(self.time);
        headers.event.time = self.time;
        Ok(headers)
    }

    /// Adds the content of the line to an event; returns whether it has any.
    fn read_header(&mut self, event: &mut Event) -> bool {
        let line = self.lines.line();
        if line.ends_with(b"QC_hit: No") || line.ends_with(b"QC_hit: Yes") {
            self.family.get_or_insert(Family::MariaDb);
        }
        let text = String::from_utf8_lossy(line);
        // Mayfly adds this to every server's format.
        if text.contains("Tmp_disk_bytes_written:") {
            self.family = Some(Family::Mayfly);
        }
        match header::header_line(&text) {
            HeaderLine::Nothing => false,
            HeaderLine::Explain(row) => {
                if event.explain.len() < EXPLAIN_LINES_MAX {
                    event.explain.push(row.to_owned());
                }
                true
            }
            line => {
                header::take(line, event);
                true
            }
        }
    }

    fn read_statement(&mut self, headers: &mut Headers) -> Result<()> {
        let mut text = Vec::new();
        let mut scan = Scan::default();
        while self.lines.advance()? {
            if self.begins_other(&scan)? {
                headers.event.truncated |= is_section(self.lines.line()) && !text.is_empty();
                self.lines.keep();
                break;
            }
            if text.is_empty() {
                let line = self.lines.line();
                if is_command(line) {
                    headers.is_command = true;
                    break;
                }
                if line.trim_ascii().is_empty() {
                    continue;
                }
                if self.read_prelude(&mut headers.event) {
                    headers.has_prelude = true;
                    continue;
                }
                // A line that has lost its mark, and those behind it that have not.
                let line = self.lines.line();
                if header::is_field_line(line) || header::is_field_comment(line) {
                    self.read_header(&mut headers.event);
                    continue;
                }
            }
            let line = self.lines.line();
            let cut = self.lines.is_cut();
            scan.read(line, cut);
            headers.event.truncated |= cut;
            if text.len() + line.len() >= STATEMENT_BYTES_MAX {
                headers.event.truncated = true;
            } else {
                if !text.is_empty() {
                    text.push(b'\n');
                }
                text.extend_from_slice(line);
            }
            if scan.ends(&text) {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text);
        let event = &mut headers.event;
        event.text = text.trim().trim_end_matches(';').trim_end().to_owned();
        event.database = event.database.take().or_else(|| self.database.clone());
        Ok(())
    }

    /// Whether the line belongs to something after the statement.
    fn begins_other(&mut self, scan: &Scan) -> Result<bool> {
        let line = self.lines.line();
        let is_begin = header::begins_event(line);
        if !scan.is_open() {
            let is_command = is_command(line) && scan.has_semicolon();
            return Ok(is_begin || is_banner(line) || is_section(line) || is_command);
        }
        // In a string that `tail` has cut off, with a blank line before its mark.
        if is_section(line) && scan.is_blank() {
            return Ok(true);
        }
        // In a string: unless the server ended the statement before it, and two lines look like those of a server.
        if !is_begin || !scan.has_semicolon() {
            return Ok(false);
        }
        let ahead = self.lines.ahead()?;
        Ok(ahead.is_some_and(|line| header::begins_event(line) || header::is_field_comment(line)))
    }

    /// Takes `use database;` and `SET timestamp=…;`; returns whether the line is one of them.
    fn read_prelude(&mut self, event: &mut Event) -> bool {
        let Ok(line) = std::str::from_utf8(self.lines.line()) else {
            return false;
        };
        let Some(line) = line.trim_end().strip_suffix(';') else {
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

/// Whether the line is `# administrator command: Quit;` or similar, which takes the place of a statement.
fn is_command(line: &[u8]) -> bool {
    line.starts_with(b"# administrator command: ")
}

/// Whether the line is the first of the three lines at the beginning of a log, which are repeated when the server is
/// restarted.
fn is_banner(line: &[u8]) -> bool {
    line.ends_with(b"started with:")
        && line
            .windows(9)
            .any(|window| window.eq_ignore_ascii_case(b"version: "))
}

/// Whether the line is `==> error.log <==`, which `tail` and `head` write between several files.
fn is_section(line: &[u8]) -> bool {
    line.starts_with(b"==> ") && line.ends_with(b" <==")
}

#[cfg(test)]
mod tests;
