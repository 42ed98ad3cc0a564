//! Rows that a round of a recursion added, which the next one reads.

use mayfly_storage::TempTable;
use mayfly_types::Batch;

/// Rows of a round.
#[derive(Debug)]
pub(crate) enum Round {
    /// Few rows, in memory.
    Batch(Batch),
    /// More rows, in a table.
    Table(TempTable),
}

impl Round {
    pub(crate) fn row_count(&self) -> u64 {
        match self {
            Self::Batch(batch) => batch.row_count() as u64,
            Self::Table(table) => table.row_count(),
        }
    }
}
