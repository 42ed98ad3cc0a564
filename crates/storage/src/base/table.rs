//! One statement's handle to a durable table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array};
use mayfly_types::error::codes;
use mayfly_types::{Batch, PhysicalType, Result};

use super::block::Block;
use super::cursor::{Projection, TreeScan};
use super::definition::TableDefinition;
use super::environment::TreeId;
use super::locks::Request;
use super::row;
use super::snapshot::Snapshot;
use super::transaction::StatementState;
use super::view::{Spot, TreeView};
use super::writer::{DurableWriter, WHOLE_TABLE};
use crate::key_encoding::ByteRange;
use crate::table::{
    ColumnId, IndexId, IndexSpec, KeyRange, LockMode, LockWait, Locked, Table, TableScan,
    TableStatistics, TableWriter,
};

/// One statement's handle to a durable table.
#[derive(Debug)]
pub struct DurableTable(Arc<TableInner>);

#[derive(Debug)]
pub(super) struct TableInner {
    pub(super) statement: Arc<StatementState>,
    pub(super) definition: Arc<TableDefinition>,
    pub(super) snapshot: Arc<Snapshot>,
}

pub(super) fn internal(error: &dyn std::fmt::Display) -> mayfly_types::Error {
    codes::ER_UNKNOWN_ERROR.with(&[&error])
}

impl DurableTable {
    /// Before rows are read: see [`super::transaction::Transaction::check_definition`].
    fn check_definition(&self) -> Result<()> {
        let inner = &self.0;
        inner
            .statement
            .transaction
            .check_definition(&inner.definition)
    }

    pub(super) fn new(
        statement: &Arc<StatementState>,
        definition: &Arc<TableDefinition>,
        snapshot: Arc<Snapshot>,
    ) -> Self {
        Self(Arc::new(TableInner {
            statement: Arc::clone(statement),
            definition: Arc::clone(definition),
            snapshot,
        }))
    }
}

impl TableInner {
    /// A tree as the handle sees it.
    fn view(&self, tree: TreeId, types: &Arc<[PhysicalType]>) -> TreeView {
        let changes = self.statement.transaction.tree_changes(tree);
        TreeView::new(&self.snapshot, tree, types, changes)
    }

    pub(super) fn rows_view(&self) -> TreeView {
        self.view(self.definition.rows(), self.definition.types())
    }

    pub(super) fn index_view(&self, index: IndexId) -> Result<TreeView> {
        let tree = self.definition.index(index).ok_or_else(no_index)?;
        Ok(self.view(tree.tree, &tree.types))
    }

    fn byte_ranges(&self, index: IndexId, ranges: &[KeyRange]) -> Result<Vec<ByteRange>> {
        let tree = self.definition.index(index).ok_or_else(no_index)?;
        ranges
            .iter()
            .map(|range| tree.encoder.range(range))
            .collect()
    }

    /// See [`Table::fetch`].
    pub(super) fn fetch(
        self: &Arc<Self>,
        positions: &ArrayRef,
        columns: &[ColumnId],
    ) -> Result<Batch> {
        let view = self.rows_view();
        let positions = positions.as_binary_view();
        let mut pieces = view.pieces();
        let mut order: Vec<u32> = (0..positions.len() as u32).collect();
        let key = |row: u32| positions.value(row as usize);
        let is_sorted = order.is_sorted_by_key(|row| key(*row));
        if !is_sorted {
            // In order, rows of one block are found together.
            order.sort_unstable_by_key(|row| key(*row));
        }
        let mut spots: Vec<(u32, u32)> = vec![(0, 0); positions.len()];
        let mut own: Vec<(u32, Arc<[u8]>)> = Vec::new();
        for row in &order {
            let near = pieces.last_block().map(|(_, block)| block);
            match view.find(key(*row), near)? {
                None => return Err(vanished()),
                Some(Spot::Own(bytes)) => {
                    spots[*row as usize] = (u32::MAX, own.len() as u32);
                    own.push((*row, bytes));
                }
                Some(Spot::Block(block, place)) => {
                    let is_last = |last: &Block<'_>| last.bytes.as_ptr() == block.bytes.as_ptr();
                    let number = match pieces.last_block() {
                        Some((number, last)) if is_last(&last) => number,
                        _ => pieces.add_block(block),
                    };
                    spots[*row as usize] = (number, place as u32);
                }
            }
        }
        for (row, (block, place)) in spots.iter().enumerate() {
            if *block == u32::MAX {
                let bytes = &own[*place as usize].1;
                pieces.push_own(&view.types, positions.value(row), bytes)?;
            } else {
                pieces.push(*block, *place as usize, *place as usize + 1);
            }
        }
        Projection::of_rows(self, columns).batch(self, &mut pieces)
    }

    /// The row at a position in a snapshot, as bytes.
    fn row_in(&self, snapshot: &Arc<Snapshot>, position: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(found) = snapshot.block_of(self.definition.rows(), position)? else {
            return Ok(None);
        };
        let block = Block::parse(found.block)?;
        let Ok(place) = block.search(position)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        row::encode_from_block(self.definition.types(), &block, place, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// Locks a row or key for the transaction; false when it is held by another and shall be skipped.
    pub(super) fn lock_key(
        &self,
        tree: TreeId,
        key: &[u8],
        mode: LockMode,
        wait: LockWait,
    ) -> Result<bool> {
        let mut is_locked = true;
        let keys = std::iter::once(key);
        self.lock_keys(tree, keys, mode, wait, |locked| is_locked = locked)?;
        Ok(is_locked)
    }

    /// The same for several. Who holds the whole table needs no more, and who would need too much
    /// memory for the locks of keys gets that instead, if nobody else writes to the table.
    pub(super) fn lock_keys<'k>(
        &self,
        tree: TreeId,
        keys: impl Iterator<Item = &'k [u8]>,
        mode: LockMode,
        wait: LockWait,
        mut locked: impl FnMut(bool),
    ) -> Result<()> {
        let transaction = &self.statement.transaction;
        let (locks, held) = (&transaction.store.locks, &transaction.held);
        let rows = self.definition.rows();
        if locks.is_whole(held, rows) {
            keys.for_each(|_| locked(true));
            return Ok(());
        }
        let request = |mode, wait| Request {
            owner: transaction.owner,
            held,
            mode,
            wait,
            interrupt: &self.statement.options.interrupt,
        };
        locks.acquire(&request(mode, wait), tree, keys, locked)?;
        let Err(error) = transaction.reserve_locks() else {
            return Ok(());
        };
        let trees = self.definition.all_trees();
        let whole = request(LockMode::Exclusive, LockWait::Skip);
        if !locks.acquire_whole(&whole, &trees, WHOLE_TABLE)? {
            return Err(error);
        }
        transaction.reserve_locks()
    }
}

pub(super) fn no_index() -> mayfly_types::Error {
    internal(&"the table has no index of that number")
}

fn vanished() -> mayfly_types::Error {
    internal(&"a row is no longer where it was found")
}

impl Table for DurableTable {
    fn columns(&self) -> &[PhysicalType] {
        self.0.definition.columns()
    }

    fn indexes(&self) -> &[IndexSpec] {
        self.0.definition.indexes()
    }

    fn statistics(&self) -> TableStatistics {
        let store = &self.0.statement.transaction.store;
        super::statistics::of_table(store, &self.0.definition).unwrap_or_default()
    }

    fn distinct_keys(&self, index: IndexId, parts: usize) -> u64 {
        let store = &self.0.statement.transaction.store;
        let distinct = super::statistics::distinct_keys(store, &self.0.definition, index, parts);
        distinct.unwrap_or_else(|_| self.statistics().rows)
    }

    fn analyze(&self) -> Result<()> {
        super::statistics::analyze(&self.0.statement.transaction.store, &self.0.definition)
    }

    fn rows_in_range(&self, index: IndexId, range: &KeyRange) -> Result<u64> {
        let view = self.0.index_view(index)?;
        let ranges = self.0.byte_ranges(index, std::slice::from_ref(range))?;
        super::statistics::rows_in_range(&self.0.statement.transaction.store, &view, &ranges[0])
    }

    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        self.check_definition()?;
        let projection = Projection::of_rows(&self.0, columns);
        let view = self.0.rows_view();
        let ranges = vec![ByteRange::ALL];
        Ok(Box::new(TreeScan::new(
            &self.0, view, ranges, false, projection,
        )))
    }

    fn index_scan(
        &self,
        index: IndexId,
        ranges: &[KeyRange],
        reverse: bool,
        columns: &[ColumnId],
    ) -> Result<Box<dyn TableScan>> {
        self.check_definition()?;
        let projection = Projection::of_index(&self.0, index, columns).ok_or_else(no_index)?;
        let view = self.0.index_view(index)?;
        let ranges = ByteRange::joined(self.0.byte_ranges(index, ranges)?);
        Ok(Box::new(TreeScan::new(
            &self.0, view, ranges, reverse, projection,
        )))
    }

    fn index_lookup(
        &self,
        index: IndexId,
        keys: &[ArrayRef],
        null_safe: &[bool],
        columns: &[ColumnId],
    ) -> Result<(Batch, UInt32Array)> {
        self.check_definition()?;
        let projection = Projection::of_index(&self.0, index, columns).ok_or_else(no_index)?;
        let view = self.0.index_view(index)?;
        let tree = self.0.definition.index(index).ok_or_else(no_index)?;
        let encoded = tree.encoder.parts(keys);
        let mut pieces = view.pieces();
        let mut of_rows: Vec<u32> = Vec::new();
        let mut range = ByteRange::ALL;
        for row in 0..keys.first().map_or(0, |keys| keys.len()) {
            let finds_nothing = |(part, array): (usize, &ArrayRef)| {
                array.is_null(row) && !null_safe.get(part).copied().unwrap_or(false)
            };
            if keys.iter().enumerate().any(finds_nothing) {
                continue;
            }
            range.start.clear();
            encoded.append(row, &mut range.start);
            range.end = crate::key_encoding::after_prefix(&range.start);
            let found = view.collect(&range, &mut pieces)?;
            of_rows.resize(of_rows.len() + found, row as u32);
        }
        let batch = projection.batch(&self.0, &mut pieces)?;
        Ok((batch, of_rows.into()))
    }

    fn fetch(&self, positions: &ArrayRef, columns: &[ColumnId]) -> Result<Batch> {
        self.0.fetch(positions, columns)
    }

    fn lock(&self, positions: &ArrayRef, mode: LockMode, wait: LockWait) -> Result<Locked> {
        let inner = &self.0;
        let tree = inner.definition.rows();
        let keys = positions.as_binary_view();
        let mut locked = Vec::with_capacity(keys.len());
        if !inner.lock_key(tree, WHOLE_TABLE, LockMode::Shared, wait)? {
            locked.resize(keys.len(), false);
            return Ok(Locked::Unchanged(locked));
        }
        let all = (0..keys.len()).map(|row| keys.value(row));
        inner.lock_keys(tree, all, mode, wait, |is_locked| locked.push(is_locked))?;
        let newest = inner.statement.transaction.store.environment.newest()?;
        if newest.version() == inner.snapshot.version() {
            return Ok(Locked::Unchanged(locked));
        }
        let own = inner.statement.transaction.tree_changes(tree);
        for (row, is_locked) in locked.iter().enumerate() {
            let key = keys.value(row);
            // What the transaction has changed it had locked before.
            if !is_locked {
                continue;
            }
            if let Some(own) = &own
                && own.get(key)?.is_some()
            {
                continue;
            }
            if inner.row_in(&inner.snapshot, key)? != inner.row_in(&newest, key)? {
                return Ok(Locked::Changed);
            }
        }
        Ok(Locked::Unchanged(locked))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(DurableWriter::new(&self.0)?))
    }

    fn truncate(&self) -> Result<()> {
        let definition = &self.0.definition;
        let transaction = &self.0.statement.transaction;
        transaction.clear_tree(definition.rows(), definition.types());
        for (_, index) in definition.secondary() {
            transaction.clear_tree(index.tree, &index.types);
        }
        Ok(())
    }
}
