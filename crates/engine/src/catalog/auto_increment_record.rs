//! Records of AUTO_INCREMENT counters in the data directory.
//!
//! A durable table with such a column has one record beside its definition, because the counter changes with the rows.
//! Its key is the tree of the rows, so it stays when the table is renamed, and is removed with the tree.

use mayfly_storage::{DurableTransaction, TreeId};
use mayfly_types::Result;

use super::trees::Trees;

const NUMBER: &str = "number\0";

/// The key of the record of an AUTO_INCREMENT counter.
pub(super) fn number_name(rows: TreeId) -> Vec<u8> {
    format!("{NUMBER}{rows}").into_bytes()
}

/// The recorded AUTO_INCREMENT counter of a table.
pub(super) fn next_number(transaction: &DurableTransaction, trees: &Trees) -> Result<u64> {
    let record = transaction.record(&number_name(trees.rows))?;
    let number = record.and_then(|record| Some(u64::from_le_bytes(record.try_into().ok()?)));
    Ok(number.unwrap_or(1))
}

/// Records the AUTO_INCREMENT counter, when the transaction commits.
pub(super) fn set_next_number(
    transaction: &DurableTransaction,
    trees: &Trees,
    next: u64,
) -> Result<()> {
    transaction.set_record(&number_name(trees.rows), Some(&next.to_le_bytes()))
}
