//! The bytes of a file as Parquet's reader asks for them: a page's header, then the page, one after another.
//!
//! Each of these reads would be a request to a store. Of an object the parts that will be read ([`Source::ahead`]) are
//! therefore asked for together, each up to [`WINDOW`] bytes at once, and the reads are answered from there.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use mayfly_engine::{InputCursor, InputFile};
use parking_lot::Mutex;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

/// Bytes of a part that are asked for at once.
pub(super) const WINDOW: u64 = 4 << 20;

/// A file, and the parts of an object that are read ahead. Cloning shares them.
#[derive(Clone)]
pub(super) struct Source {
    file: InputFile,
    length: u64,
    parts: Arc<[Mutex<Part>]>,
}

/// A part of an object.
struct Part {
    range: Range<u64>,
    /// The bytes of it that are here, from `start` on.
    bytes: Bytes,
    start: u64,
}

impl Source {
    /// A file whose parts are read; those of an object begin to be here.
    pub(super) fn ahead(file: InputFile, parts: Vec<Range<u64>>) -> io::Result<Self> {
        let length = file.version()?.length;
        let mut ahead = Vec::new();
        if file.is_remote() {
            let parts = parts.into_iter().filter(|range| range.end <= length);
            ahead = parts.collect();
        }
        let first = |range: &Range<u64>| range.start..range.end.min(range.start + WINDOW);
        let firsts: Vec<Range<u64>> = ahead.iter().map(first).collect();
        let parts = ahead.into_iter().zip(file.ranges(&firsts)?);
        let parts = parts.map(|(range, bytes)| {
            Mutex::new(Part {
                start: range.start,
                range,
                bytes: bytes.into(),
            })
        });
        Ok(Self {
            parts: parts.collect(),
            length,
            file,
        })
    }

    /// A file whose last bytes are read.
    pub(super) fn of_footer(file: InputFile) -> io::Result<Self> {
        /// Most footers are smaller.
        const FOOTER: u64 = 64 << 10;
        let length = file.version()?.length;
        let footer = length.saturating_sub(FOOTER)..length;
        Self::ahead(file, [footer].into())
    }

    /// The bytes of a range.
    fn range(&self, range: Range<u64>) -> io::Result<Bytes> {
        for part in self.parts.iter() {
            let mut part = part.lock();
            if part.range.start <= range.start && range.end <= part.range.end {
                return part.bytes(&self.file, range);
            }
        }
        self.file.range(range).map(Bytes::from)
    }

    /// Bytes from a position on that are here, at most a number of them; they are asked for if there are none.
    fn next(&self, position: u64, most: usize) -> io::Result<Bytes> {
        let rest = self.length.saturating_sub(position);
        let end = position + rest.min(most as u64);
        // Of a part its rest: behind it may be one that is not read.
        let parts = self.parts.iter().map(|part| part.lock().range.clone());
        let part = parts.into_iter().find(|range| range.contains(&position));
        let end = part.map_or(end, |range| end.min(range.end));
        self.range(position..end)
    }
}

impl Part {
    fn bytes(&mut self, file: &InputFile, range: Range<u64>) -> io::Result<Bytes> {
        let end = self.start + self.bytes.len() as u64;
        if range.start < self.start || range.end > end {
            let end = range.end.max(range.start.saturating_add(WINDOW));
            self.bytes = Bytes::new();
            let bytes = file.range(range.start..end.min(self.range.end))?;
            self.bytes = bytes.into();
            self.start = range.start;
        }
        let from = usize::try_from(range.start - self.start).map_err(io::Error::other)?;
        let to = usize::try_from(range.end - self.start).map_err(io::Error::other)?;
        Ok(self.bytes.slice(from..to))
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Source {
    type T = SourceReader;

    fn get_read(&self, start: u64) -> ParquetResult<SourceReader> {
        Ok(match self.file.is_remote() {
            false => SourceReader::Local(BufReader::new(self.file.cursor(start)?)),
            true => SourceReader::Ahead(self.clone(), start),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.checked_add(length as u64);
        let end = end.filter(|end| *end <= self.length).ok_or_else(|| {
            let what = format!("{length} bytes from {start} on are more than there are");
            ParquetError::EOF(what)
        })?;
        Ok(self.range(start..end)?)
    }
}

/// A reader from a position on.
pub(super) enum SourceReader {
    Local(BufReader<InputCursor>),
    Ahead(Source, u64),
}

impl Read for SourceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(reader) => reader.read(buffer),
            Self::Ahead(source, position) => {
                let bytes = source.next(*position, buffer.len())?;
                buffer[..bytes.len()].copy_from_slice(&bytes);
                *position += bytes.len() as u64;
                Ok(bytes.len())
            }
        }
    }
}
