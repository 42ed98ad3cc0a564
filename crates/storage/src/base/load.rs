//! How a writer fills an empty table as a whole (see [`super::bulk`]).
//!
//! It needs the lock of the whole table, so that nobody else adds a row that is not seen. The first
//! duplicate key ends it: the rows become single changes, among which the row that is there can be
//! asked for, changed and removed.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use mayfly_types::{Batch, PhysicalType, Result};

use super::block::Block;
use super::bulk::{Bulk, BulkTree, Keys};
use super::definition::TableDefinition;
use super::overlay::Loaded;
use super::row;
use super::transaction::Statement;
use super::writer::{DurableWriter, WHOLE_TABLE, written};
use crate::key_encoding::RowKeys;
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
        let is_cleared = match before.as_deref() {
            Some(before) if before.loaded.is_some() || !before.changes.is_empty() => return Ok(()),
            Some(before) => before.cleared,
            None => false,
        };
        if !is_cleared && self.newest.block_of(tree, &[])?.is_some() {
            return Ok(());
        }
        let exclusive = LockMode::Exclusive;
        let locked = self
            .table
            .lock_key(tree, WHOLE_TABLE, exclusive, LockWait::Skip)?;
        self.refresh()?;
        if locked && (is_cleared || self.newest.block_of(tree, &[])?.is_none()) {
            self.bulk = Some(Bulk::new(&definition));
        }
        Ok(())
    }

    /// Adds rows to the table in the making.
    pub(super) fn load(
        &mut self,
        bulk: &mut Bulk,
        batch: &Batch,
        check: bool,
    ) -> Result<RowsWritten> {
        let definition = Arc::clone(&self.table.definition);
        let arrays = batch.columns();
        let primary = definition.primary();
        let of_primary = primary.map(|(_, index)| index.encoder.rows(arrays));
        let secondary: Vec<RowKeys<'_>> = definition
            .secondary()
            .map(|(_, index)| index.encoder.rows(arrays))
            .collect();
        let first_number = match primary {
            Some(_) => 0,
            None => {
                let store = &self.table.statement.transaction.store;
                store.row_numbers(definition.rows(), batch.row_count() as u64)?
            }
        };
        let first = bulk.rows.pending();
        let firsts: Vec<usize> = bulk.secondary.iter().map(BulkTree::pending).collect();
        let mut position = Vec::new();
        let mut key = Vec::new();
        let mut found = None;
        let mut count = 0;
        'rows: for place in 0..batch.row_count() {
            position.clear();
            match &of_primary {
                Some(keys) => keys.append(place, &mut position),
                None => {
                    position.extend_from_slice(&(first_number + place as u64).to_be_bytes());
                }
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
        let places: Vec<usize> = (0..count).collect();
        let all: Vec<&ArrayRef> = arrays.iter().collect();
        bulk.rows.push_columns(&all, first, &places);
        bulk.rows.step();
        for (number, (_, index)) in definition.secondary().enumerate() {
            let columns: Vec<&ArrayRef> = index.arrays(arrays).collect();
            bulk.secondary[number].push_columns(&columns, firsts[number], &places);
            bulk.secondary[number].step();
        }
        Ok(written(count, found))
    }

    /// Makes single changes of the rows of a table in the making.
    pub(super) fn leave_bulk(&mut self) -> Result<()> {
        let Some(bulk) = self.bulk.take() else {
            return Ok(());
        };
        for (tree, changes) in bulk.finish()? {
            let Some(loaded) = &changes.loaded else {
                continue;
            };
            for (_, block) in &loaded.blocks {
                let block = Block::parse(block)?;
                for place in 0..block.rows() {
                    let mut bytes = Vec::new();
                    row::encode_from_block(&changes.types, &block, place, &mut bytes)?;
                    let change = Some(Arc::from(bytes.as_slice()));
                    self.set(tree, &changes.types, block.key(place)?, change)?;
                }
            }
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
        let mut filled = BulkTree::new(tree.tree, &tree.types);
        let mut keys = Keys::default();
        let transaction = &self.0.transaction;
        let mut reserved = 0;
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
                        transaction.unreserve(reserved);
                        return Ok(Some((Duplicate { index, position }, batch.slice(row, 1))));
                    }
                    keys.add(&key, position);
                }
                key.extend_from_slice(position);
                filled.push_key(&key);
            }
            let places: Vec<usize> = (0..batch.row_count()).collect();
            let of_tree: Vec<&ArrayRef> = tree.arrays(arrays).collect();
            filled.push_columns(&of_tree, first, &places);
            filled.step();
            let needed = filled.memory() + keys.memory();
            if needed > reserved {
                if let Err(error) = transaction.reserve(needed - reserved) {
                    transaction.unreserve(reserved);
                    return Err(error);
                }
                reserved = needed;
            }
        }
        transaction.join(vec![filled.finish()?]);
        Ok(None)
    }
}

/// A row of a loaded tree.
pub(super) fn find_loaded(
    loaded: &Loaded,
    types: &[PhysicalType],
    key: &[u8],
) -> Result<Option<Arc<[u8]>>> {
    let Some((_, block)) = loaded.blocks.get(loaded.place_of(key)) else {
        return Ok(None);
    };
    let block = Block::parse(block)?;
    let Ok(place) = block.search(key)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    row::encode_from_block(types, &block, place, &mut bytes)?;
    Ok(Some(Arc::from(bytes.as_slice())))
}
