//! The trait of tables with a name: what the layers above may ask of any of them.
//!
//! A table is columns of physical types, numbered from 0. A [`Table`] is one statement's handle to
//! it, opened for a transaction: it sees a snapshot, and what the transaction itself has
//! changed before. It is scanned in batches by several workers at once, or read through an index;
//! rows are added, changed and removed by a [`TableWriter`], for whose statement they become visible
//! when it finishes.
//!
//! Every row has a position, a short string of bytes that names it as long as it lives and by which
//! rows are in the table's own order. Scans give it as the column [`ColumnId::POSITION`].
//!
//! What is absent: names, SQL types, defaults, constraints. They belong to the catalog above.

use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;

use arrow_array::{ArrayRef, UInt32Array};
use mayfly_types::{Batch, Error, PhysicalType, Result, Value};

use crate::row_filter::{FilteredRows, RowFilter};
use crate::scan_request::{ColumnId, ScanRequest};
use crate::temptable::KeyMode;

/// An index of a table, by its index in [`Table::indexes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexId(pub usize);

/// A part of an index's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexPart {
    /// Which column of the table.
    pub column: usize,
    /// How its values are compared.
    pub mode: KeyMode,
    /// Only so many characters (bytes of a binary string) are in the index.
    pub prefix: Option<u32>,
    /// Largest first.
    pub descending: bool,
}

impl IndexPart {
    /// A whole column, smallest first.
    pub fn new(column: usize, mode: KeyMode) -> Self {
        Self {
            column,
            mode,
            prefix: None,
            descending: false,
        }
    }
}

/// An index of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// What its rows are found by; NULL is smaller than every value.
    pub parts: Vec<IndexPart>,
    /// No two rows are equal in all parts, unless one is NULL.
    pub unique: bool,
    /// The table's rows are in this order: the primary key. At most one, and its parts are never NULL.
    pub clustered: bool,
    /// HASH: finds equal keys only and gives no order.
    pub hash: bool,
}

impl IndexSpec {
    /// An index with an order, of whole columns compared as numbers or bytes.
    pub fn binary(columns: &[usize], unique: bool, clustered: bool) -> Self {
        let part = |column: &usize| IndexPart::new(*column, KeyMode::Binary);
        Self {
            parts: columns.iter().map(part).collect(),
            unique,
            clustered,
            hash: false,
        }
    }
}

/// Where a range of keys begins or ends: values for the first parts of an index. Of fewer values
/// than parts, all keys that begin with them are meant.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyBound {
    /// The first or last key of the index.
    Unbounded,
    /// These too.
    Included(Vec<Value>),
    /// All before, or after, these.
    Excluded(Vec<Value>),
}

/// Keys between two bounds, in the order of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// Where it begins.
    pub start: KeyBound,
    /// Where it ends.
    pub end: KeyBound,
}

impl KeyRange {
    /// All keys.
    pub const ALL: Self = Self {
        start: KeyBound::Unbounded,
        end: KeyBound::Unbounded,
    };

    /// The keys that begin with these values.
    pub fn equal(values: Vec<Value>) -> Self {
        Self {
            start: KeyBound::Included(values.clone()),
            end: KeyBound::Included(values),
        }
    }
}

/// How much a table holds, for the optimizer and SHOW TABLE STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableStatistics {
    /// Rows.
    pub rows: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Bytes in files.
    pub disk_bytes: u64,
    /// What the MEMORY engine says of a table of its own.
    pub declared: Option<DeclaredSize>,
}

/// What a lock lets other transactions do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// FOR SHARE: lock it in the same way.
    Shared,
    /// FOR UPDATE and every change: nothing but read older versions.
    Exclusive,
}

/// What a read of a table forbids to other transactions until this one ends. Rows that were found are
/// locked by [`Table::lock`] beside that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadLock {
    /// Nothing: what is read is a snapshot.
    #[default]
    None,
    /// Adding rows to the ranges that are read.
    Gaps,
    /// Adding rows there, and changing those that are there.
    Shared,
    /// The same, and reading them so.
    Exclusive,
}

/// What is done about a row that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Wait so long, then 1205; 1213 when waiting would never end.
    For(Duration),
    /// NOWAIT: 3572.
    No,
    /// SKIP LOCKED: leave it out.
    Skip,
}

/// What came of locking rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locked {
    /// They are as they were read. True for those that were locked, false for those that were
    /// skipped.
    Unchanged(Vec<bool>),
    /// Some are not as this handle read them: the statement must start anew with a new handle. It
    /// keeps its locks.
    Changed,
}

/// A row that has the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The first index, in their order, in which it has.
    pub index: IndexId,
    /// The row that is there already.
    pub position: Vec<u8>,
}

/// How far rows were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsWritten {
    /// So many, the first ones.
    pub rows: usize,
    /// Why not the next one; of a row that is refused nothing is written.
    pub duplicate: Option<Duplicate>,
}

/// How much a table is said to hold, for SHOW TABLE STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeclaredSize {
    /// Bytes of every row.
    pub row_bytes: u64,
    /// Bytes of all blocks of rows.
    pub data_bytes: u64,
    /// What they could grow to.
    pub max_data_bytes: u64,
    /// Bytes of the indexes.
    pub index_bytes: u64,
    /// Bytes of deleted rows, which new ones take first.
    pub free_bytes: u64,
}

/// What came of changing a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    /// There is no such row.
    Missing,
    /// It is already as it was to become.
    Same,
    /// It was changed.
    Done,
    /// Another row has the same key; nothing was changed.
    Duplicate,
}

/// One statement's handle to a table.
pub trait Table: Send + Sync + Debug {
    /// The types of the columns.
    fn columns(&self) -> &[PhysicalType];

    /// The indexes, unique ones first, the primary key before all.
    fn indexes(&self) -> &[IndexSpec] {
        &[]
    }

    /// How much it holds now.
    fn statistics(&self) -> TableStatistics;

    /// How many different keys the first `parts` parts of an index have, about.
    fn distinct_keys(&self, index: IndexId, parts: usize) -> u64 {
        let _ = (index, parts);
        self.statistics().rows
    }

    /// ANALYZE TABLE: looks at the keys anew for what `distinct_keys` tells.
    fn analyze(&self) -> Result<()> {
        Ok(())
    }

    /// How many rows lie in a range of an index, about: what a look at its ends tells.
    fn rows_in_range(&self, index: IndexId, range: &KeyRange) -> Result<u64> {
        let _ = (index, range);
        Ok(self.statistics().rows)
    }

    /// About so many rows for statistics, in runs of rows that stand side by side: the same ones as long as
    /// the table is the same, and all of a table that has no more. Nothing is locked.
    fn sample(
        &self,
        columns: &[ColumnId],
        rows: usize,
        take: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        let _ = (columns, rows, take);
        Ok(())
    }

    /// A scan over the rows that the handle sees. A scan of no column gives batches that only count rows.
    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>>;

    /// Whether a scan makes use of [`ScanRequest::terms`].
    fn takes_terms(&self) -> bool {
        false
    }

    /// The rows whose keys lie in one of the ranges, which are given in the index's order and do not
    /// overlap: in the index's order, or in the opposite one. One worker's scan is in order; rows of
    /// several workers are in order for each of them.
    fn index_scan(
        &self,
        index: IndexId,
        ranges: &[KeyRange],
        reverse: bool,
        columns: &[ColumnId],
    ) -> Result<Box<dyn TableScan>> {
        let _ = (index, ranges, reverse, columns);
        Err(no_index())
    }

    /// The rows whose first key parts equal a row of `keys` (one array a part): the columns of the
    /// rows that were found, and for each the row of `keys`, ascending. NULL finds nothing, except in
    /// the parts for which `null_safe` says so.
    fn index_lookup(
        &self,
        index: IndexId,
        keys: &[ArrayRef],
        null_safe: &[bool],
        columns: &[ColumnId],
    ) -> Result<(Batch, UInt32Array)> {
        let _ = (index, keys, null_safe, columns);
        Err(no_index())
    }

    /// The rows at these positions, all of which exist, in their order.
    fn fetch(&self, positions: &ArrayRef, columns: &[ColumnId]) -> Result<Batch> {
        let _ = (positions, columns);
        Err(no_index())
    }

    /// Locks rows until the transaction ends. Tables that one session alone sees have nothing to
    /// lock.
    fn lock(&self, positions: &ArrayRef, mode: LockMode, wait: LockWait) -> Result<Locked> {
        let _ = (mode, wait);
        Ok(Locked::Unchanged(vec![true; positions.len()]))
    }

    /// Says how what is read from here on is locked, and how long a read waits for such a lock. Tables that
    /// one session alone sees have nothing to lock.
    fn lock_reads(&self, lock: ReadLock, wait: LockWait) {
        let _ = (lock, wait);
    }

    /// A writer of changes.
    fn writer(&self) -> Result<Box<dyn TableWriter>>;

    /// Removes every row. Scans that are open keep theirs.
    fn truncate(&self) -> Result<()>;
}

/// Rows of a run of a sample.
const SAMPLE_RUN: usize = 32;

/// A run of a sample: which piece of the table (a block, a page) it is in, and where in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleRun {
    pub(crate) piece: usize,
    /// Of so many runs in the piece, the how manieth.
    part: (usize, usize),
}

impl SampleRun {
    /// The rows of the run in its piece, which has so many.
    pub(crate) fn rows(self, of_piece: usize) -> Range<usize> {
        let (number, count) = self.part;
        let (first, end) = (number * of_piece / count, (number + 1) * of_piece / count);
        let room = (end - first).saturating_sub(SAMPLE_RUN) + 1;
        // The fractional parts of the multiples of the golden ratio are spread evenly: anywhere in the piece,
        // but always there.
        let spread = ((self.piece + number) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let start = first + ((spread * room as u64) >> 32) as usize;
        start..end.min(start + SAMPLE_RUN)
    }
}

/// The runs of a sample of so many rows of so many pieces.
pub(crate) fn sample_runs(pieces: usize, rows: usize) -> impl Iterator<Item = SampleRun> {
    let runs = (rows / SAMPLE_RUN).max(1);
    let chosen = pieces.min(runs);
    (0..chosen).flat_map(move |piece| {
        let count = (piece + 1) * runs / chosen - piece * runs / chosen;
        let piece = piece * pieces / chosen;
        (0..count).map(move |number| SampleRun {
            piece,
            part: (number, count),
        })
    })
}

pub(crate) fn no_index() -> Error {
    Error::internal("the table has no index of that number")
}

/// One worker's cursor.
pub trait TableScan: Send {
    /// The next rows; `None` at the end. Never an empty batch.
    fn next_batch(&mut self) -> Result<Option<Batch>>;

    /// The next rows that a filter wants; `None` at the end. A store may read the columns that the filter
    /// looks at first, and the others for the rows that it wants alone.
    fn next_filtered(&mut self, filter: &mut dyn RowFilter) -> Result<Option<FilteredRows>> {
        let Some(batch) = self.next_batch()? else {
            return Ok(None);
        };
        FilteredRows::of(batch, filter).map(Some)
    }

    /// Tells that strings of these columns, by their places among those of the scan, may come as
    /// [codes](mayfly_types::coded). A filter sees the strings.
    fn give_codes(&mut self, columns: &[usize]) {
        let _ = columns;
    }

    /// Tells that no more than so many rows will be read: a store need not look for others.
    fn first_rows(&mut self, rows: u64) {
        let _ = rows;
    }

    /// A cursor for another worker: the workers of one scan share its rows between them.
    fn for_another_worker(&self) -> Box<dyn TableScan>;
}

/// Changes rows. Dropping it without [`Self::finish`] forgets what it did. Its changes are seen by
/// handles that are opened after it finished, and by its own checks of unique keys at once.
pub trait TableWriter: Send {
    /// Appends rows, whose columns are the table's. The table has no unique index, or the rows are
    /// known to be new.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    /// Says that a row with a key of another row will be refused or left out, and the other one stays as it is: it
    /// is enough to share its lock.
    fn refuses_duplicates(&mut self) {}

    /// Adds rows up to the first that has a key of another row.
    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        self.append(batch)?;
        Ok(RowsWritten {
            rows: batch.row_count(),
            duplicate: None,
        })
    }

    /// Puts rows in place of those at `positions`, up to the first that would have a key of another
    /// row. A row whose primary key changes gets another position.
    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        let _ = (positions, rows);
        Err(read_only())
    }

    /// Removes the rows at `positions`; how many were there.
    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        let _ = positions;
        Err(read_only())
    }

    /// The columns of the row at a position as it is now, with what this writer has done to it.
    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        let _ = position;
        Err(read_only())
    }

    /// The positions of rows whose first key parts equal `key` (one array of one value a part, none
    /// NULL), as they are now, with what this writer has done; each is locked. The first `limit`.
    fn find(
        &mut self,
        index: IndexId,
        key: &[ArrayRef],
        mode: LockMode,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let _ = (index, key, mode, limit);
        Err(no_index())
    }

    /// Makes the changes visible to the transaction's next statements, all at once.
    fn finish(self: Box<Self>) -> Result<()>;
}

fn read_only() -> Error {
    Error::internal("rows of this table are only appended")
}
