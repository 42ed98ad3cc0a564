//! Beginning and end of a writer's bulk load of an empty table (see [`super::bulk`]).
//!
//! The load needs the lock of the whole table, so that nobody else adds a row that it does not see. It ends when the
//! statement wants to read or change a row that it has added.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use mayfly_types::{Batch, Error, Result};

use super::bulk::{Bulk, BulkTree, Limits};
use super::row_source::BatchKeys;
use super::table::writer::{DurableWriter, WHOLE_TABLE, written};
use crate::table::{Duplicate, LockMode, LockWait, RowsWritten};

/// Smallest insert, in rows, that bulk loads an empty table.
const BULK_ROWS: usize = 256;

impl DurableWriter {
    /// Begins a bulk load, if the table is empty and nobody else writes to it.
    pub(super) fn begin_bulk(&mut self, rows: usize) -> Result<()> {
        let is_new = std::mem::take(&mut self.is_new);
        let definition = Arc::clone(&self.table.definition);
        let tree = definition.rows();
        if !is_new || rows < BULK_ROWS {
            return Ok(());
        }
        let before = self.table.statement.transaction.tree_changes(tree);
        if before.is_some() || self.newest.block_of(tree, &[])?.is_some() {
            return Ok(());
        }
        // Rows that other transactions have removed since are still visible to this transaction.
        let snapshot = self.table.statement.transaction.snapshot.get()?;
        if let Some(snapshot) = snapshot
            && snapshot.block_of(tree, &[])?.is_some()
        {
            return Ok(());
        }
        let exclusive = LockMode::Exclusive;
        let locked = self
            .table
            .lock_key(tree, WHOLE_TABLE, exclusive, LockWait::Skip)?;
        self.refresh()?;
        if locked && self.newest.block_of(tree, &[])?.is_none() {
            let transaction = &self.table.statement.transaction;
            let limits = Limits::of(&transaction.storage.memory);
            self.bulk = Bulk::new(&transaction.store, limits, &definition);
        }
        Ok(())
    }

    /// Adds rows to the load. If it stops at a row that is no duplicate, memory is exhausted.
    pub(super) fn load(
        &mut self,
        bulk: &mut Bulk,
        batch: &Batch,
        check: bool,
    ) -> Result<RowsWritten> {
        let definition = Arc::clone(&self.table.definition);
        let arrays = batch.columns();
        let store = &self.table.statement.transaction.store;
        let keys = BatchKeys::new(&definition, store, arrays, batch.row_count())?;
        let primary = definition.primary();
        let secondary = &keys.secondary;
        let first = bulk.rows.pending();
        let firsts: Vec<usize> = bulk.secondary.iter().map(BulkTree::pending).collect();
        let mut position = Vec::new();
        let mut key = Vec::new();
        // The row of each entry of a multi-valued index.
        let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); secondary.len()];
        let mut found = None;
        let mut count = 0;
        'rows: for row in 0..batch.row_count() {
            keys.position(row, &mut position);
            if primary.is_some()
                && check
                && let Some(more) = bulk.memory_for_primary(&position)
                && !self.has_memory_for(bulk.memory() + more)
            {
                break;
            }
            if let (Some((index, _)), true) = (primary, check)
                && bulk.has_primary(&position)?
            {
                let position = std::mem::take(&mut position);
                found = Some(Duplicate { index, position });
                break;
            }
            for (number, (id, _)) in definition.secondary().enumerate() {
                let Some(unique) = bulk.unique[number].as_mut().filter(|_| check) else {
                    continue;
                };
                if secondary[number].has_null(row) {
                    continue;
                }
                secondary[number].each_entry(row, &mut key, |key| {
                    if found.is_none()
                        && let Some(position) = unique.find(key)
                    {
                        let index = id;
                        found = Some(Duplicate { index, position });
                    }
                    Ok::<_, Error>(())
                })?;
                if found.is_some() {
                    break 'rows;
                }
            }
            if let Some(keys) = &mut bulk.primary {
                keys.add(&position, &[]);
            }
            bulk.rows.push_key(&position);
            for (number, keys) in secondary.iter().enumerate() {
                let has_null = keys.has_null(row);
                keys.each_entry(row, &mut key, |key| {
                    if let (Some(unique), false) = (&mut bulk.unique[number], has_null) {
                        unique.add(key, &position);
                    }
                    key.extend_from_slice(&position);
                    bulk.secondary[number].push_key(key);
                    if keys.is_multi_valued() {
                        rows_of[number].push(row as u32);
                    }
                    Ok::<_, Error>(())
                })?;
            }
            count += 1;
        }
        let all: Vec<&ArrayRef> = arrays.iter().collect();
        bulk.rows.push_columns(&all, first, count)?;
        for (number, (_, index)) in definition.secondary().enumerate() {
            let (tree, first) = (&mut bulk.secondary[number], firsts[number]);
            if !index.encoder.is_multi_valued() {
                let columns: Vec<&ArrayRef> = index.arrays(arrays).collect();
                tree.push_columns(&columns, first, count)?;
                continue;
            }
            let rows = UInt32Array::from(std::mem::take(&mut rows_of[number]));
            let columns = index.arrays(arrays);
            let columns = columns.map(|column| take(column, &rows, None).map_err(Error::internal));
            let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
            let columns: Vec<&ArrayRef> = columns.iter().collect();
            tree.push_columns(&columns, first, rows.len())?;
        }
        Ok(written(count, found))
    }

    /// Ends the load: from now on, changes are laid over the loaded rows.
    pub(super) fn leave_bulk(&mut self) -> Result<()> {
        if let Some(bulk) = self.bulk.take() {
            self.table.statement.transaction.join(bulk.finish()?)?;
        }
        Ok(())
    }
}
