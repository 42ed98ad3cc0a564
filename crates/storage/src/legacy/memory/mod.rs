//! The table in memory, as MySQL's MEMORY engine (once HEAP) has it: fixed-length records in blocks, found by
//! their number, and a chained hash index over them.
//!
//! A block's records are as many as `hp_create.c` says: a tenth of what the table may hold, but no more bytes
//! than `read_buffer_size`. So a table of one row takes about `read_buffer_size`, as a reader of the article
//! on it found. All blocks are charged when they are made; the table is full when the next one would pass
//! its limit.

mod hash_index;

use mayfly_memory::{Budget, LimitError, Reservation};

use self::hash_index::{ENTRY_BYTES, HashIndex};
use super::refusal::{Outcome, Refusal};
use super::row::{FixedLayout, KeyImages, RowSink};
use crate::values::StoredValue;

/// Records start at multiples of this.
const POINTER_BYTES: usize = 8;
/// What MySQL takes off a block for its tree of blocks: four levels of 128 pointers.
const TREE_BYTES: usize = 4 * 128 * POINTER_BYTES;
/// The fewest records of a block, unless the limit has no room for them.
const BLOCK_RECORDS_MIN: u64 = 10;

/// How many records of so many bytes a block has, of a table that may have so many.
fn records_in_block(record_bytes: usize, records_max: u64, read_buffer: usize) -> usize {
    let records_max = if records_max == 0 { 1000 } else { records_max };
    let records = (records_max / 10).max(BLOCK_RECORDS_MIN);
    let bytes = read_buffer.saturating_sub(TREE_BYTES);
    if records.saturating_mul(record_bytes as u64) > bytes as u64 {
        bytes / record_bytes + 1
    } else {
        records as usize
    }
}

/// Blocks of equal elements; the last may have fewer, where the limit has no room for more.
#[derive(Debug)]
struct Blocks<T> {
    blocks: Vec<Box<[T]>>,
    /// Elements of a block.
    per_block: usize,
    /// Of all blocks.
    capacity: usize,
}

impl<T: Clone> Blocks<T> {
    fn new(per_block: usize) -> Self {
        Self {
            blocks: Vec::new(),
            per_block,
            capacity: 0,
        }
    }

    /// Adds a block of `fill`, of up to `per_block` elements of `element_bytes` and `group` values each.
    fn grow(
        &mut self,
        fill: T,
        group: usize,
        element_bytes: usize,
        reservation: &mut Reservation,
    ) -> Result<(), LimitError> {
        if self.capacity < self.blocks.len() * self.per_block {
            // The last block was all that there was room for.
            return Err(full(reservation.budget(), element_bytes));
        }
        let element = element_bytes as u64;
        let room = reservation.budget().available() / element;
        let elements = (self.per_block as u64).min(room.max(1));
        reservation.try_grow(elements * element)?;
        let elements = elements as usize;
        self.blocks
            .push(vec![fill; elements * group].into_boxed_slice());
        self.capacity += elements;
        Ok(())
    }
}

/// There is no room for so many bytes more.
fn full(budget: &Budget, bytes: usize) -> LimitError {
    let tightest = budget.tightest().unwrap_or(budget);
    tightest.error(bytes as u64)
}

/// A table in memory.
#[derive(Debug)]
pub(super) struct MemoryTable {
    layout: FixedLayout,
    /// Bytes of a record with its padding.
    stride: usize,
    records: Blocks<u8>,
    index: Option<HashIndex>,
    reservation: Reservation,
    rows: u32,
    key: Vec<u8>,
}

/// More rows than this are full: their numbers are of four bytes.
const ROWS_MAX: u32 = u32::MAX - 1;

impl MemoryTable {
    /// An empty table of up to `limit` bytes.
    pub(super) fn new(
        layout: FixedLayout,
        has_key: bool,
        limit: u64,
        read_buffer: usize,
        budget: &Budget,
    ) -> Self {
        // One byte more tells MySQL that a record is deleted.
        let stride = (layout.length() + 1).next_multiple_of(POINTER_BYTES);
        let records_max = limit / stride as u64;
        let in_block = |bytes| records_in_block(bytes, records_max, read_buffer);
        Self {
            layout,
            stride,
            records: Blocks::new(in_block(stride)),
            index: has_key.then(|| HashIndex::new(in_block(ENTRY_BYTES))),
            reservation: budget.reservation(),
            rows: 0,
            key: Vec::new(),
        }
    }

    pub(super) fn row_count(&self) -> u64 {
        u64::from(self.rows)
    }

    fn place(&self, number: u32) -> (usize, std::ops::Range<usize>) {
        let (block, at) = (
            number as usize / self.records.per_block,
            number as usize % self.records.per_block * self.stride,
        );
        (block, at..at + self.layout.length())
    }

    fn record(&self, number: u32) -> &[u8] {
        let (block, range) = self.place(number);
        &self.records.blocks[block][range]
    }

    /// Appends a row; its position.
    pub(super) fn append(&mut self, row: &[StoredValue<'_>]) -> Outcome<u64> {
        let number = self.rows;
        if number as usize == self.records.capacity {
            let (stride, reservation) = (self.stride, &mut self.reservation);
            let grown = self.records.grow(0, stride, stride, reservation);
            grown.map_err(Refusal::Full)?;
        }
        if number >= ROWS_MAX {
            return Err(Refusal::Full(full(self.reservation.budget(), self.stride)));
        }
        let (block, range) = self.place(number);
        let record = &mut self.records.blocks[block][range];
        self.layout.put(0, row, record)?;
        self.rows += 1;
        Ok(u64::from(number))
    }

    /// The position of the row with a key, or of the new one that it becomes.
    pub(super) fn find_or_insert(
        &mut self,
        images: &KeyImages,
        key: &[u8],
        hash: u64,
        row: &[StoredValue<'_>],
    ) -> Outcome<(u64, bool)> {
        if let Some(index) = &self.index {
            let mut stored = std::mem::take(&mut self.key);
            let mut found = None;
            for number in index.candidates(hash) {
                let record = self.record(number);
                images.put(|column| self.layout.get(column, record), &mut stored)?;
                if stored == key {
                    found = Some(number);
                    break;
                }
            }
            self.key = stored;
            if let Some(number) = found {
                return Ok((u64::from(number), false));
            }
        }
        if let Some(index) = &mut self.index {
            let made = index.make_room(&mut self.reservation);
            made.map_err(Refusal::Full)?;
        }
        let position = self.append(row)?;
        if let Some(index) = &mut self.index {
            index.insert(hash);
        }
        Ok((position, true))
    }

    /// Gives the columns of the row at a position.
    pub(super) fn read(&self, position: u64, sink: &mut RowSink) {
        let record = self.record(position as u32);
        sink.push_row(|column| self.layout.get(column, record));
    }

    /// A value of the row at a position.
    pub(super) fn value(&self, position: u64, column: usize) -> StoredValue<'_> {
        self.layout.get(column, self.record(position as u32))
    }

    /// Changes the columns from `first` on of the row at a position.
    pub(super) fn update(
        &mut self,
        position: u64,
        first: usize,
        values: &[StoredValue<'_>],
    ) -> Outcome<()> {
        let (block, range) = self.place(position as u32);
        let record = &mut self.records.blocks[block][range];
        self.layout.put(first, values, record)
    }
}

#[cfg(test)]
mod tests;
