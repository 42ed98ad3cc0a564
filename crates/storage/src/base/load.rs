//! How a writer fills an empty table as a whole (see [`super::bulk`]).
//!
//! It needs the lock of the whole table, so that nobody else adds a row that is not seen. It ends when
//! the statement wants to read or change a row that it has added.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use mayfly_types::{Batch, Result};

use super::bulk::{Bulk, BulkTree, Keys, Limits};
use super::definition::TableDefinition;
use super::transaction::{NAME, Statement};
use super::writer::{BatchKeys, DurableWriter, WHOLE_TABLE, written};
use crate::error::user_error;
use crate::table::{ColumnId, Duplicate, IndexId, LockMode, LockWait, RowsWritten, Table};

/// An insert of so many rows at a time into an empty table fills it as a whole.
const BULK_ROWS: usize = 256;

impl DurableWriter {
    /// Begins to fill the table as a whole, if it is empty and nobody else writes to it.
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

    /// Adds rows to the table in the making. When it stops at a row that is no duplicate, there is no
    /// memory to go on.
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
        let mut found = None;
        let mut count = 0;
        'rows: for place in 0..batch.row_count() {
            keys.position(place, &mut position);
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
                if secondary[number].has_null(place) {
                    continue;
                }
                key.clear();
                secondary[number].append(place, &mut key);
                if let Some(position) = unique.find(&key) {
                    let index = id;
                    found = Some(Duplicate { index, position });
                    break 'rows;
                }
            }
            if let Some(keys) = &mut bulk.primary {
                keys.add(&position, &[]);
            }
            bulk.rows.push_key(&position);
            for (number, keys) in secondary.iter().enumerate() {
                key.clear();
                keys.append(place, &mut key);
                if let Some(unique) = &mut bulk.unique[number]
                    && !keys.has_null(place)
                {
                    unique.add(&key, &position);
                }
                key.extend_from_slice(&position);
                bulk.secondary[number].push_key(&key);
            }
            count += 1;
        }
        let all: Vec<&ArrayRef> = arrays.iter().collect();
        bulk.rows.push_columns(&all, first, count)?;
        for (number, (_, index)) in definition.secondary().enumerate() {
            let columns: Vec<&ArrayRef> = index.arrays(arrays).collect();
            bulk.secondary[number].push_columns(&columns, firsts[number], count)?;
        }
        Ok(written(count, found))
    }

    /// Finishes the table in the making: from now on, changes are laid over it.
    pub(super) fn leave_bulk(&mut self) -> Result<()> {
        if let Some(bulk) = self.bulk.take() {
            self.table.statement.transaction.join(bulk.finish()?)?;
        }
        Ok(())
    }
}

impl Statement {
    /// Fills an index that a table has got, from the rows that the statement sees: its tree is empty
    /// before. Nobody else writes to the table meanwhile. The row that has the key of another, when
    /// the index is unique and there is one; then nothing is kept.
    pub fn build_index(
        &self,
        definition: &Arc<TableDefinition>,
        index: IndexId,
    ) -> Result<Option<(Duplicate, Batch)>> {
        let Some(tree) = definition
            .index(index)
            .filter(|_| !definition.is_clustered(index))
        else {
            return Err(super::table::internal(&"the table has no such index"));
        };
        let table = self.table(definition)?;
        let mut columns: Vec<ColumnId> = (0..definition.columns().len()).map(ColumnId).collect();
        columns.push(ColumnId::POSITION);
        let mut scan = table.scan(&columns)?;
        let limits = Limits::of(&self.0.transaction.storage.memory);
        let store = &self.0.transaction.store;
        let filled = BulkTree::new(store, limits, tree.tree, &tree.types);
        let Some(mut filled) = filled else {
            return Err(super::table::internal(&"the index is not empty"));
        };
        let mut keys = Keys::default();
        let transaction = &self.0.transaction;
        let mut reservation = transaction.storage.memory.reservation();
        let mut key = Vec::new();
        while let Some(batch) = scan.next_batch()? {
            let arrays = batch.columns();
            let positions = arrays[definition.columns().len()].as_binary_view();
            let of_index = tree.encoder.rows(arrays);
            let first = filled.pending();
            for row in 0..batch.row_count() {
                key.clear();
                of_index.append(row, &mut key);
                let position = positions.value(row);
                if tree.unique && !of_index.has_null(row) {
                    if let Some(position) = keys.find(&key) {
                        return Ok(Some((Duplicate { index, position }, batch.slice(row, 1))));
                    }
                    keys.add(&key, position);
                }
                key.extend_from_slice(position);
                filled.push_key(&key);
            }
            let of_tree: Vec<&ArrayRef> = tree.arrays(arrays).collect();
            filled.push_columns(&of_tree, first, batch.row_count())?;
            let needed = filled.memory() + keys.memory();
            if needed > reservation.bytes() {
                let grown = reservation.try_resize(needed);
                grown.map_err(|error| user_error(&error.into(), NAME))?;
            }
        }
        transaction.join(vec![filled.finish()?])?;
        Ok(None)
    }
}
