//! Sort records and sorted runs.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::cmp::Ordering;
use std::sync::Arc;

use mayfly_memory::{Reservation, Result};

use super::cutoff::Prefix;
use super::keys::{Place, PrefixBuffer, PrefixBytes, SortKeys};
use crate::temptable::rows::{AHEAD_ROWS, Resolver};
use crate::temptable::store::{LoadedBlock, Part, RowWriter, StoreRef};

/// Record that is sorted instead of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    pub(super) prefix: Prefix,
    /// Index of the row's memory run, in the order of arrival.
    pub(super) run: u32,
    /// Index of the row in that run, in the order of arrival.
    pub(super) row: u32,
}

/// Rows in memory with their records.
pub(super) struct MemoryRun {
    pub(super) records: Vec<Record>,
    /// The rows in the order of arrival, or in that of the records; see [`Self::order_rows`].
    pub(super) rows: Vec<*const u8>,
    /// Owner of the rows.
    pub(super) writer: RowWriter,
    /// Memory reservation of `records` and `rows`.
    pub(super) reservation: Reservation,
    pub(super) is_sorted: bool,
}

// SAFETY: the addresses are of blocks that move with this value.
unsafe impl Send for MemoryRun {}
// SAFETY: a run that is shared is only read, and the rows are never changed.
unsafe impl Sync for MemoryRun {}

impl MemoryRun {
    /// Sorts the records, unless they are sorted already.
    pub(super) fn sort(&mut self, comparer: &Comparer<'_>) {
        if !self.is_sorted {
            let Self { records, rows, .. } = self;
            comparer.sort(records, |record| rows[record.row as usize]);
            self.is_sorted = true;
        }
    }

    /// Brings the rows into the order of the records, if there is memory for that: a merge then need not look up each
    /// row.
    pub(super) fn order_rows(&mut self) {
        let bytes = (self.records.len() * size_of::<*const u8>()) as u64;
        if self.reservation.try_grow(bytes).is_ok() {
            let row = |record: &Record| self.rows[record.row as usize];
            self.rows = self.records.iter().map(row).collect();
            for (row, record) in self.records.iter_mut().enumerate() {
                record.row = row as u32;
            }
            self.reservation.shrink(bytes);
        }
    }
}

/// Sorted rows in a temporary file.
pub(super) type FileRun = Part;

/// Comparer of records of some memory runs.
pub(super) struct Comparer<'a> {
    pub(super) keys: &'a SortKeys,
    pub(super) store: &'a StoreRef,
}

impl Comparer<'_> {
    /// The order of two records; `row` gives the row of a record. Never equal for different ones.
    #[inline(always)]
    pub(super) fn compare(
        &self,
        a: &Record,
        b: &Record,
        row: impl Fn(&Record) -> *const u8,
    ) -> Ordering {
        a.prefix
            .cmp(&b.prefix)
            // SAFETY: the records are of rows of the store, whose values are in memory.
            .then_with(|| unsafe {
                self.keys.compare(
                    a.prefix,
                    row(a),
                    row(b),
                    Resolver::stored(&self.store.directory),
                )
            })
            .then_with(|| (a.run, a.row).cmp(&(b.run, b.row)))
    }

    /// Sorts records, by their prefixes first, so that most comparisons are of two numbers; `row` gives the row of a
    /// record.
    pub(super) fn sort(&self, records: &mut [Record], row: impl Fn(&Record) -> *const u8) {
        records.sort_unstable();
        let values = Resolver::stored(&self.store.directory);
        for tied in records.chunk_by_mut(|a, b| a.prefix == b.prefix) {
            if tied.len() > 1 && !self.keys.is_whole(tied[0].prefix) {
                let row = |record: Record| row(&record);
                // SAFETY: the records are of rows of the store, whose values are in memory.
                unsafe { self.keys.sort_tied(tied, row, values, &self.store.memory) };
            }
        }
    }
}

/// Reader of one run from first to last.
pub(super) enum RunReader {
    /// A sorted run in memory, or a part of one.
    Memory(MemoryReader),
    /// A run in a file.
    File(FileReader),
}

/// Reader of a run in memory that it shares with others.
pub(super) struct MemoryReader {
    pub(super) run: Arc<MemoryRun>,
    /// Index of the next record; `end` is exclusive.
    pub(super) next: usize,
    pub(super) end: usize,
}

/// Reader of a run in a file, a block at a time.
pub(super) struct FileReader {
    // Declared before `part`: what is loaded is released before its block numbers are.
    loaded: Option<LoadedBlock>,
    part: FileRun,
    block: usize,
    rows: Vec<*const u8>,
    next: usize,
    /// Prefixes of the next rows; the last one is that of row `prefixed - 1`.
    prefixes: Vec<Prefix>,
    prefixed: usize,
}

// SAFETY: the addresses are of blocks that move with this value.
unsafe impl Send for FileReader {}

impl RunReader {
    pub(super) fn memory(run: MemoryRun) -> Self {
        Self::Memory(MemoryReader {
            next: 0,
            end: run.records.len(),
            run: Arc::new(run),
        })
    }

    pub(super) fn file(part: FileRun) -> Self {
        Self::File(FileReader {
            loaded: None,
            part,
            block: 0,
            rows: Vec::new(),
            next: 0,
            prefixes: Vec::new(),
            prefixed: 0,
        })
    }

    /// Average memory of a block of the run with its values.
    pub(super) fn block_bytes(&self) -> u64 {
        match self {
            Self::Memory(_) => 0,
            Self::File(reader) => {
                let blocks = reader.part.rows.len().max(1) as u64;
                reader.part.total_bytes() / blocks
            }
        }
    }

    /// The next row and its prefix; `None` at the end. A finished block goes to `retired`: its rows were returned and
    /// may not be read yet.
    pub(super) fn next(
        &mut self,
        keys: &SortKeys,
        store: &StoreRef,
        buffer: &mut PrefixBuffer,
        retired: &mut Vec<LoadedBlock>,
    ) -> Result<Option<(Prefix, *const u8)>> {
        match self {
            Self::Memory(reader) => {
                let records = &reader.run.records[..reader.end];
                let record = records.get(reader.next).map(|record| {
                    reader.next += 1;
                    (record.prefix, reader.run.rows[record.row as usize])
                });
                Ok(record)
            }
            Self::File(reader) => {
                while reader.next == reader.rows.len() {
                    retired.extend(reader.loaded.take());
                    if reader.block == reader.part.rows.len() {
                        return Ok(None);
                    }
                    let loaded = reader.part.load_block(reader.block, store)?;
                    reader.rows.clear();
                    loaded.push_rows(&mut reader.rows);
                    reader.loaded = Some(loaded);
                    reader.block += 1;
                    reader.next = 0;
                    reader.prefixed = 0;
                }
                if reader.next == reader.prefixed {
                    reader.compute_prefixes(keys, store, buffer);
                }
                let prefix =
                    reader.prefixes[reader.prefixes.len() - (reader.prefixed - reader.next)];
                let row = reader.rows[reader.next];
                reader.next += 1;
                Ok(Some((prefix, row)))
            }
        }
    }
}

impl FileReader {
    /// Computes the prefixes of some rows. Their strings may be anywhere in memory: all are prefetched before the
    /// first is read, so that the waits overlap.
    fn compute_prefixes(&mut self, keys: &SortKeys, store: &StoreRef, buffer: &mut PrefixBuffer) {
        let end = self.rows.len().min(self.next + AHEAD_ROWS);
        let rows = &self.rows[self.next..end];
        let values = Resolver::stored(&store.directory);
        // SAFETY: rows of the store whose values are loaded.
        unsafe {
            for row in rows {
                keys.prefetch(*row, values);
            }
            self.prefixes.clear();
            let prefixes = keys.prefixes(Place::default(), rows.iter().copied(), values, buffer);
            self.prefixes
                .extend(prefixes.iter().map(PrefixBytes::prefix));
        }
        self.prefixed = end;
    }
}
