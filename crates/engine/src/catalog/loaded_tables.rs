//! Records of the tables that are loaded into a secondary engine, in the data directory: a restart loads them again.
//!
//! The key is the tree of the rows, so a record is removed with the tree. It says that the table is to be loaded, not that
//! there is a copy: one that is there although it should not costs a load.

use std::collections::BTreeSet;

use mayfly_storage::{DurableStore, DurableTransaction, TreeId};
use mayfly_types::Result;

use super::trees::Trees;

const LOADED: &str = "loaded\0";

/// The key of the record of a loaded table.
pub(super) fn record_name(rows: TreeId) -> Vec<u8> {
    format!("{LOADED}{rows}").into_bytes()
}

/// Records whether a table is loaded, when the transaction commits.
pub(crate) fn set(transaction: &DurableTransaction, trees: &Trees, is_loaded: bool) -> Result<()> {
    let record = is_loaded.then_some(&[][..]);
    transaction.set_record(&record_name(trees.rows), record)
}

/// The trees of the rows of loaded tables.
pub(crate) fn all(store: &DurableStore) -> Result<BTreeSet<TreeId>> {
    let records = store.records(LOADED.as_bytes())?;
    let tree = |(name, _): (Vec<u8>, Vec<u8>)| {
        let name = String::from_utf8(name).ok()?;
        name.strip_prefix(LOADED)?.parse().ok()
    };
    Ok(records.into_iter().filter_map(tree).collect())
}
