//! One statement's handle to a durable table.

pub(super) mod cursor;
mod filtered;
pub(super) mod row_changes;
pub(super) mod writer;

use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array};
use mayfly_memory::sync::lock;
use mayfly_types::{Batch, Error, PhysicalType, Result, Value};

use super::definition::TableDefinition;
use super::record_key::TreeId;
use super::row;
use super::snapshot::Snapshot;
use super::store::transaction::StatementState;
use super::view::{RowLocation, TreeView};
use crate::base::gather::Pieces;
use crate::base::locks::ranges::RangeMode;
use crate::key_encoding::{ByteRange, RowKeys, put_after_prefix};
use crate::scan_request::{ColumnId, ScanRequest};
use crate::table::{
    IndexId, IndexSpec, KeyBound, KeyRange, LockMode, LockWait, Locked, ReadLock, Table, TableScan,
    TableState, TableStatistics, TableWriter, no_index,
};
use cursor::{Projection, TreeScan};
use writer::{DurableWriter, WHOLE_TABLE};

/// One statement's handle to a durable table.
#[derive(Debug)]
pub struct DurableTable(Arc<TableHandle>);

#[derive(Debug)]
pub(super) struct TableHandle {
    pub(super) statement: Arc<StatementState>,
    pub(super) definition: Arc<TableDefinition>,
    reads: Mutex<Reads>,
}

/// Read state of a handle.
#[derive(Debug)]
struct Reads {
    /// The snapshot that reads see. Locking reads advance it to the newest one each time; what was read before is
    /// locked, and so unchanged.
    snapshot: Arc<Snapshot>,
    lock: ReadLock,
    wait: LockWait,
    /// Whether anything was read.
    begun: bool,
}

pub(super) fn internal(error: &dyn std::fmt::Display) -> Error {
    Error::internal(error)
}

impl DurableTable {
    pub(super) fn into_inner(self) -> Arc<TableHandle> {
        self.0
    }

    /// Check before rows are read: see [`super::store::transaction::Transaction::check_definition`].
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
        Self(Arc::new(TableHandle {
            statement: Arc::clone(statement),
            definition: Arc::clone(definition),
            reads: Mutex::new(Reads {
                snapshot,
                lock: statement.options.read_lock,
                wait: LockWait::For(statement.options.lock_wait),
                begun: false,
            }),
        }))
    }
}

impl TableHandle {
    /// To be called before rows are removed: see [`Store::row_numbers`].
    ///
    /// [`Store::row_numbers`]: super::store::Store::row_numbers
    pub(super) fn keep_row_numbers(&self) -> Result<()> {
        if self.definition.primary().is_none() {
            let store = &self.statement.transaction.store;
            store.row_numbers(self.definition.rows(), 0)?;
        }
        Ok(())
    }

    /// The view of a tree that this handle reads.
    fn view(&self, tree: TreeId, types: &Arc<[PhysicalType]>) -> TreeView {
        let changes = self.statement.transaction.tree_changes(tree);
        TreeView::new(&self.snapshot(), tree, types, changes)
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        lock(&self.reads)
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.reads().snapshot)
    }

    /// Locks ranges that are about to be read, as [`Table::lock_reads`] says, and advances the snapshot. `keys`: each
    /// range is one whole key of a unique index.
    fn lock_ranges(
        &self,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
        keys: bool,
        ranges: &[ByteRange],
    ) -> Result<()> {
        let (lock, wait, begun) = {
            let mut reads = self.reads();
            let begun = std::mem::replace(&mut reads.begun, true);
            (reads.lock, reads.wait, begun)
        };
        let mode = match lock {
            ReadLock::None => return Ok(()),
            ReadLock::Gaps => RangeMode::Gap,
            ReadLock::Shared => RangeMode::Shared,
            ReadLock::Exclusive => RangeMode::Exclusive,
        };
        let transaction = &self.statement.transaction;
        let rows = self.definition.rows();
        if !transaction.store.locks.is_whole(&transaction.held, rows) {
            // Waits for a load of the whole table.
            self.lock_key(rows, WHOLE_TABLE, LockMode::Shared, wait)?;
            let view = self.view(tree, types);
            let mut wanted = Vec::with_capacity(ranges.len());
            for range in ranges {
                // An existing row is locked itself, and nobody can add another one with its key.
                let is_there =
                    mode == RangeMode::Gap && keys && view.collect(range, &mut view.pieces())? > 0;
                if !is_there {
                    wanted.push(range.clone());
                }
            }
            if wanted.is_empty() {
                return Ok(());
            }
            let request = self.statement.request(LockMode::Shared, wait);
            let store = &transaction.store;
            let changers =
                |ranges: &[ByteRange]| store.changers(transaction.owner, tree, mode, ranges);
            let locks = &store.locks;
            locks.hold_ranges(&request, tree, mode, wanted, changers)?;
            transaction.reserve_locks()?;
        }
        if mode > RangeMode::Gap || !begun {
            let newest = transaction.store.environment.newest()?;
            self.reads().snapshot = newest;
        }
        Ok(())
    }

    /// Locks the rows at positions that an index has given.
    fn lock_rows(&self, positions: &ArrayRef) -> Result<()> {
        let lock = self.reads().lock;
        if matches!(lock, ReadLock::None | ReadLock::Gaps) {
            return Ok(());
        }
        let row = |position: &[u8]| ByteRange {
            start: position.to_vec(),
            end: Some([position, &[0]].concat()),
        };
        let rows = positions.as_binary_view().iter().flatten().map(row);
        let rows: Vec<ByteRange> = rows.collect();
        let definition = &self.definition;
        self.lock_ranges(definition.rows(), definition.types(), false, &rows)
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

    /// Implements [`Table::fetch`].
    pub(super) fn fetch(
        self: &Arc<Self>,
        positions: &ArrayRef,
        columns: &[ColumnId],
    ) -> Result<Batch> {
        self.lock_rows(positions)?;
        let view = self.rows_view();
        let positions = positions.as_binary_view();
        let mut pieces = view.pieces();
        let mut order: Vec<u32> = (0..positions.len() as u32).collect();
        let key = |row: u32| positions.value(row as usize);
        let is_sorted = order.is_sorted_by_key(|row| key(*row));
        if !is_sorted {
            // In key order, rows of one block are found together.
            order.sort_unstable_by_key(|row| key(*row));
        }
        let mut locations: Vec<(u32, u32)> = vec![(0, 0); positions.len()];
        let mut own: Vec<(u32, Arc<[u8]>)> = Vec::new();
        for row in &order {
            let near = pieces.last_block().map(|(_, block)| block);
            match view.find(key(*row), near)? {
                None => return Err(vanished()),
                Some(RowLocation::Own(bytes)) => {
                    locations[*row as usize] = (u32::MAX, own.len() as u32);
                    own.push((*row, bytes));
                }
                Some(RowLocation::Block(block, index)) => {
                    locations[*row as usize] = (pieces.block_number(block), index as u32);
                }
            }
        }
        for (row, (block, index)) in locations.iter().enumerate() {
            if *block == u32::MAX {
                let bytes = &own[*index as usize].1;
                pieces.push_own(&view.types, positions.value(row), bytes)?;
            } else {
                pieces.push(*block, *index as usize, *index as usize + 1);
            }
        }
        Projection::of_rows(self, columns).batch(self, &mut pieces)
    }

    /// The row at a position in a snapshot, as bytes.
    pub(super) fn row_in(
        &self,
        snapshot: &Arc<Snapshot>,
        position: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let Some((block, index)) = snapshot.find(self.definition.rows(), position)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        row::encode_from_block(self.definition.types(), &block, index, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// Whether two snapshots have the same row, or both none, at a position.
    pub(super) fn is_same_row(
        &self,
        one: &Arc<Snapshot>,
        other: &Arc<Snapshot>,
        position: &[u8],
    ) -> Result<bool> {
        let block = |snapshot: &Arc<Snapshot>| {
            let found = snapshot.block_of(self.definition.rows(), position)?;
            Ok::<_, Error>(found.map(|found| found.block.as_ptr_range()))
        };
        // Bytes shared by two living snapshots are never overwritten.
        Ok(block(one)? == block(other)?
            || self.row_in(one, position)? == self.row_in(other, position)?)
    }

    /// Locks a row or key for the transaction; false when another owner holds it and it shall be skipped.
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

    /// [`Self::lock_key`], but for several keys. A transaction that has the whole table locked needs none; one whose
    /// key locks would need too much memory locks the whole table instead, if nobody else writes to it.
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
        let request = self.statement.request(mode, wait);
        locks.acquire(&request, tree, keys, locked)?;
        let Err(error) = transaction.reserve_locks() else {
            return Ok(());
        };
        let trees = self.definition.all_trees();
        let whole = self.statement.request(LockMode::Exclusive, LockWait::Skip);
        if !locks.acquire_whole(&whole, &trees, WHOLE_TABLE)? {
            return Err(error);
        }
        transaction.reserve_locks()
    }
}

fn vanished() -> Error {
    internal(&"a row is no longer where it was found")
}

impl DurableTable {
    /// Starts a scan of the rows whose positions lie in a range, in their order.
    pub fn scan_range(&self, range: ByteRange, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        self.check_definition()?;
        let projection = Projection::of_rows(&self.0, columns);
        let (tree, types) = (self.0.definition.rows(), self.0.definition.types());
        let ranges = vec![range];
        self.0.lock_ranges(tree, types, false, &ranges)?;
        let view = self.0.rows_view();
        Ok(Box::new(TreeScan::new(
            &self.0, view, ranges, false, projection,
        )))
    }
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

    fn state(&self) -> TableState {
        let (snapshot, lock) = {
            let reads = self.0.reads();
            (Arc::clone(&reads.snapshot), reads.lock)
        };
        let transaction = &self.0.statement.transaction;
        let rows = self.0.definition.rows();
        if lock != ReadLock::None || transaction.tree_changes(rows).is_some() {
            return TableState::Own;
        }
        TableState::Committed {
            version: transaction.store.environment.tree_version(rows),
            snapshot: snapshot.version(),
        }
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

    fn sample(
        &self,
        columns: &[ColumnId],
        rows: usize,
        take: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        let projection = Projection::of_rows(&self.0, columns);
        super::statistics::sample_rows(&self.0.rows_view(), rows, &mut |pieces| {
            take(&projection.batch(&self.0, pieces)?)
        })
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        self.scan_range(ByteRange::ALL, request.columns)
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
        let tree = self.0.definition.index(index).ok_or_else(no_index)?;
        let is_key = |range: &KeyRange| match (&range.start, &range.end) {
            (KeyBound::Included(start), KeyBound::Included(end)) => {
                start == end && tree.is_whole_key(start.len()) && !start.contains(&Value::Null)
            }
            _ => false,
        };
        let keys = ranges.iter().all(is_key);
        let ranges = self.0.byte_ranges(index, ranges)?;
        self.0.lock_ranges(tree.tree, &tree.types, keys, &ranges)?;
        let view = self.0.index_view(index)?;
        let ranges = ByteRange::joined(ranges);
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
        let tree = self.0.definition.index(index).ok_or_else(no_index)?;
        let encoded = tree.encoder.parts(keys);
        let mut of_rows: Vec<u32> = Vec::new();
        let mut range = ByteRange::ALL;
        let rows = 0..keys.first().map_or(0, |keys| keys.len());
        let finds_nothing = |row: usize| {
            let is_no_key = |(part, array): (usize, &ArrayRef)| {
                array.is_null(row) && !null_safe.get(part).copied().unwrap_or(false)
            };
            keys.iter().enumerate().any(is_no_key)
        };
        if self.0.reads().lock != ReadLock::None {
            let found = rows.clone().filter(|row| !finds_nothing(*row));
            let ranges = found.map(|row| {
                let mut key = Vec::new();
                encoded.append(row, &mut key);
                ByteRange::prefix(&key)
            });
            let ranges: Vec<ByteRange> = ranges.collect();
            let is_key = tree.is_whole_key(keys.len()) && !null_safe.contains(&true);
            self.0
                .lock_ranges(tree.tree, &tree.types, is_key, &ranges)?;
        }
        let view = self.0.index_view(index)?;
        let mut pieces = view.pieces();
        let mut find = |row: usize, pieces: &mut Pieces| {
            range.start.clear();
            encoded.append(row, &mut range.start);
            put_after_prefix(&range.start, &mut range.end);
            view.collect(&range, pieces)
        };
        let sought = rows.filter(|row| !finds_nothing(*row));
        match lookup_order(&encoded, sought.clone()) {
            None => {
                for row in sought {
                    let found = find(row, &mut pieces)?;
                    of_rows.resize(of_rows.len() + found, row as u32);
                }
            }
            Some(order) => {
                let mut runs = vec![0..0; keys.first().map_or(0, |keys| keys.len())];
                for row in order {
                    let first = pieces.begin_run();
                    find(row, &mut pieces)?;
                    runs[row] = first..pieces.begin_run();
                }
                for (row, runs) in runs.iter().enumerate() {
                    let found = pieces.rows_of(runs.clone());
                    of_rows.resize(of_rows.len() + found, row as u32);
                }
                pieces.reorder(&runs);
            }
        }
        let batch = projection.batch(&self.0, &mut pieces)?;
        Ok((batch, of_rows.into()))
    }

    fn locks_reads(&self) -> bool {
        self.0.reads().lock != ReadLock::None
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
        let snapshot = inner.snapshot();
        if newest.version() == snapshot.version() {
            return Ok(Locked::Unchanged(locked));
        }
        let own = inner.statement.transaction.tree_changes(tree);
        for (row, is_locked) in locked.iter().enumerate() {
            let key = keys.value(row);
            // Rows that the transaction has changed are locked already.
            if !is_locked {
                continue;
            }
            if let Some(own) = &own
                && own.get(key)?.is_some()
            {
                continue;
            }
            if !inner.is_same_row(&snapshot, &newest, key)? {
                return Ok(Locked::Changed);
            }
        }
        Ok(Locked::Unchanged(locked))
    }

    fn lock_reads(&self, lock: ReadLock, wait: LockWait) {
        let mut reads = self.0.reads();
        (reads.lock, reads.wait) = (lock, wait);
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(DurableWriter::new(&self.0)?))
    }

    fn truncate(&self) -> Result<()> {
        let definition = &self.0.definition;
        let transaction = &self.0.statement.transaction;
        self.0.keep_row_numbers()?;
        transaction.clear_tree(definition.rows(), definition.types());
        for (_, index) in definition.secondary() {
            transaction.clear_tree(index.tree, &index.types);
        }
        Ok(())
    }
}

/// The permutation that sorts lookup keys, so that neighbours are read together; `None` if they are sorted already.
fn lookup_order(
    keys: &RowKeys<'_>,
    rows: impl Iterator<Item = usize>,
) -> Option<impl Iterator<Item = usize>> {
    let mut key = Vec::new();
    // Leading bytes are enough to sort by: the order only saves time.
    let mut start_of = |row: usize| {
        key.clear();
        keys.append(row, &mut key);
        key.resize(size_of::<u128>(), 0);
        u128::from_be_bytes(key.first_chunk().copied().unwrap_or_default())
    };
    let mut order: Vec<(u128, usize)> = rows.map(|row| (start_of(row), row)).collect();
    if order.is_sorted_by_key(|(start, _)| *start) {
        return None;
    }
    order.sort_unstable();
    Some(order.into_iter().map(|(_, row)| row))
}
