//! Row file: appending, random and sequential access, and fixed-length rows.

use mayfly_memory::{Budget, Reservation, Result};
use mayfly_storage::values::StoredValue;
use xxhash_rust::xxh3::xxh3_64;

use crate::file::{FileSpace, TableFile};
use crate::refusal::Outcome;
use crate::row::FixedLayout;

/// Bytes of a checksum.
pub(super) const CHECKSUM_BYTES: usize = 4;

pub(super) fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    (xxh3_64(bytes) as u32).to_le_bytes()
}

/// Appended rows that are not in the file yet.
#[derive(Debug)]
struct WriteCache {
    bytes: Vec<u8>,
    size: usize,
    _reservation: Reservation,
}

/// File of rows.
#[derive(Debug)]
pub(super) struct RowFile {
    file: TableFile,
    space: FileSpace,
    cache: Option<WriteCache>,
}

impl RowFile {
    pub(super) fn new(file: TableFile, budget: &Budget) -> Self {
        Self {
            file,
            space: FileSpace::new(budget),
            cache: None,
        }
    }

    /// Turns on the collection of appended rows, up to `size` bytes.
    pub(super) fn cache_writes(&mut self, size: usize, memory: &Budget) -> Result<()> {
        self.cache = Some(WriteCache {
            bytes: Vec::with_capacity(size),
            size,
            _reservation: memory.reserve_forced(size as u64)?,
        });
        Ok(())
    }

    /// End of the rows.
    pub(super) fn end(&self) -> u64 {
        self.space.length()
    }

    pub(super) fn corrupt(&self, offset: u64, bytes: usize) -> mayfly_memory::MemoryError {
        self.file.corrupt(offset, bytes)
    }

    /// Appends bytes; returns their offset.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let start = self.space.grow(bytes.len() as u64)?;
        let Some(cache) = &mut self.cache else {
            self.file.write_at(bytes, start)?;
            return Ok(start);
        };
        if cache.bytes.len() + bytes.len() > cache.size {
            let first = start - cache.bytes.len() as u64;
            self.file.write_at(&cache.bytes, first)?;
            cache.bytes.clear();
        }
        if bytes.len() > cache.size {
            self.file.write_at(bytes, start)?;
        } else {
            cache.bytes.extend_from_slice(bytes);
        }
        Ok(start)
    }

    /// Makes the file longer; the caller writes the new bytes next.
    pub(super) fn extend(&mut self, bytes: u64) -> Result<()> {
        self.space.grow(bytes)?;
        Ok(())
    }

    /// Reads bytes, some of which may still be in the cache.
    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let cached: &[u8] = self.cache.as_ref().map_or(&[], |cache| &cache.bytes);
        let in_file = self.end() - cached.len() as u64;
        let split = in_file.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (from_file, from_cache) = bytes.split_at_mut(split);
        if !from_file.is_empty() {
            self.file.read_exact_at(from_file, offset)?;
        }
        if !from_cache.is_empty() {
            let start = (offset + split as u64 - in_file) as usize;
            let source = cached.get(start..start + from_cache.len());
            let source = source.ok_or_else(|| self.corrupt(offset, split))?;
            from_cache.copy_from_slice(source);
        }
        Ok(())
    }

    /// Overwrites bytes of a file without a cache.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.file.write_at(bytes, offset)
    }
}

/// Sequential reader of a row file through a buffer of `read_buffer_size`.
#[derive(Debug)]
pub(crate) struct SequentialReader {
    buffer: Vec<u8>,
    size: usize,
    /// Offset in the file of the buffer.
    start: u64,
    /// Offset in the file of the next row.
    pub(super) next: u64,
    memory: Reservation,
}

impl SequentialReader {
    /// A reader whose buffer is charged as a working set.
    pub(crate) fn new(size: usize, mut memory: Reservation) -> Result<Self> {
        memory.grow_forced(size as u64)?;
        Ok(Self {
            buffer: Vec::new(),
            size,
            start: 0,
            next: 0,
            memory,
        })
    }

    /// Bytes of the file; the buffer is filled with those behind.
    #[inline]
    pub(super) fn bytes(&mut self, file: &RowFile, offset: u64, length: usize) -> Result<&[u8]> {
        let is_there =
            offset >= self.start && offset + length as u64 <= self.start + self.buffer.len() as u64;
        if !is_there {
            self.fill(file, offset, length)?;
        }
        let at = (offset - self.start) as usize;
        Ok(&self.buffer[at..at + length])
    }

    #[cold]
    fn fill(&mut self, file: &RowFile, offset: u64, length: usize) -> Result<()> {
        let left = file.end().saturating_sub(offset);
        if length as u64 > left {
            return Err(file.corrupt(offset, length));
        }
        if length > self.size {
            self.memory.grow_forced((length - self.size) as u64)?;
            self.size = length;
        }
        self.buffer.resize(left.min(self.size as u64) as usize, 0);
        self.start = offset;
        let read = file.read(&mut self.buffer, offset);
        if read.is_err() {
            self.buffer.clear();
        }
        read
    }
}

/// Fixed-length rows: a record and its checksum.
#[derive(Debug)]
pub(super) struct FixedRows {
    pub(super) layout: FixedLayout,
    pub(super) file: RowFile,
}

impl FixedRows {
    pub(super) fn new(layout: FixedLayout, file: RowFile) -> Self {
        Self { layout, file }
    }

    fn length(&self) -> usize {
        self.layout.length() + CHECKSUM_BYTES
    }

    fn sign(&self, record: &mut [u8]) {
        let (record, sum) = record.split_at_mut(self.layout.length());
        sum.copy_from_slice(&checksum(record));
    }

    fn check(&self, position: u64, record: &[u8]) -> Result<()> {
        let (fields, sum) = record.split_at(self.layout.length());
        if checksum(fields) == *sum {
            Ok(())
        } else {
            Err(self.file.corrupt(position, record.len()))
        }
    }

    pub(super) fn encode(&self, row: &[StoredValue<'_>], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        out.resize(self.length(), 0);
        self.layout.put(0, row, out)?;
        self.sign(out);
        Ok(())
    }

    pub(super) fn read(&self, position: u64, image: &mut Vec<u8>) -> Outcome<()> {
        let start = image.len();
        image.resize(start + self.length(), 0);
        self.file.read(&mut image[start..], position)?;
        Ok(self.check(position, &image[start..])?)
    }

    pub(super) fn update(
        &self,
        position: u64,
        image: &mut [u8],
        first: usize,
        values: &[StoredValue<'_>],
    ) -> Outcome<()> {
        self.layout.put(first, values, image)?;
        self.sign(image);
        Ok(self.file.write(image, position)?)
    }

    pub(super) fn next_row(
        &self,
        reader: &mut SequentialReader,
        mut take: impl FnMut(usize, StoredValue<'_>),
    ) -> Outcome<Option<u64>> {
        let position = reader.next;
        if position >= self.file.end() {
            return Ok(None);
        }
        let record = reader.bytes(&self.file, position, self.length())?;
        self.check(position, record)?;
        for column in 0..self.layout.column_count() {
            take(column, self.layout.get(column, record));
        }
        reader.next = position + self.length() as u64;
        Ok(Some(position))
    }
}
