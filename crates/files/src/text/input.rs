//! The text of a file in blocks of whole rows.
//!
//! One reader decodes a file (gzip of one or several members, zstd, byte order marks, UTF-16, Latin-1) and cuts it behind a
//! row's end, which each format finds in its own way ([`Cut`]); workers read the rows of the blocks.

use std::io::{BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
pub(crate) use mayfly_engine::FileVersion as Version;
use mayfly_engine::{InputFile, Result, StatementFiles};
use memchr::memchr;

use crate::guard::damaged;

/// Bytes of a block, unless a row is longer.
const BLOCK: usize = 1 << 20;

/// Most bytes of a row.
const ROW_MAX: usize = 64 << 20;

/// How characters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    /// Windows' Latin-1 (code page 1252), which MySQL calls latin1.
    Latin1,
    Utf16Le,
    Utf16Be,
}

/// Rows of a file.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The text: whole rows, the last of which may lack its end.
    pub(crate) text: Vec<u8>,
    /// The number of the first line, from 1.
    pub(crate) line: u64,
    /// Bytes of the text before it.
    pub(crate) offset: u64,
}

/// The search for the end of the last whole row of a text that grows, from the start of a row on.
pub(crate) trait Cut {
    /// Looks at the text behind what it has seen already; returns the end of the last whole row in the text, if there is
    /// one.
    fn run(&mut self, text: &[u8], is_at_end: bool) -> Option<usize>;
}

/// The present version of an open file.
pub(crate) fn version(path: &str, file: &InputFile) -> Result<Version> {
    file.version().map_err(|error| damaged(path, error))
}

/// A file that is being read.
pub(crate) struct Input {
    path: String,
    reader: Box<dyn Read + Send>,
    encoding: Encoding,
    /// Read, but not given yet.
    rest: Vec<u8>,
    /// Bytes of an incomplete character.
    undecoded: Vec<u8>,
    line: u64,
    /// Bytes of the text before `rest`.
    offset: u64,
    is_at_end: bool,
}

impl Input {
    /// Opens a file, whose byte order mark says its encoding, if there is one.
    pub(crate) fn open(
        files: &StatementFiles,
        path: &str,
        encoding: Encoding,
    ) -> Result<(Self, Version)> {
        let failed = |error| damaged(path, error);
        let file = files.open(path)?;
        let version = version(path, &file)?;
        let mut content = file.reader().map_err(failed)?;
        let mut begin = Vec::new();
        let read = (&mut content).take(4).read_to_end(&mut begin);
        read.map_err(failed)?;
        let mut reader = decoder(content, begin).map_err(failed)?;
        let mut start = Vec::new();
        let read = (&mut reader).take(4).read_to_end(&mut start);
        read.map_err(failed)?;
        let (encoding, mark) = match start.as_slice() {
            [0xEF, 0xBB, 0xBF, ..] => (Encoding::Utf8, 3),
            [0xFF, 0xFE, ..] => (Encoding::Utf16Le, 2),
            [0xFE, 0xFF, ..] => (Encoding::Utf16Be, 2),
            // Two ASCII characters; text does not begin with a zero otherwise.
            [1..=u8::MAX, 0, 1..=u8::MAX, 0] => (Encoding::Utf16Le, 0),
            [0, 1..=u8::MAX, 0, 1..=u8::MAX] => (Encoding::Utf16Be, 0),
            _ => (encoding, 0),
        };
        let mut new = Self {
            path: path.to_owned(),
            reader,
            encoding,
            rest: Vec::new(),
            undecoded: Vec::new(),
            line: 1,
            offset: 0,
            is_at_end: false,
        };
        new.decode(&start[mark..]);
        Ok((new, version))
    }

    /// Skips a number of lines.
    pub(crate) fn skip_lines(&mut self, lines: u64) -> Result<()> {
        for _ in 0..lines {
            let end = loop {
                if let Some(end) = memchr(b'\n', &self.rest) {
                    break end + 1;
                }
                if !self.fill()? {
                    break self.rest.len();
                }
            };
            self.rest.drain(..end);
            self.offset += end as u64;
            self.line += 1;
        }
        Ok(())
    }

    /// The first bytes, up to a number, without taking them.
    pub(crate) fn sample(&mut self, bytes: usize) -> Result<&[u8]> {
        while self.rest.len() < bytes && self.fill()? {}
        Ok(&self.rest[..self.rest.len().min(bytes)])
    }

    /// Takes white space, and then a byte if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> Result<bool> {
        loop {
            let blank = self
                .rest
                .iter()
                .take_while(|it| it.is_ascii_whitespace())
                .count();
            if blank < self.rest.len() || !self.fill()? {
                let is_next = self.rest.get(blank) == Some(&byte);
                if is_next {
                    let taken = memchr::memchr_iter(b'\n', &self.rest[..blank]).count();
                    self.line += taken as u64;
                    self.rest.drain(..=blank);
                    self.offset += blank as u64 + 1;
                }
                return Ok(is_next);
            }
        }
    }

    /// Bytes of the text before the next block.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the sample is the whole file.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// The next block of whole rows; `None` at the end.
    pub(crate) fn block(&mut self, cut: &mut dyn Cut) -> Result<Option<Block>> {
        let (mut seen, mut end) = (0, 0);
        loop {
            while self.rest.len() < BLOCK.max(seen + 1) && self.fill()? {}
            if self.rest.is_empty() {
                return Ok(None);
            }
            end = cut.run(&self.rest, self.is_at_end).unwrap_or(end);
            seen = self.rest.len();
            if self.is_at_end || end > 0 {
                break;
            }
            if self.rest.len() > ROW_MAX {
                let why = format!(
                    "line {}: a row of more than {ROW_MAX} bytes, perhaps because a quote is not closed",
                    self.line
                );
                return Err(damaged(&self.path, why));
            }
        }
        let end = if self.is_at_end { self.rest.len() } else { end };
        let behind = self.rest.split_off(end);
        let text = std::mem::replace(&mut self.rest, behind);
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &text).count() as u64;
        let offset = self.offset;
        self.offset += text.len() as u64;
        Ok(Some(Block { text, line, offset }))
    }

    /// Reads on; false at the end.
    fn fill(&mut self) -> Result<bool> {
        if self.is_at_end {
            return Ok(false);
        }
        if self.encoding == Encoding::Utf8 {
            let limit = BLOCK as u64;
            // Room for the rest of a block, the next one, and the probe for the end.
            self.rest.reserve(BLOCK + 64);
            let read = (&mut self.reader).take(limit).read_to_end(&mut self.rest);
            let read = read.map_err(|error| damaged(&self.path, error))?;
            self.is_at_end = read == 0;
            return Ok(read > 0);
        }
        let mut bytes = Vec::new();
        let read = (&mut self.reader)
            .take(BLOCK as u64)
            .read_to_end(&mut bytes);
        read.map_err(|error| damaged(&self.path, error))?;
        self.is_at_end = bytes.is_empty();
        if self.is_at_end && !self.undecoded.is_empty() {
            return Err(damaged(&self.path, "it ends within a character"));
        }
        self.decode(&bytes);
        Ok(!self.is_at_end)
    }

    /// Adds bytes of the file to the text.
    fn decode(&mut self, bytes: &[u8]) {
        let from = match self.encoding {
            Encoding::Utf8 => return self.rest.extend_from_slice(bytes),
            Encoding::Latin1 => {
                let characters = bytes.iter().map(|byte| latin1(*byte));
                let text: String = characters.collect();
                return self.rest.extend_from_slice(text.as_bytes());
            }
            Encoding::Utf16Le => u16::from_le_bytes,
            Encoding::Utf16Be => u16::from_be_bytes,
        };
        self.undecoded.extend_from_slice(bytes);
        let (pairs, _) = self.undecoded.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|pair| from(*pair)).collect();
        // The second half of a surrogate pair may be in the next bytes.
        if units
            .last()
            .is_some_and(|unit| (0xD800..0xDC00).contains(unit))
        {
            units.pop();
        }
        self.undecoded.drain(..units.len() * 2);
        let text = char::decode_utf16(units);
        let text: String = text
            .map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.rest.extend_from_slice(text.as_bytes());
    }
}

/// The reader of a file's content, of which the first bytes were read.
fn decoder(file: Box<dyn Read + Send>, begin: Vec<u8>) -> std::io::Result<Box<dyn Read + Send>> {
    let kind = <[u8; 4]>::try_from(begin.as_slice()).unwrap_or_default();
    let file = Cursor::new(begin).chain(file);
    Ok(match kind {
        [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file))),
        // A frame, or one to be skipped.
        [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => {
            Box::new(zstd::stream::read::Decoder::new(file)?)
        }
        _ => Box::new(file),
    })
}

/// The character of a byte of code page 1252; a byte that has none stands for the control character of its number.
fn latin1(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž',
        '\u{8F}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// First bytes of files that are no texts, and the functions that read them.
const MAGICS: &[(&[u8], &str)] = &[
    (b"PAR1", "read_parquet"),
    (b"ARROW1", "read_arrow"),
    (b"PK\x03\x04", "read_excel"),
];

/// 1105 with the line of the first bytes of a block that are not UTF-8.
pub(crate) fn check_utf8(path: &str, text: &[u8], first_line: u64) -> Result<()> {
    let Err(error) = std::str::from_utf8(text) else {
        return Ok(());
    };
    let mut magics = MAGICS.iter().filter(|_| first_line == 1);
    if let Some((_, function)) = magics.find(|(begin, _)| text.starts_with(begin)) {
        let why = format!("it begins as a file that {function} reads");
        return Err(damaged(path, why));
    }
    let before = text.get(..error.valid_up_to()).unwrap_or_default();
    let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
    let why = format!("line {line}: it is not UTF-8; encoding => 'latin1' reads any bytes");
    Err(damaged(path, why))
}
