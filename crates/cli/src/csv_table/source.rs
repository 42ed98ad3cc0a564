//! The text of a file for LOAD DATA: in UTF-8, from the first row of data on, and rewritten where LOAD DATA would read
//! it differently.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use mayfly_engine::{Error, LocalFiles, codes};

use super::rows::{Dialect, RowStep, Rows, write_field};
use crate::load_progress::LoadProgress;
use crate::statements::BYTE_ORDER_MARK;

/// Size of a read.
const CHUNK: usize = 1 << 18;
/// Size of the beginning of the file that shows its encoding.
const HEAD_BYTES: u64 = 4096;

/// The encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { big_endian: bool },
}

/// A file of text.
#[derive(Debug, Clone)]
pub(super) struct TextFile {
    path: PathBuf,
    encoding: Encoding,
    /// Length of its byte order mark.
    mark: usize,
    progress: Arc<LoadProgress>,
}

impl TextFile {
    /// Detects the encoding from a file's beginning.
    pub(super) fn new(path: &str, progress: Arc<LoadProgress>) -> io::Result<Self> {
        let mut head = Vec::new();
        File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
        let (encoding, mark) = encoding(&head);
        Ok(Self {
            path: path.into(),
            encoding,
            mark,
            progress,
        })
    }

    /// Its text, without a byte order mark. `done`: number of its bytes read before.
    pub(super) fn open(&self, done: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = Counted {
            file: File::open(&self.path)?,
            done,
            progress: Arc::clone(&self.progress),
        };
        skip(&mut file, self.mark)?;
        Ok(match self.encoding {
            Encoding::Utf8 => Box::new(file),
            Encoding::Utf16 { big_endian } => Box::new(Utf16::new(file, big_endian)),
        })
    }
}

/// Skips `bytes` bytes.
fn skip(source: &mut impl Read, bytes: usize) -> io::Result<()> {
    io::copy(&mut source.take(bytes as u64), &mut io::sink())?;
    Ok(())
}

/// The encoding of a text, and the length of its mark. In UTF-16 without a mark every other byte of most texts is zero.
fn encoding(head: &[u8]) -> (Encoding, usize) {
    let utf16 = |big_endian| Encoding::Utf16 { big_endian };
    match head {
        [0xff, 0xfe, ..] => return (utf16(false), 2),
        [0xfe, 0xff, ..] => return (utf16(true), 2),
        _ if head.starts_with(BYTE_ORDER_MARK) => return (Encoding::Utf8, BYTE_ORDER_MARK.len()),
        _ => {}
    }
    let pairs = head.len() / 2;
    let zeros = |offset: usize| {
        let bytes = head.iter().skip(offset).step_by(2);
        bytes.filter(|&&byte| byte == 0).count()
    };
    let (first, second) = (zeros(0), zeros(1));
    if pairs > 0 && second > pairs / 2 && first == 0 {
        (utf16(false), 0)
    } else if pairs > 0 && first > pairs / 2 && second == 0 {
        (utf16(true), 0)
    } else {
        (Encoding::Utf8, 0)
    }
}

/// A file that reports how much of it was read.
struct Counted {
    file: File,
    done: u64,
    progress: Arc<LoadProgress>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.done += count as u64;
        self.progress.reached(self.done);
        Ok(count)
    }
}

/// Text in UTF-16, as UTF-8.
struct Utf16<R> {
    source: R,
    big_endian: bool,
    /// Bytes that were read and not decoded yet.
    rest: Vec<u8>,
    text: Cursor<Vec<u8>>,
    ended: bool,
}

impl<R: Read> Utf16<R> {
    fn new(source: R, big_endian: bool) -> Self {
        Self {
            source,
            big_endian,
            rest: Vec::new(),
            text: Cursor::default(),
            ended: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.ended = read_more(&mut self.source, &mut self.rest)? == 0;
        let unit = |pair: &[u8; 2]| {
            if self.big_endian {
                u16::from_be_bytes(*pair)
            } else {
                u16::from_le_bytes(*pair)
            }
        };
        let (pairs, odd) = self.rest.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(unit).collect();
        let mut kept = odd.to_vec();
        let is_cut = units
            .last()
            .is_some_and(|last| (0xd800..0xdc00).contains(last));
        if !self.ended && is_cut {
            units.pop();
            kept.splice(..0, pairs.last().copied().unwrap_or_default());
        }
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "the text is no UTF-16");
        if self.ended && !kept.is_empty() {
            return Err(wrong());
        }
        let text = String::from_utf16(&units).map_err(|_| wrong())?;
        self.rest = kept;
        self.text = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.text.read(buffer)?;
            if count > 0 || self.ended || buffer.is_empty() {
                return Ok(count);
            }
            self.fill()?;
        }
    }
}

/// Appends more bytes to those there; returns how many.
fn read_more(source: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let kept = bytes.len();
    bytes.resize(kept + CHUNK.max(kept), 0);
    let read = loop {
        match source.read(&mut bytes[kept..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    bytes.truncate(kept + read.as_ref().map_or(0, |read| *read));
    read
}

/// A rewritten file: `
/// ` behind each row, no blank lines, NULL for empty fields.
struct Rewritten<R> {
    source: R,
    dialect: Dialect,
    rest: Vec<u8>,
    text: Cursor<Vec<u8>>,
    ended: bool,
}

impl<R: Read> Rewritten<R> {
    fn fill(&mut self) -> io::Result<()> {
        self.ended = read_more(&mut self.source, &mut self.rest)? == 0;
        let mut rows = Rows::new(self.dialect, &self.rest, self.ended);
        let mut text = Vec::with_capacity(self.rest.len() * 2);
        loop {
            let begin = text.len();
            let step = rows.next_row(|column, field| {
                if column > 0 {
                    text.push(self.dialect.delimiter);
                }
                write_field(field, &mut text);
            });
            match step {
                RowStep::Row { .. } => text.push(b'\n'),
                RowStep::Wrong { complaint, .. } => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, complaint));
                }
                RowStep::End | RowStep::Incomplete => {
                    text.truncate(begin);
                    break;
                }
            }
        }
        let done = rows.row_begin();
        self.rest.drain(..done);
        self.text = Cursor::new(text);
        Ok(())
    }
}

impl<R: Read> Read for Rewritten<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.text.read(buffer)?;
            if count > 0 || self.ended || buffer.is_empty() {
                return Ok(count);
            }
            self.fill()?;
        }
    }
}

/// The file for LOAD DATA.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) file: TextFile,
    /// The bytes of the text before the first row of data.
    pub(super) skipped: usize,
    /// The missing line end of the last row.
    pub(super) line_end: &'static str,
    /// The dialect of rows that are rewritten.
    pub(super) rewritten: Option<Dialect>,
    /// Number of bytes of the file that count as read in the second reading.
    pub(super) done: u64,
}

impl Loaded {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut text = self.file.open(self.done)?;
        skip(&mut text, self.skipped)?;
        let end = Cursor::new(self.line_end.as_bytes());
        Ok(match self.rewritten {
            None => Box::new(text.chain(end)),
            Some(dialect) => Box::new(Rewritten {
                source: text,
                dialect,
                rest: Vec::new(),
                text: Cursor::default(),
                ended: false,
            }),
        })
    }
}

/// The files of this process; the first one requested is the one to load.
#[derive(Debug)]
pub(super) struct Files(Option<Loaded>);

impl Files {
    pub(super) fn new(loaded: Loaded) -> Self {
        Self(Some(loaded))
    }
}

impl LocalFiles for Files {
    fn open(&mut self, name: &str) -> Result<Box<dyn Read + Send>, Error> {
        let opened = match self.0.take() {
            Some(loaded) => loaded.open(),
            None => File::open(name).map(|file| Box::new(file) as Box<dyn Read + Send>),
        };
        opened.map_err(|error| {
            let number = error.raw_os_error().unwrap_or(0);
            codes::EE_FILENOTFOUND.with(&[&name, &number, &error])
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// Gives three bytes at a time.
    struct Slow<'t>(&'t [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.0.len().min(3));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    #[test]
    fn texts_in_utf_16() {
        let text = "a,é\n1,\u{1f98b}\n".repeat(100);
        for big_endian in [false, true] {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(|unit| {
                    if big_endian {
                        unit.to_be_bytes()
                    } else {
                        unit.to_le_bytes()
                    }
                })
                .collect();
            assert_eq!(encoding(&bytes), (Encoding::Utf16 { big_endian }, 0));
            let mut read = String::new();
            let mut utf16 = Utf16::new(Slow(&bytes), big_endian);
            utf16.read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
            let mut cut = Utf16::new(&bytes[..bytes.len() - 1], big_endian);
            assert!(cut.read_to_end(&mut Vec::new()).is_err());
        }
        assert_eq!(encoding(text.as_bytes()), (Encoding::Utf8, 0));
        assert_eq!(
            encoding(b"\xff\xfea\0"),
            (Encoding::Utf16 { big_endian: false }, 2)
        );
    }

    #[test]
    fn rows_are_written_anew() {
        let text = "1,\"x\" \r\n\n2,\r3,\"\"";
        let mut rewritten = Rewritten {
            source: Slow(text.as_bytes()),
            dialect: Dialect {
                delimiter: b',',
                lone_returns: true,
                skips_blank_lines: true,
            },
            rest: Vec::new(),
            text: Cursor::default(),
            ended: false,
        };
        let mut read = String::new();
        rewritten.read_to_string(&mut read).unwrap();
        assert_eq!(read, "1,\"x\"\n2,NULL\n3,\"\"\n");
    }
}
