//! In-memory tables like those of MySQL's MEMORY engine (once HEAP): fixed-length records in blocks, identified by
//! their numbers, and a chained hash index over them.
//!
//! The number of records in a block is computed as in `hp_create.c`: a tenth of what the table may hold, but no more
//! bytes than `read_buffer_size`. So a table of one row takes about `read_buffer_size`, as a reader of the article on
//! it found. Blocks are charged when they are allocated; the table is full when the next one would exceed its limit.

mod hash_index;

use mayfly_memory::{Budget, LimitError, Reservation};
use mayfly_storage::values::StoredValue;

use self::hash_index::{ENTRY_BYTES, HashIndex};
use super::refusal::{Outcome, Refusal};
use super::row::{FixedLayout, KeyImages, RowSink};

/// Alignment of records in bytes.
const POINTER_BYTES: usize = 8;
/// Bytes that MySQL subtracts from a block for its tree of blocks: four levels of 128 pointers.
const TREE_BYTES: usize = 4 * 128 * POINTER_BYTES;
/// Minimum number of records in a block, unless the limit has no room for them.
const BLOCK_RECORDS_MIN: u64 = 10;

/// Number of records of `record_bytes` bytes in a block, for a table of up to `records_max` records.
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
    /// Number of elements in a block.
    per_block: usize,
    /// Number of elements in all blocks.
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

    /// Adds a block of up to `per_block` elements of `element_bytes` bytes and `group` values each, set to `fill`.
    fn grow(
        &mut self,
        fill: T,
        group: usize,
        element_bytes: usize,
        reservation: &mut Reservation,
    ) -> Result<(), LimitError> {
        if self.capacity < self.blocks.len() * self.per_block {
            // The last block took all the room there was.
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

/// Error: the budget has no room for `bytes` more bytes.
fn full(budget: &Budget, bytes: usize) -> LimitError {
    let tightest = budget.tightest().unwrap_or(budget);
    tightest.error(bytes as u64)
}

/// In-memory table.
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

/// Maximum number of rows, whose numbers have four bytes.
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
        // One more byte marks deleted records in MySQL.
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

    /// Appends a row; returns its position.
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

    /// The position of the row with a key, or of a new row with it.
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

    /// Passes the columns of the row at a position to `sink`.
    pub(super) fn read(&self, position: u64, sink: &mut RowSink) {
        let record = self.record(position as u32);
        sink.push_row(|column| self.layout.get(column, record));
    }

    /// A value of the row at a position.
    pub(super) fn value(&self, position: u64, column: usize) -> StoredValue<'_> {
        self.layout.get(column, self.record(position as u32))
    }

    /// Updates the columns from `first` on of the row at a position.
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
