//! The trait of named tables, through which the layers above use every kind of table.
//!
//! A table has columns of physical types, numbered from 0. A [`Table`] is one statement's handle to it, opened for a
//! transaction: it sees a snapshot, and what the transaction itself has changed before. It is scanned in batches by
//! several workers at once, or read through an index; rows are added, changed and removed by a [`TableWriter`], whose
//! changes become visible to the transaction when it finishes.
//!
//! Every row has a position, a short byte string that identifies it for its lifetime and gives the table's own order.
//! Scans give it as the column [`ColumnId::POSITION`].
//!
//! Names, SQL types, defaults and constraints belong to the catalog above.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, UInt32Array};
use mayfly_types::{Batch, Error, IndexMethod, PhysicalType, Result, Value};

use crate::row_filter::{FilteredRows, RowFilter};
use crate::scan_request::{ColumnId, ScanRequest};
use crate::temptable::KeyMode;
use crate::tree_version::TreeVersion;

/// Index of a table, as an offset in [`Table::indexes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexId(pub usize);

/// Key part of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexPart {
    /// Index of the column in the table.
    pub column: usize,
    /// Comparison of the values.
    pub mode: KeyMode,
    /// Prefix length in characters (in bytes for a binary string); `None`: the whole column.
    pub prefix: Option<u32>,
    /// Whether the part is in descending order.
    pub descending: bool,
    /// Type of the elements, if the column holds [arrays](mayfly_types::typed_array): the part of an index with a
    /// [multi-valued](IndexMethod::MultiValued) key.
    pub elements: Option<PhysicalType>,
}

impl IndexPart {
    /// An ascending part of a whole column.
    pub fn new(column: usize, mode: KeyMode) -> Self {
        Self {
            column,
            mode,
            prefix: None,
            descending: false,
            elements: None,
        }
    }
}

/// Definition of an index of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Key parts; NULL is smaller than every value.
    pub parts: Vec<IndexPart>,
    /// Whether no two rows are equal in all parts, unless one is NULL.
    pub unique: bool,
    /// Number and order of its entries.
    pub method: IndexMethod,
}

impl IndexSpec {
    /// An index of whole columns that are compared as numbers or bytes.
    pub fn binary(columns: &[usize], unique: bool, method: IndexMethod) -> Self {
        let part = |column: &usize| IndexPart::new(*column, KeyMode::Binary);
        Self {
            parts: columns.iter().map(part).collect(),
            unique,
            method,
        }
    }
}

/// Bound of a key range: values of the first parts of an index. With fewer values than parts, it stands for all keys
/// that begin with them.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyBound {
    /// No bound.
    Unbounded,
    /// Keys with these values are inside.
    Included(Vec<Value>),
    /// Keys with these values are outside.
    Excluded(Vec<Value>),
}

/// Key range between two bounds, in index order.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// Lower bound.
    pub start: KeyBound,
    /// Upper bound.
    pub end: KeyBound,
}

impl KeyRange {
    /// The range of all keys.
    pub const ALL: Self = Self {
        start: KeyBound::Unbounded,
        end: KeyBound::Unbounded,
    };

    /// The range of keys that begin with these values.
    pub fn equal(values: Vec<Value>) -> Self {
        Self {
            start: KeyBound::Included(values.clone()),
            end: KeyBound::Included(values),
        }
    }
}

/// Size of a table, for the optimizer and SHOW TABLE STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableStatistics {
    /// Number of rows.
    pub rows: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Bytes in files.
    pub disk_bytes: u64,
    /// Figures that the MEMORY engine reports instead, for its tables.
    pub declared: Option<DeclaredSize>,
}

/// Mode of a row lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// FOR SHARE: others may lock in shared mode, too.
    Shared,
    /// FOR UPDATE and every change: others may only read older versions.
    Exclusive,
}

/// Lock of the ranges that a read covers, until the transaction ends. Rows that were found are also locked by
/// [`Table::lock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadLock {
    /// No lock: reads see a snapshot.
    #[default]
    None,
    /// Forbids adding rows to the ranges.
    Gaps,
    /// Forbids adding rows, and changing existing ones.
    Shared,
    /// Forbids adding and changing rows, and locking reads by others.
    Exclusive,
}

/// Reaction to a row that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Wait at most this long, then error 1205; error 1213 for a deadlock.
    For(Duration),
    /// NOWAIT: error 3572.
    No,
    /// SKIP LOCKED: leave the row out.
    Skip,
}

/// Result of locking rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locked {
    /// The rows are as they were read. True for each row that was locked, false for each that was skipped.
    Unchanged(Vec<bool>),
    /// Some rows are not as this handle read them: the statement must restart with a new handle. The locks are kept.
    Changed,
}

/// Duplicate key: an existing row with an equal key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The first index, in index order, with an equal key.
    pub index: IndexId,
    /// The position of the existing row.
    pub position: Vec<u8>,
}

/// How far a batch of rows was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsWritten {
    /// Number of rows written, from the first.
    pub rows: usize,
    /// Why the next row was refused; nothing of it is written.
    pub duplicate: Option<Duplicate>,
}

/// Size figures of a table, for SHOW TABLE STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeclaredSize {
    /// Bytes of every row.
    pub row_bytes: u64,
    /// Bytes of all blocks of rows.
    pub data_bytes: u64,
    /// Limit to which the data could grow.
    pub max_data_bytes: u64,
    /// Bytes of the indexes.
    pub index_bytes: u64,
    /// Bytes of deleted rows, which new ones take first.
    pub free_bytes: u64,
}

/// Result of changing a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    /// The row does not exist.
    Missing,
    /// The row already had these values.
    Same,
    /// The row was changed.
    Done,
    /// Another row has an equal key; nothing was changed.
    Duplicate,
}

/// State of the rows that a handle reads, by which others can tell whether they would read the same ones.
#[derive(Debug, Clone)]
pub enum TableState {
    /// The committed rows of a snapshot.
    Committed {
        /// Version of the rows: while it is at most `snapshot`, they are those of the snapshot.
        version: Arc<TreeVersion>,
        /// Number of the snapshot.
        snapshot: u64,
    },
    /// The newest rows, of a table without versions.
    Newest,
    /// Rows with changes that others do not see, or that are locked; or nothing is known about them.
    Own,
}

/// One statement's handle to a table.
pub trait Table: Send + Sync + Debug {
    /// The types of the columns.
    fn columns(&self) -> &[PhysicalType];

    /// The indexes: unique ones first, the primary key before all others.
    fn indexes(&self) -> &[IndexSpec] {
        &[]
    }

    /// The table's current size.
    fn statistics(&self) -> TableStatistics;

    /// The state of the rows that this handle reads.
    fn state(&self) -> TableState {
        TableState::Own
    }

    /// Estimate of the number of distinct values of the first `parts` parts of an index.
    fn distinct_keys(&self, index: IndexId, parts: usize) -> u64 {
        let _ = (index, parts);
        self.statistics().rows
    }

    /// ANALYZE TABLE: takes new statistics for [`Self::distinct_keys`].
    fn analyze(&self) -> Result<()> {
        Ok(())
    }

    /// Estimate of the number of rows in a range of an index, from a look at its ends.
    fn rows_in_range(&self, index: IndexId, range: &KeyRange) -> Result<u64> {
        let _ = (index, range);
        Ok(self.statistics().rows)
    }

    /// Sample of about `rows` rows for statistics, in runs of adjacent rows: the choice is stable while the table does
    /// not change, and a table with no more rows is read as a whole. Nothing is locked.
    fn sample(
        &self,
        columns: &[ColumnId],
        rows: usize,
        take: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        let _ = (columns, rows, take);
        Ok(())
    }

    /// Starts a scan of the rows that the handle sees. A scan without columns gives batches that only count rows.
    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>>;

    /// Starts a scan of the rows whose keys lie in one of the ranges, which are in index order and disjoint. Rows come
    /// in index order, or reversed; with several workers, each worker's rows are ordered.
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

    /// Finds the rows whose first key parts equal a row of `keys` (one array per part): the columns of the rows found,
    /// and for each the index of the row of `keys`, ascending. NULL finds nothing, except in parts that `null_safe`
    /// marks.
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

    /// Whether reading locks what is read: then a statement is to read no more of the table than it needs.
    fn locks_reads(&self) -> bool {
        false
    }

    /// The rows at these positions, all of which exist, in the order given.
    fn fetch(&self, positions: &ArrayRef, columns: &[ColumnId]) -> Result<Batch> {
        let _ = (positions, columns);
        Err(no_index())
    }

    /// Locks rows until the transaction ends. Tables of a single session have nothing to lock.
    fn lock(&self, positions: &ArrayRef, mode: LockMode, wait: LockWait) -> Result<Locked> {
        let _ = (mode, wait);
        Ok(Locked::Unchanged(vec![true; positions.len()]))
    }

    /// Sets how further reads lock, and how long they wait for such a lock. Tables of a single session have nothing to
    /// lock.
    fn lock_reads(&self, lock: ReadLock, wait: LockWait) {
        let _ = (lock, wait);
    }

    /// Creates a writer of changes.
    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Err(only_read())
    }

    /// Removes every row. Open scans keep theirs.
    fn truncate(&self) -> Result<()> {
        Err(only_read())
    }
}

/// Rows in a run of a sample.
const SAMPLE_RUN: usize = 32;

/// Run of a sample: a piece of the table (a block, a page) and a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleRun {
    pub(crate) piece: usize,
    /// (index, count): run `index` of `count` in the piece.
    part: (usize, usize),
}

impl SampleRun {
    /// The rows of the run in its piece of `of_piece` rows.
    pub(crate) fn rows(self, of_piece: usize) -> Range<usize> {
        let (number, count) = self.part;
        let (first, end) = (number * of_piece / count, (number + 1) * of_piece / count);
        let room = (end - first).saturating_sub(SAMPLE_RUN) + 1;
        // The fractional parts of the multiples of the golden ratio are evenly spread: pseudo-random places that are
        // the same every time.
        let spread = ((self.piece + number) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let start = first + ((spread * room as u64) >> 32) as usize;
        start..end.min(start + SAMPLE_RUN)
    }
}

/// The runs of a sample of `rows` rows from `pieces` pieces.
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

/// Cursor of one worker.
pub trait TableScan: Send {
    /// The next rows; `None` at the end. Never an empty batch.
    fn next_batch(&mut self) -> Result<Option<Batch>>;

    /// The next rows that pass a filter; `None` at the end. A store may read the columns that the filter needs first,
    /// and the others only for the rows that pass.
    fn next_filtered(&mut self, filter: &mut dyn RowFilter) -> Result<Option<FilteredRows>> {
        let Some(batch) = self.next_batch()? else {
            return Ok(None);
        };
        FilteredRows::of(batch, filter).map(Some)
    }

    /// Allows strings of these columns, by their indexes in the scan, to come as [dictionary
    /// codes](mayfly_types::coded). A filter sees the strings.
    fn give_codes(&mut self, columns: &[usize]) {
        let _ = columns;
    }

    /// Hints that no more than `rows` rows will be read.
    fn first_rows(&mut self, rows: u64) {
        let _ = rows;
    }

    /// A cursor for another worker: the workers of one scan share its rows between them.
    fn for_another_worker(&self) -> Box<dyn TableScan>;
}

/// Writer of row changes. Dropping it without [`Self::finish`] discards them. They are seen by handles that are opened
/// after it has finished, and by its own checks of unique keys at once.
pub trait TableWriter: Send {
    /// Appends rows of all columns. The table has no unique index, or the rows are known to be no duplicates.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    /// Announces that rows with a duplicate key will be refused or ignored, and the existing row is not changed: a
    /// shared lock on it is enough.
    fn refuses_duplicates(&mut self) {}

    /// Inserts rows up to the first with a duplicate key.
    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        self.append(batch)?;
        Ok(RowsWritten {
            rows: batch.row_count(),
            duplicate: None,
        })
    }

    /// Replaces the rows at `positions`, up to the first that would have a duplicate key. A row whose primary key
    /// changes gets another position.
    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        let _ = (positions, rows);
        Err(read_only())
    }

    /// Removes the rows at `positions`; returns how many existed.
    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        let _ = positions;
        Err(read_only())
    }

    /// Columns of the newest row at a position, including this writer's changes.
    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        let _ = position;
        Err(read_only())
    }

    /// Locks and returns the positions of the first `limit` rows whose first key parts equal `key` (one array of one
    /// value per part, none NULL), in their newest state with this writer's changes.
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

    /// Makes all changes visible to the transaction's next statements at once.
    fn finish(self: Box<Self>) -> Result<()>;
}

fn only_read() -> Error {
    Error::internal("rows of this table are only read")
}

fn read_only() -> Error {
    Error::internal("rows of this table are only appended")
}
