//! Rows that queries in a statement have locked before the statement itself runs.

use std::sync::Arc;

use mayfly_memory::Reservation;
use mayfly_plan::TableSource;
use mayfly_storage::Table;

/// Prefix of the generated names, which no table's name has.
const NAME: &str = "\0locked ";

/// Rows of a locking query, for the statement that it is a part of.
#[derive(Debug)]
pub(crate) struct LockedRows {
    pub(crate) source: Arc<TableSource>,
    pub(crate) table: Arc<dyn Table>,
    /// The memory of the rows.
    #[expect(dead_code, reason = "the memory is held as long as the rows are")]
    pub(crate) memory: Reservation,
}

/// The generated table name of the locked rows at a position.
pub(crate) fn name_of(position: usize) -> String {
    format!("{NAME}{position}")
}

/// The position among a statement's locked rows of a generated table name.
pub(crate) fn position_of(name: &str) -> Option<usize> {
    name.strip_prefix(NAME)?.parse().ok()
}
