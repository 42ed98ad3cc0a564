//! Row changes of one statement, before they join those of its transaction.
//!
//! Every row that is added, changed or removed is locked exclusively until the transaction ends, and so is every key
//! of a unique index that gets a row. With the lock held the newest committed rows decide whether a key exists: nobody
//! else can add or remove it any more. An existing key whose row is locked by another transaction may be about to be
//! removed: then that transaction is waited for.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use mayfly_memory::Reservation;
use mayfly_memory::sync::lock;
use mayfly_types::error::codes;
use mayfly_types::{Batch, PhysicalType, Result};

use crate::base::block::Block;
use crate::base::bulk::Bulk;
use crate::base::change_map::RESERVE_BYTES;
use crate::base::definition::IndexTree;
use crate::base::gather::Pieces;
use crate::base::locks::ranges::KeyUse;
use crate::base::overlay::TreeChanges;
use crate::base::record_key::TreeId;
use crate::base::row_source::BatchKeys;
use crate::base::snapshot::Snapshot;
use crate::base::store::transaction::WriterTrees;
use crate::base::table::TableHandle;
use crate::base::table::cursor::Projection;
use crate::base::table::row_changes::Scratch;
use crate::base::view::RowLocation;
use crate::key_encoding::ByteRange;
use crate::scan_request::ColumnId;
use crate::table::{Duplicate, IndexId, LockMode, LockWait, RowsWritten, TableWriter};

/// Key of a whole table's lock, in the tree of its rows.
pub(in crate::base) const WHOLE_TABLE: &[u8] = &[];
/// Writer of a statement's changes of one table.
pub(in crate::base) struct DurableWriter {
    pub(in crate::base) table: Arc<TableHandle>,
    pub(in crate::base) trees: WriterTrees,
    /// Memory reservation for `trees` and `bulk`.
    reservation: Reservation,
    bytes: u64,
    pub(in crate::base) newest: Arc<Snapshot>,
    /// Bulk load of an empty table.
    pub(in crate::base) bulk: Option<Bulk>,
    /// Whether nothing was written yet.
    pub(in crate::base) is_new: bool,
    /// Whether [`TableWriter::refuses_duplicates`] was called.
    pub(in crate::base) refuses_duplicates: bool,
}

impl DurableWriter {
    pub(in crate::base) fn new(table: &Arc<TableHandle>) -> Result<Self> {
        // A bulk load of another owner has the table locked as a whole.
        let wait = LockWait::For(table.statement.options.lock_wait);
        table.lock_key(table.definition.rows(), WHOLE_TABLE, LockMode::Shared, wait)?;
        table.keep_row_numbers()?;
        let newest = table.statement.transaction.store.environment.newest()?;
        Ok(Self {
            bulk: None,
            is_new: true,
            refuses_duplicates: false,
            table: Arc::clone(table),
            trees: table.statement.transaction.begin_writing(),
            reservation: table.statement.transaction.storage.memory.reservation(),
            bytes: 0,
            newest,
        })
    }

    pub(in crate::base) fn wait(&self) -> LockWait {
        LockWait::For(self.table.statement.options.lock_wait)
    }

    pub(in crate::base) fn lock(&self, tree: TreeId, key: &[u8], mode: LockMode) -> Result<()> {
        self.table
            .lock_key(tree, key, mode, self.wait())
            .map(|_| ())
    }

    /// Locks the position of a new row. An existing row that can only refuse the new one is locked in shared mode, so
    /// that other shared locks of it are not waited for.
    pub(in crate::base) fn lock_new(&mut self, tree: TreeId, position: &[u8]) -> Result<()> {
        if self.refuses_duplicates {
            let at_once = |mode| match self.table.lock_key(tree, position, mode, LockWait::No) {
                Err(error) if error.is(&codes::ER_LOCK_NOWAIT) => Ok(false),
                locked => locked,
            };
            if at_once(LockMode::Exclusive)? {
                return Ok(());
            }
            if at_once(LockMode::Shared)? {
                self.refresh()?;
                if self.existing(tree, position, None)?.is_some() {
                    return Ok(());
                }
            }
        }
        self.lock(tree, position, LockMode::Exclusive)
    }

    /// Advances to the newest committed rows.
    pub(in crate::base) fn refresh(&mut self) -> Result<()> {
        let environment = &self.table.statement.transaction.store.environment;
        if self.newest.version() != environment.version() {
            self.newest = environment.newest()?;
        }
        Ok(())
    }

    /// The snapshot below the transaction's changes of a tree.
    fn base(&self, tree: TreeId) -> Arc<Snapshot> {
        let changes = self.table.statement.transaction.tree_changes(tree);
        let bulk_loaded = changes.as_ref().and_then(|tree| tree.bulk_loaded.as_ref());
        Arc::clone(bulk_loaded.map_or(&self.newest, |bulk_loaded| &bulk_loaded.snapshot))
    }

    /// The current row of a key: changed by this statement, by the transaction, or committed. `near` is a block of the
    /// newest rows that may hold it.
    pub(in crate::base) fn existing(
        &self,
        tree: TreeId,
        key: &[u8],
        near: Option<Block<'static>>,
    ) -> Result<Option<RowLocation>> {
        if let Some(own) = lock(&self.trees).get(&tree)
            && let Some(change) = own.get(key)?
        {
            return Ok(change.map(RowLocation::Own));
        }
        let before = self.table.statement.transaction.tree_changes(tree);
        if let Some(before) = before {
            if let Some(change) = before.get(key)? {
                return Ok(change.map(RowLocation::Own));
            }
            if before.cleared {
                return Ok(None);
            }
        }
        if let Some(block) = near
            && let Ok(index) = block.search(key)?
        {
            return Ok(Some(RowLocation::Block(block, index)));
        }
        let found = self.base(tree).find(tree, key)?;
        Ok(found.map(|(block, row)| RowLocation::Block(block, row)))
    }

    /// The first key in a range of a tree, in its current state, and whether it is a committed one.
    pub(in crate::base) fn first_in(
        &self,
        tree: TreeId,
        range: &ByteRange,
    ) -> Result<Option<(Vec<u8>, bool)>> {
        let start = range.start.as_slice();
        let trees = lock(&self.trees);
        let own = trees.get(&tree);
        let before = self.table.statement.transaction.tree_changes(tree);
        let within = |changes: Option<&TreeChanges>, hidden_by: Option<&TreeChanges>| {
            let mut first = None;
            let Some(changes) = changes else {
                return Ok(first);
            };
            let found = changes.each(range, |key, change| {
                if change.is_some() && !has(hidden_by, key)? {
                    first = Some(key.to_vec());
                }
                Ok(first.is_none())
            });
            found.map(|()| first)
        };
        let changed = match (within(own, None)?, within(before.as_deref(), own)?) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let own_first = || changed.clone().map(|key| (key, false));
        if before.as_ref().is_some_and(|before| before.cleared) {
            return Ok(own_first());
        }
        let base = self.base(tree);
        let is_committed = Arc::ptr_eq(&base, &self.newest);
        let Some(found) = base.held_block_of(tree, start)? else {
            return Ok(own_first());
        };
        let is_removed =
            |key: &[u8]| -> Result<bool> { Ok(has(own, key)? || has(before.as_deref(), key)?) };
        let mut block = base.block(found)?;
        let mut index = block.rank(start)?;
        let mut walk = None;
        loop {
            while index < block.rows() {
                let key = block.key(index)?;
                if !range.contains(&key) {
                    return Ok(own_first());
                }
                if !is_removed(&key)? {
                    let is_first = changed.as_ref().is_none_or(|own| key < *own);
                    return Ok(if is_first {
                        Some((key, is_committed))
                    } else {
                        own_first()
                    });
                }
                index += 1;
            }
            let walk = match &mut walk {
                Some(walk) => walk,
                None => {
                    let end = range.end.as_deref();
                    let mut steps = base.walk(tree, start, end, false)?;
                    steps.next()?;
                    walk.insert(steps)
                }
            };
            let Some(next) = walk.next()? else {
                return Ok(own_first());
            };
            block = base.block(next)?;
            index = block.rank(start)?;
        }
    }

    /// Another row with an equal key of a unique index. The key is locked.
    pub(in crate::base) fn duplicate(
        &mut self,
        id: IndexId,
        index: &IndexTree,
        key: &[u8],
    ) -> Result<Option<Duplicate>> {
        self.lock(index.tree, key, LockMode::Exclusive)?;
        let mut waited_for: Option<Vec<u8>> = None;
        loop {
            self.refresh()?;
            let range = ByteRange::prefix(key);
            let Some((found, is_committed)) = self.first_in(index.tree, &range)? else {
                return Ok(None);
            };
            let position = found[key.len()..].to_vec();
            if !is_committed || waited_for.as_ref() == Some(&position) {
                return Ok(Some(Duplicate {
                    index: id,
                    position,
                }));
            }
            // A transaction that is removing the row holds a lock on it.
            self.lock(self.table.definition.rows(), &position, LockMode::Shared)?;
            waited_for = Some(position);
        }
    }

    /// Sets a key's change. Memory is reserved when the row is complete: a row is never changed by half, unless its
    /// statement fails. Conflicting range locks on the key are waited for.
    pub(in crate::base) fn set(
        &mut self,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
        key: Vec<u8>,
        change: Option<Arc<[u8]>>,
        usage: KeyUse,
    ) -> Result<()> {
        let transaction = &self.table.statement.transaction;
        let (locks, owner) = (&transaction.store.locks, transaction.owner);
        loop {
            // A request for a range lock examines these changes once it is announced.
            let mut trees = lock(&self.trees);
            if !locks.conflicts_with_ranges(owner, tree, &key, usage) {
                put(&mut trees, &mut self.bytes, (tree, types), key, change);
                return Ok(());
            }
            drop(trees);
            let statement = &self.table.statement;
            let request = statement.request(LockMode::Exclusive, self.wait());
            locks.wait_for_ranges(&request, tree, &key, usage)?;
        }
    }

    /// [`Self::set`], but for an entry that shows nothing new to other transactions: range locks are not checked.
    pub(super) fn set_unseen(
        &mut self,
        index: &IndexTree,
        key: Vec<u8>,
        change: Option<Arc<[u8]>>,
    ) {
        let mut trees = lock(&self.trees);
        let tree = (index.tree, &index.types);
        put(&mut trees, &mut self.bytes, tree, key, change);
    }

    /// Projection to all columns.
    pub(super) fn all_columns(&self) -> Projection {
        let columns = self.table.definition.columns().len();
        let all: Vec<ColumnId> = (0..columns).map(ColumnId).collect();
        Projection::of_rows(&self.table, &all)
    }

    /// Reserves memory for the changes, or moves them to temporary tables.
    pub(in crate::base) fn reserve(&mut self) -> Result<()> {
        let needed = self.bytes + self.bulk.as_ref().map_or(0, Bulk::memory);
        let storage = &self.table.statement.transaction.storage;
        let is_much = self.bytes > storage.most_memory();
        if needed <= self.reservation.bytes() && !is_much {
            return Ok(());
        }
        let wanted = needed.max(self.reservation.bytes() + RESERVE_BYTES);
        if is_much || self.reservation.try_resize(wanted).is_err() {
            self.overflow()
        } else {
            Ok(())
        }
    }

    /// Whether a load of `bulk` bytes fits into memory.
    pub(in crate::base) fn has_memory_for(&mut self, bulk: u64) -> bool {
        let needed = self.bytes + bulk;
        needed <= self.reservation.bytes() || self.reservation.try_resize(needed).is_ok()
    }

    fn overflow(&mut self) -> Result<()> {
        let storage = &self.table.statement.transaction.storage;
        for tree in lock(&self.trees).values_mut() {
            self.bytes -= tree.changes.overflow(storage)?;
        }
        let left = self.bytes + self.bulk.as_ref().map_or(0, Bulk::memory);
        storage.resize(&mut self.reservation, left)
    }

    fn insert_rows(&mut self, batch: &Batch, check: bool) -> Result<RowsWritten> {
        self.begin_bulk(batch.row_count())?;
        if let Some(mut bulk) = self.bulk.take() {
            let written = self.load(&mut bulk, batch, check)?;
            let is_over = written.duplicate.is_none() && written.rows < batch.row_count()
                || bulk.keeps_keys() && !self.has_memory_for(bulk.memory());
            self.bulk = Some(bulk);
            if !is_over {
                self.reserve()?;
                return Ok(written);
            }
            // The load has ended: from here on, rows are found in their trees.
            self.leave_bulk()?;
            self.reservation.shrink(self.reservation.bytes());
            let rest = batch.row_count() - written.rows;
            if rest == 0 || written.duplicate.is_some() {
                return Ok(written);
            }
            let more = self.insert_rows(&batch.slice(written.rows, rest), check)?;
            return Ok(RowsWritten {
                rows: written.rows + more.rows,
                ..more
            });
        }
        let definition = Arc::clone(&self.table.definition);
        let arrays = batch.columns();
        let store = &self.table.statement.transaction.store;
        let keys = BatchKeys::new(&definition, store, arrays, batch.row_count())?;
        let primary = definition.primary();
        // Rows without a primary key get positions that no snapshot has.
        let snapshot = match primary {
            Some(_) => self.table.statement.transaction.snapshot.get()?,
            None => None,
        };
        let mut scratch = Scratch::default();
        for index in 0..batch.row_count() {
            let row = keys.row(index);
            let found = self.insert_row(&row, check, snapshot.as_ref(), &mut scratch)?;
            if found.is_some() {
                return Ok(written(index, found));
            }
        }
        Ok(written(batch.row_count(), None))
    }

    /// Locks the rows at positions for a change; returns their current values and the indexes of the positions that
    /// have a row.
    fn take_rows(&mut self, positions: &BinaryViewArray) -> Result<(Batch, Vec<usize>)> {
        self.leave_bulk()?;
        self.is_new = false;
        let definition = Arc::clone(&self.table.definition);
        let tree = definition.rows();
        let (keys, exclusive) = (positions.iter().flatten(), LockMode::Exclusive);
        self.table
            .lock_keys(tree, keys, exclusive, self.wait(), |_| ())?;
        self.refresh()?;
        let mut pieces = Pieces::new(&self.base(definition.rows()));
        let mut found = Vec::with_capacity(positions.len());
        for (index, position) in positions.iter().enumerate() {
            let Some(position) = position else {
                continue;
            };
            let near = pieces.last_block().map(|(_, block)| block);
            if let Some(row) = self.existing(tree, position, near)? {
                row.add_to(&mut pieces, definition.types(), position)?;
                found.push(index);
            }
        }
        let rows = self.all_columns().batch(&self.table, &mut pieces)?;
        Ok((rows, found))
    }
}

pub(in crate::base) fn written(rows: usize, duplicate: Option<Duplicate>) -> RowsWritten {
    RowsWritten { rows, duplicate }
}

impl TableWriter for DurableWriter {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        self.insert_rows(batch, false).map(|_| ())
    }

    fn refuses_duplicates(&mut self) {
        self.refuses_duplicates = true;
    }

    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        self.insert_rows(batch, true)
    }

    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        let definition = Arc::clone(&self.table.definition);
        let positions = positions.as_binary_view();
        let (old, found) = self.take_rows(positions)?;
        let old_keys = BatchKeys::of_positioned(&definition, old.columns());
        let new_keys = BatchKeys::of_positioned(&definition, rows.columns());
        let snapshot = self.table.statement.transaction.snapshot.get()?;
        let mut scratch = Scratch::default();
        for (was, index) in found.into_iter().enumerate() {
            let (old, new) = (old_keys.row(was), new_keys.row(index));
            let position = positions.value(index);
            let duplicate =
                self.update_row(position, (&old, &new), snapshot.as_ref(), &mut scratch)?;
            if duplicate.is_some() {
                return Ok(written(index, duplicate));
            }
        }
        Ok(written(rows.row_count(), None))
    }

    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        let definition = Arc::clone(&self.table.definition);
        let positions = positions.as_binary_view();
        let (old, found) = self.take_rows(positions)?;
        let keys = BatchKeys::of_positioned(&definition, old.columns());
        let snapshot = self.table.statement.transaction.snapshot.get()?;
        for (was, index) in found.iter().enumerate() {
            let position = positions.value(*index);
            self.delete_row(position, &keys.row(was), snapshot.as_ref())?;
        }
        Ok(found.len() as u64)
    }

    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        self.leave_bulk()?;
        let definition = &self.table.definition;
        let mut pieces = Pieces::new(&self.base(definition.rows()));
        let Some(row) = self.existing(definition.rows(), position, None)? else {
            return Ok(None);
        };
        row.add_to(&mut pieces, definition.types(), position)?;
        let rows = self.all_columns().batch(&self.table, &mut pieces)?;
        Ok(Some(rows))
    }

    fn find(
        &mut self,
        index: IndexId,
        key: &[ArrayRef],
        mode: LockMode,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        self.find_now(index, key, mode, limit)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let mut own = lock(&self.trees);
        let trees = std::mem::take(&mut *own);
        let trees = match self.bulk.take() {
            Some(bulk) => bulk.finish()?,
            None => trees.into_iter().collect(),
        };
        // From here on the memory belongs to the transaction.
        self.reservation.free();
        self.table.statement.transaction.join(trees)
    }
}

impl Drop for DurableWriter {
    fn drop(&mut self) {
        let transaction = &self.table.statement.transaction;
        transaction.end_writing(&self.trees);
    }
}

/// Sets a key's change. `bytes`: size of the changes of all trees.
fn put(
    trees: &mut BTreeMap<TreeId, TreeChanges>,
    bytes: &mut u64,
    (tree, types): (TreeId, &Arc<[PhysicalType]>),
    key: Vec<u8>,
    change: Option<Arc<[u8]>>,
) {
    let changes = trees.entry(tree);
    let changes = &mut changes.or_insert_with(|| TreeChanges::new(types)).changes;
    *bytes -= changes.bytes();
    changes.set(key, change);
    *bytes += changes.bytes();
}

/// Whether a key has a change.
pub(in crate::base) fn has(changes: Option<&TreeChanges>, key: &[u8]) -> Result<bool> {
    match changes {
        Some(changes) => Ok(changes.get(key)?.is_some()),
        None => Ok(false),
    }
}
