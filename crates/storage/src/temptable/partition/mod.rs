//! Partitions: rows whose keys share a part of their hash, so that a partition has all rows of a key.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

pub(crate) mod join_index;
mod join_window;

use std::cell::Cell;
use std::ops::Range;

use mayfly_memory::Reservation;
use mayfly_types::{Batch, Result};

use self::join_index::JoinIndex;
use super::group_index::{GroupIndex, Groups};
use super::rows::{Gather, HASH_MASK, RowKeys};
use super::sorted::sort_rows;
use super::spec::{Access, SortKey};
use super::store::{LoadedBlock, LoadedValues, Part, PendingRows, StoreRef};
use super::table::TempTable;

/// Memory per row of its address, its group number and first rows, without the hash table: charged with a partition.
const ADDRESS_BYTES_PER_ROW: u64 = 16;

pub(crate) fn row_count(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.row_count).sum()
}

/// Partition of a table: rows whose keys share a part of their hash, all rows of a key among them.
pub struct Partition {
    // Declared before `parts`: what is loaded is released before its block numbers are.
    loaded: Vec<LoadedValues>,
    reading: Reading,
    parts: Vec<Part>,
    table: TempTable,
    /// The rows, if the partition is in memory.
    rows: Vec<*const u8>,
    row_count: usize,
    gather: Cell<Gather>,
    /// Reservation for the rows' addresses and group numbers.
    reservation: Option<Reservation>,
}

/// Position of the reader.
#[derive(Default)]
struct Reading {
    part: usize,
    block: usize,
    pending: PendingRows,
}

// SAFETY: the addresses are of blocks that move with this value.
unsafe impl Send for Partition {}

impl Partition {
    pub(crate) fn unloaded(table: &TempTable, parts: Vec<Part>) -> Self {
        Self {
            loaded: Vec::new(),
            reading: Reading::default(),
            row_count: row_count(&parts) as usize,
            parts,
            table: table.clone(),
            rows: Vec::new(),
            gather: Cell::default(),
            reservation: None,
        }
    }

    pub(crate) fn load(table: &TempTable, parts: Vec<Part>) -> mayfly_memory::Result<Self> {
        let mut partition = Self::unloaded(table, parts);
        let store = &table.0.store;
        let bytes = partition.row_count as u64 * ADDRESS_BYTES_PER_ROW;
        partition.reservation = Some(store.reserve_working_set(bytes)?);
        partition.rows.reserve_exact(partition.row_count);
        for part in &mut partition.parts {
            partition.loaded.push(part.load_all(store)?);
            part.push_rows(store, &mut partition.rows);
        }
        Ok(partition)
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Columns of the rows in `range`, in the partition's order. The partition must be in memory.
    pub fn read(&self, columns: &[usize], range: Range<usize>) -> Result<Batch> {
        Ok(self.gather_rows(columns, &self.rows[range]))
    }

    /// Columns of the rows with these indexes, in that order. The partition must be in memory.
    pub fn gather(&self, columns: &[usize], rows: &[u32]) -> Result<Batch> {
        let rows: Vec<_> = rows.iter().map(|row| self.rows[*row as usize]).collect();
        Ok(self.gather_rows(columns, &rows))
    }

    fn gather_rows(&self, columns: &[usize], rows: &[*const u8]) -> Batch {
        let store = &self.table.0.store;
        let mut gather = self.gather.take();
        // SAFETY: the rows are in the partition's blocks, their values in memory.
        let batch = unsafe { store.read(&mut gather, rows, columns.iter().copied()) };
        self.gather.set(gather);
        batch
    }

    /// The next rows, all columns, from first to last; `None` at the end. Works for a partition on disk, too, such as
    /// a probe side.
    pub fn read_next(&mut self) -> Result<Option<Batch>> {
        let store = &self.table.0.store;
        let batch_rows = store.context.options().batch_rows.max(1);
        let filled = self.reading.fill(&self.parts, store, batch_rows);
        filled.map_err(|error| self.table.error(&error))?;
        let mut reading = std::mem::take(&mut self.reading);
        let rows = reading.pending.give(batch_rows);
        let columns: Vec<usize> = (0..self.table.spec().columns.len()).collect();
        let batch = (!rows.is_empty()).then(|| self.gather_rows(&columns, rows));
        self.reading = reading;
        Ok(batch)
    }

    /// [`Self::read_next`], but also returns the hash of each row's key for [`JoinIndex::probe_hashed`], so that keys
    /// are not hashed twice.
    pub(crate) fn read_next_hashed(&mut self, hashes: &mut Vec<u64>) -> Result<Option<Batch>> {
        let batch = self.read_next()?;
        hashes.clear();
        if let Some(batch) = &batch {
            let rows = self.reading.pending.last_given(batch.row_count());
            // SAFETY: a row starts with its header, and these were just read.
            let header = |row: &*const u8| unsafe { row.cast::<u64>().read_unaligned() };
            hashes.extend(rows.iter().map(|row| header(row) & HASH_MASK));
        }
        Ok(batch)
    }

    /// Restarts [`Self::read_next`] at the first row. The order of rows is stable.
    pub(crate) fn rewind(&mut self) {
        self.reading = Reading::default();
    }

    /// An index over the next rows of a partition that is not in memory, as many as a worker may hold; `None` after
    /// the last.
    pub(crate) fn next_piece(&mut self) -> Result<Option<JoinIndex>> {
        self.load_piece().map_err(|error| self.table.error(&error))
    }

    fn load_piece(&mut self) -> mayfly_memory::Result<Option<JoinIndex>> {
        let store = &self.table.0.store;
        let bytes_max = store.worker_share() as usize;
        let (mut blocks, mut rows, mut bytes) = (Vec::new(), Vec::new(), 0);
        while bytes < bytes_max
            && let Some(block) = self.reading.next_block(&self.parts, store)?
        {
            bytes += block.bytes_read() + block.row_count() * join_index::BYTES_PER_ROW as usize;
            block.push_rows(&mut rows);
            blocks.push(block);
        }
        if blocks.is_empty() {
            return Ok(None);
        }
        JoinIndex::of_rows(PartitionRows {
            rows,
            _holds: Holds::Blocks(blocks),
            table: self.table.clone(),
        })
        .map(Some)
    }

    /// Stable sort of the rows by keys. The partition must be in memory.
    pub fn sort(&mut self, keys: &[SortKey]) -> Result<()> {
        let store = &self.table.0.store;
        // SAFETY: the rows are in the partition's blocks, their values in memory.
        let sorted = unsafe { sort_rows(store, keys, &mut self.rows) };
        sorted.map_err(|error| self.table.error(&error))
    }

    /// Groups the rows by key, with groups numbered in the order of their first rows. The partition must be in memory.
    pub fn groups(&self) -> Result<Groups> {
        let store = &self.table.0.store;
        let keys = RowKeys::new(&store.layout, self.table.hash_keys());
        // SAFETY: the rows are in the partition's blocks, their values in memory.
        let groups = unsafe { Groups::of(store, &keys, &self.rows) };
        groups.map_err(|error| self.table.error(&error))
    }

    /// A table for these rows with another access; see [`TempTable::beside`].
    pub fn table_beside(&self, access: Access) -> TempTable {
        self.table.beside(self.table.spec().columns.clone(), access)
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.table.spec().columns.len()
    }

    /// Indexes of the key columns.
    pub fn key_columns(&self) -> Vec<usize> {
        let keys = self.table.hash_keys().iter();
        keys.map(|key| key.column).collect()
    }

    /// An empty index for keys of the rows' key types.
    pub fn key_index(&self) -> Result<GroupIndex> {
        GroupIndex::for_table(&self.table)
    }

    /// Converts the partition into a join index of its rows by key.
    pub(crate) fn into_join_index(self) -> Result<JoinIndex> {
        let table = self.table.clone();
        JoinIndex::of_rows(self.into_rows()).map_err(|error| table.error(&error))
    }

    pub(crate) fn into_rows(self) -> PartitionRows {
        PartitionRows {
            rows: self.rows,
            _holds: Holds::Parts(self.loaded, self.parts),
            table: self.table,
        }
    }
}

/// Rows of a partition without its reader.
pub(crate) struct PartitionRows {
    pub(crate) rows: Vec<*const u8>,
    _holds: Holds,
    pub(crate) table: TempTable,
}

/// Owner of rows in memory; fields are in the order of release.
#[expect(dead_code, reason = "held, not read")]
enum Holds {
    Parts(Vec<LoadedValues>, Vec<Part>),
    Blocks(Vec<LoadedBlock>),
}

impl Reading {
    fn fill(
        &mut self,
        parts: &[Part],
        store: &StoreRef,
        batch_rows: usize,
    ) -> mayfly_memory::Result<()> {
        let bytes_max = store.read_ahead_bytes();
        while self.pending.is_short_of(batch_rows, bytes_max)
            && let Some(block) = self.next_block(parts, store)?
        {
            self.pending.add(block);
        }
        Ok(())
    }

    fn next_block(
        &mut self,
        parts: &[Part],
        store: &StoreRef,
    ) -> mayfly_memory::Result<Option<LoadedBlock>> {
        while let Some(part) = parts.get(self.part) {
            if self.block < part.rows.len() {
                let loaded = part.load_block(self.block, store)?;
                self.block += 1;
                return Ok(Some(loaded));
            }
            self.part += 1;
            self.block = 0;
        }
        Ok(None)
    }
}
