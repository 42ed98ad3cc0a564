//! The trait of tables with a name: what the layers above may ask of any of them.
//!
//! A table is columns of physical types, numbered from 0. It is scanned in batches by several
//! workers at once and sees, from the first batch to the last, the rows that were there when the
//! scan was opened. Rows are appended by a writer and become visible together when it finishes.
//!
//! What is absent: names, SQL types, defaults, constraints. They belong to the catalog above.

use std::fmt::Debug;

use mayfly_types::{Batch, PhysicalType, Result};

/// A column of a table, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub usize);

/// How much a table holds, for the optimizer and SHOW TABLE STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableStatistics {
    /// Rows.
    pub rows: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Bytes in files.
    pub disk_bytes: u64,
}

/// A table that can be scanned and appended to.
pub trait Table: Send + Sync + Debug {
    /// The types of the columns.
    fn columns(&self) -> &[PhysicalType];

    /// How much it holds now.
    fn statistics(&self) -> TableStatistics;

    /// A scan of these columns, in this order, over the rows that are there now. A scan of no column
    /// gives batches that only count rows.
    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>>;

    /// A writer of new rows.
    fn writer(&self) -> Result<Box<dyn TableWriter>>;

    /// Removes every row. Scans that are open keep theirs.
    fn truncate(&self) -> Result<()>;
}

/// One worker's cursor.
pub trait TableScan: Send {
    /// The next rows; `None` at the end. Never an empty batch.
    fn next_batch(&mut self) -> Result<Option<Batch>>;

    /// A cursor for another worker: the workers of one scan share its rows between them.
    fn for_another_worker(&self) -> Box<dyn TableScan>;
}

/// Appends rows. Dropping it without [`Self::finish`] forgets them.
pub trait TableWriter: Send {
    /// Appends the rows of a batch, whose columns are the table's.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    /// Makes the rows visible, all at once.
    fn finish(self: Box<Self>) -> Result<()>;
}
