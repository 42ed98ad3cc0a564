//! Rows that queries in a statement have locked before the statement runs.

use std::sync::Arc;

use mayfly_memory::Reservation;
use mayfly_plan::TableSource;
use mayfly_storage::Table;

/// No name of a table begins so.
const NAME: &str = "\0locked ";

/// Rows of a query that has locked them, for the statement that it is a part of.
#[derive(Debug)]
pub(crate) struct LockedRows {
    pub(crate) source: Arc<TableSource>,
    pub(crate) table: Arc<dyn Table>,
    /// What they take.
    #[expect(dead_code, reason = "the memory is held as long as the rows are")]
    pub(crate) memory: Reservation,
}

/// The name of a table that stands for rows of a statement, by their position.
pub(crate) fn name_of(position: usize) -> String {
    format!("{NAME}{position}")
}

/// The position among the rows of a statement that a name of a table stands for.
pub(crate) fn position_of(name: &str) -> Option<usize> {
    name.strip_prefix(NAME)?.parse().ok()
}
