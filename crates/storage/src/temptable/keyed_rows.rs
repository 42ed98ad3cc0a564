//! Rows of a table by their keys, in memory or out of it, for lookups of a few keys at a time.
//!
//! A [`JoinIndex`](super::JoinIndex) needs all rows in memory, and a [`PartitionQueue`](super::PartitionQueue) reads all of them once to join
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

/// Number of rows that are added between two checks of the interrupt, while no page is in a file.
const ROWS_UNASKED: usize = 16;

/// Rows by their keys. Several workers may look keys up at once.
#[derive(Debug)]
pub struct KeyedRows {
    rows: Arc<dyn Table>,
    made: UserTable,
    null_safe: Vec<bool>,
    // Dropped after the rows, which take their memory and space from its budgets.
    table: TempTable,
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
            interrupt: store.context.interrupt().clone(),
            is_private: false,
        };
        let made = UserTable::new(context, spec.columns.clone(), vec![index]);
        let interrupt = store.context.interrupt();
        let undo = UndoLog::default();
        let mut writer = made.open(&store.context, &undo).writer()?;
        let partitions = self.partitions();
        while let Some(taken) = partitions.next_taken()? {
            let (Taken::Loaded(mut partition) | Taken::Large(mut partition)) = taken;
            while let Some(batch) = partition.read_next()? {
                let mut done = 0;
                while done < batch.row_count() {
                    // A row may be several pages of a file, so that the statement can end between two.
                    let step = if made.has_overflowed() {
                        1
                    } else {
                        ROWS_UNASKED
                    };
                    let rows = step.min(batch.row_count() - done);
                    let added = writer.append(&batch.slice(done, rows));
                    // Of an interrupt the statement knows the reason.
                    added.map_err(|error| interrupt.check().err().unwrap_or(error))?;
                    done += rows;
                }
            }
        }
        writer.finish()?;
        Ok(KeyedRows {
            rows: made.open(&store.context, &undo),
            made,
            null_safe: keys.iter().map(|key| key.null_safe).collect(),
            table: self,
        })
    }
}

impl KeyedRows {
    /// Finds the rows whose keys equal a row of `keys` (one array per key column): the columns of the rows found, and
    /// for each the index of the row of `keys`, ascending.
    pub fn find(&self, keys: &[ArrayRef], columns: &[usize]) -> Result<(Batch, UInt32Array)> {
        let columns: Vec<ColumnId> = columns.iter().copied().map(ColumnId).collect();
        let found = self
            .rows
            .index_lookup(IndexId(0), keys, &self.null_safe, &columns)?;
        match self.made.take_unrelieved() {
            // A table of a statement is not there to try again later.
            Some(error) => Err(self.table.error(&error)),
            None => Ok(found),
        }
    }
}
