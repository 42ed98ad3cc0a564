//! Rows of a table by their keys, in memory or out of it, for lookups of a few keys at a time.
//!
//! A [`JoinIndex`](super::JoinIndex) needs all rows in memory, and a [`PartitionQueue`] reads all of them once to join
//! them with all rows of another table. Where few keys are looked up, again and again (in the rounds of a recursion),
//! either would be made anew each time. So the rows move to the pages of CREATE TEMPORARY TABLE, under a tree of their
//! keys: a lookup touches a few pages, however many rows there are.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use mayfly_types::{Batch, IndexMethod, Result};

use super::partition_queue::Taken;
use super::spec::KeyColumn;
use super::table::TempTable;
use super::user::{UndoLog, UserTable, UserTableContext, UserTableEngine};
use crate::error::ANONYMOUS_TABLE;
use crate::scan_request::ColumnId;
use crate::table::{IndexId, IndexPart, IndexSpec, Table};

/// Rows by their keys. Several workers may look keys up at once.
#[derive(Debug)]
pub struct KeyedRows {
    rows: Arc<dyn Table>,
    null_safe: Vec<bool>,
    // Dropped after the rows, which take their memory and space from its budgets.
    _table: TempTable,
}

impl TempTable {
    /// The rows of a table with hash access, taken out of the table, by its keys.
    pub fn into_keyed_rows(self) -> Result<KeyedRows> {
        let keys: Vec<KeyColumn> = self.hash_keys().to_vec();
        let parts = keys.iter().map(|key| IndexPart::new(key.column, key.mode));
        let index = IndexSpec {
            parts: parts.collect(),
            unique: false,
            method: IndexMethod::BTree,
        };
        let (store, spec) = (&self.0.store, self.spec());
        let context = UserTableContext {
            resources: store.context.resources().clone(),
            // Beside the table's own budget: the rows that are still to be moved are charged to that one.
            memory: store.context.memory().clone(),
            temp_space: store.record.temp_space.clone(),
            memory_limit: store.memory_limit(),
            owner: store.context.shared().owner.clone(),
            purpose: spec.purpose,
            name: ANONYMOUS_TABLE.into(),
            engine: UserTableEngine::NonTransactional,
            is_private: false,
        };
        let made = UserTable::new(context, spec.columns.clone(), vec![index]);
        let undo = UndoLog::default();
        let mut writer = made.open(&store.context, &undo).writer()?;
        let partitions = self.partitions();
        while let Some(taken) = partitions.next_taken()? {
            let (Taken::Loaded(mut partition) | Taken::Large(mut partition)) = taken;
            while let Some(batch) = partition.read_next()? {
                writer.append(&batch)?;
            }
        }
        writer.finish()?;
        Ok(KeyedRows {
            rows: made.open(&store.context, &undo),
            null_safe: keys.iter().map(|key| key.null_safe).collect(),
            _table: self,
        })
    }
}

impl KeyedRows {
    /// Finds the rows whose keys equal a row of `keys` (one array per key column): the columns of the rows found, and
    /// for each the index of the row of `keys`, ascending.
    pub fn find(&self, keys: &[ArrayRef], columns: &[usize]) -> Result<(Batch, UInt32Array)> {
        let columns: Vec<ColumnId> = columns.iter().copied().map(ColumnId).collect();
        self.rows
            .index_lookup(IndexId(0), keys, &self.null_safe, &columns)
    }
}
