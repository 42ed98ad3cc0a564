//! Changes of rows: one statement's, before they join those of its transaction.
//!
//! Every row that is added, changed or removed is locked exclusively until the transaction ends, and
//! so is every key of a unique index that gets a row. With the lock held the newest committed rows
//! decide whether a key is there already: nobody else can add or remove it any more. A key that is
//! there, but whose row another transaction has locked, may be about to go: then that one is waited
//! for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use mayfly_memory::Reservation;
use mayfly_types::{Batch, PhysicalType, Result};

use super::block::Block;
use super::bulk::Bulk;
use super::cursor::Projection;
use super::definition::{IndexTree, TableDefinition};
use super::environment::TreeId;
use super::gather::Pieces;
use super::locks::Request;
use super::overlay::TreeChanges;
use super::ranges::KeyUse;
use super::row;
use super::snapshot::Snapshot;
use super::store::Store;
use super::table::TableInner;
use super::transaction::WriterTrees;
use crate::key_encoding::{ByteRange, RowKeys};
use crate::table::{ColumnId, Duplicate, IndexId, LockMode, LockWait, RowsWritten, TableWriter};

/// The key of the lock of a whole table, in the tree of its rows.
pub(super) const WHOLE_TABLE: &[u8] = &[];
/// Memory is reserved for changes in steps of so many bytes.
pub(super) const RESERVE_BYTES: u64 = 64 << 10;

/// A statement's changes of one table.
pub(super) struct DurableWriter {
    pub(super) table: Arc<TableInner>,
    trees: WriterTrees,
    /// Bytes of `trees` in memory, and of `bulk`.
    reservation: Reservation,
    bytes: u64,
    pub(super) newest: Arc<Snapshot>,
    /// Rows that fill an empty table.
    pub(super) bulk: Option<Bulk>,
    /// Nothing was written yet.
    pub(super) is_new: bool,
}

/// The keys of the rows of a batch.
pub(super) struct BatchKeys<'a> {
    primary: Option<RowKeys<'a>>,
    /// Of the first row, where there is no primary key.
    first_number: u64,
    /// Of every other index.
    pub(super) secondary: Vec<RowKeys<'a>>,
}

impl<'a> BatchKeys<'a> {
    /// For new rows of a table.
    pub(super) fn new(
        definition: &'a TableDefinition,
        store: &Store,
        arrays: &'a [ArrayRef],
        rows: usize,
    ) -> Result<Self> {
        let primary = definition.primary();
        let first_number = match primary {
            Some(_) => 0,
            None => store.row_numbers(definition.rows(), rows as u64)?,
        };
        let secondary = definition.secondary();
        Ok(Self {
            primary: primary.map(|(_, index)| index.encoder.rows(arrays)),
            first_number,
            secondary: secondary
                .map(|(_, index)| index.encoder.rows(arrays))
                .collect(),
        })
    }

    /// The position of a row.
    pub(super) fn position(&self, place: usize, position: &mut Vec<u8>) {
        position.clear();
        match &self.primary {
            Some(keys) => keys.append(place, position),
            None => {
                let number = self.first_number + place as u64;
                position.extend_from_slice(&number.to_be_bytes());
            }
        }
    }
}

/// Where an existing row was found.
enum Existing {
    /// In the file.
    Committed(Block<'static>, usize),
    /// Among the changes of this statement or transaction.
    Own(Arc<[u8]>),
}

impl DurableWriter {
    pub(super) fn new(table: &Arc<TableInner>) -> Result<Self> {
        // Who fills the table as a whole has it locked as a whole.
        let wait = LockWait::For(table.statement.options.lock_wait);
        table.lock_key(table.definition.rows(), WHOLE_TABLE, LockMode::Shared, wait)?;
        let newest = table.statement.transaction.store.environment.newest()?;
        Ok(Self {
            bulk: None,
            is_new: true,
            table: Arc::clone(table),
            trees: table.statement.transaction.begin_writing(),
            reservation: table.statement.transaction.storage.memory.reservation(),
            bytes: 0,
            newest,
        })
    }

    fn wait(&self) -> LockWait {
        LockWait::For(self.table.statement.options.lock_wait)
    }

    pub(super) fn lock(&self, tree: TreeId, key: &[u8], mode: LockMode) -> Result<()> {
        self.table
            .lock_key(tree, key, mode, self.wait())
            .map(|_| ())
    }

    /// Sees what was committed until now.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let environment = &self.table.statement.transaction.store.environment;
        if self.newest.version() != environment.version() {
            self.newest = environment.newest()?;
        }
        Ok(())
    }

    /// What lies under the transaction's changes of a tree.
    fn base(&self, tree: TreeId) -> Arc<Snapshot> {
        let changes = self.table.statement.transaction.tree_changes(tree);
        let filled = changes.as_ref().and_then(|tree| tree.filled.as_ref());
        Arc::clone(filled.map_or(&self.newest, |filled| &filled.snapshot))
    }

    /// The row of a key as it is now: changed by this statement, by the transaction, or committed.
    /// `near` is a block of the newest rows where it may be.
    fn existing(
        &self,
        tree: TreeId,
        key: &[u8],
        near: Option<Block<'static>>,
    ) -> Result<Option<Existing>> {
        if let Some(own) = lock(&self.trees).get(&tree)
            && let Some(change) = own.get(key)?
        {
            return Ok(change.map(Existing::Own));
        }
        let before = self.table.statement.transaction.tree_changes(tree);
        if let Some(before) = before {
            if let Some(change) = before.get(key)? {
                return Ok(change.map(Existing::Own));
            }
            if before.cleared {
                return Ok(None);
            }
        }
        if let Some(block) = near
            && let Ok(place) = block.search(key)?
        {
            return Ok(Some(Existing::Committed(block, place)));
        }
        let base = self.base(tree);
        let Some(found) = base.held_block_of(tree, key)? else {
            return Ok(None);
        };
        let block = base.block(found)?;
        let place = block.search(key)?;
        Ok(place.ok().map(|place| Existing::Committed(block, place)))
    }

    /// The first key in a range of a tree, as it is now, and whether it is a committed one.
    pub(super) fn first_in(
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
        let mut place = block.rank(start)?;
        let mut walk = None;
        loop {
            while place < block.rows() {
                let key = block.key(place)?;
                if !range.contains(&key) {
                    return Ok(own_first());
                }
                if !is_removed(&key)? {
                    let is_first = changed.as_ref().is_none_or(|own| key < *own);
                    return Ok(match is_first {
                        true => Some((key, is_committed)),
                        false => own_first(),
                    });
                }
                place += 1;
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
            place = block.rank(start)?;
        }
    }

    /// Another row with the same key of a unique index. The key is locked.
    fn duplicate(
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
            // Who removes it right now has it locked.
            self.lock(self.table.definition.rows(), &position, LockMode::Shared)?;
            waited_for = Some(position);
        }
    }

    /// Memory for it is reserved when the row is whole: a row is never changed by half, but by a
    /// statement that fails. Whoever has read a range that the key lies in, and keeps others from
    /// changing it, is waited for.
    fn set(
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
            // Who wants to hold a range looks at these changes when it is known.
            let mut trees = lock(&self.trees);
            if !locks.is_kept_from(owner, tree, &key, usage) {
                put(&mut trees, &mut self.bytes, (tree, types), key, change);
                return Ok(());
            }
            drop(trees);
            let request = Request {
                owner,
                held: &transaction.held,
                mode: LockMode::Exclusive,
                wait: self.wait(),
                interrupt: &self.table.statement.options.interrupt,
            };
            locks.wait_for_ranges(&request, tree, &key, usage)?;
        }
    }

    /// The same for an entry that says to nobody else what it did not say before: no range is asked.
    fn set_unseen(&mut self, index: &IndexTree, key: Vec<u8>, change: Option<Arc<[u8]>>) {
        let mut trees = lock(&self.trees);
        let tree = (index.tree, &index.types);
        put(&mut trees, &mut self.bytes, tree, key, change);
    }

    /// Before a position is written to: if its row in the transaction's snapshot is another one than the
    /// newest, because another transaction has committed a change of it, the entries of indexes that
    /// lead to the snapshot's row are taken from what this transaction sees, and it is true. Every index
    /// must get an entry for the new row then, one that has its key already, too. `snapshot`: the
    /// transaction's, if it has one.
    fn leave_snapshot(
        &mut self,
        snapshot: Option<&Arc<Snapshot>>,
        position: &[u8],
    ) -> Result<bool> {
        let Some(snapshot) = snapshot.filter(|it| it.version() != self.newest.version()) else {
            return Ok(false);
        };
        let transaction = &self.table.statement.transaction;
        let definition = Arc::clone(&self.table.definition);
        let tree = definition.rows();
        let is_own = |changes: Option<&TreeChanges>| match changes {
            Some(changes) if changes.cleared || changes.filled.is_some() => Ok(true),
            changes => has(changes, position),
        };
        if is_own(lock(&self.trees).get(&tree))?
            || is_own(transaction.tree_changes(tree).as_deref())?
        {
            return Ok(false);
        }
        if self.table.is_same_row(snapshot, &self.newest, position)? {
            return Ok(false);
        }
        if let Some(bytes) = self.table.row_in(snapshot, position)? {
            let mut pieces = Pieces::new(snapshot);
            pieces.push_own(definition.types(), position, &bytes)?;
            let row = self.all_columns().batch(&self.table, &mut pieces)?;
            for (_, index) in definition.secondary() {
                let mut key = Vec::new();
                index.encoder.rows(row.columns()).append(0, &mut key);
                key.extend_from_slice(position);
                self.set_unseen(index, key, None);
            }
        }
        Ok(true)
    }

    /// Rows with all columns.
    fn all_columns(&self) -> Projection {
        let columns = self.table.definition.columns().len();
        let all: Vec<ColumnId> = (0..columns).map(ColumnId).collect();
        Projection::of_rows(&self.table, &all)
    }

    /// Adds a row that is known to be new.
    fn add(
        &mut self,
        (arrays, secondary): (&[ArrayRef], &[RowKeys<'_>]),
        place: usize,
        position: &[u8],
        snapshot: Option<&Arc<Snapshot>>,
    ) -> Result<()> {
        let definition = Arc::clone(&self.table.definition);
        self.leave_snapshot(snapshot, position)?;
        let mut bytes = Vec::new();
        row::encode(definition.columns(), arrays.iter(), place, &mut bytes);
        let new = Some(Arc::from(bytes.as_slice()));
        self.set(
            definition.rows(),
            definition.types(),
            position.to_vec(),
            new,
            KeyUse::Add,
        )?;
        for ((_, index), keys) in definition.secondary().zip(secondary) {
            let mut key = Vec::with_capacity(position.len() + 24);
            keys.append(place, &mut key);
            key.extend_from_slice(position);
            bytes.clear();
            row::encode(&index.types, index.arrays(arrays), place, &mut bytes);
            self.set(
                index.tree,
                &index.types,
                key,
                Some(Arc::from(bytes.as_slice())),
                KeyUse::Add,
            )?;
        }
        self.reserve()
    }

    /// Reserves memory for what there is, or puts it into temporary tables.
    fn reserve(&mut self) -> Result<()> {
        let needed = self.bytes + self.bulk.as_ref().map_or(0, Bulk::memory);
        let storage = &self.table.statement.transaction.storage;
        let is_much = self.bytes > storage.most_memory();
        if needed <= self.reservation.bytes() && !is_much {
            return Ok(());
        }
        let wanted = needed.max(self.reservation.bytes() + RESERVE_BYTES);
        match is_much || self.reservation.try_resize(wanted).is_err() {
            true => self.overflow(),
            false => Ok(()),
        }
    }

    /// Whether a load may have so much.
    pub(super) fn has_memory_for(&mut self, bulk: u64) -> bool {
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
            // Rows are looked for where they are from here on.
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
        let mut position = Vec::new();
        let mut key = Vec::new();
        for place in 0..batch.row_count() {
            keys.position(place, &mut position);
            if let (Some((index, _)), true) = (primary, check) {
                self.lock(definition.rows(), &position, LockMode::Exclusive)?;
                self.refresh()?;
                if self.existing(definition.rows(), &position, None)?.is_some() {
                    let duplicate = Duplicate { index, position };
                    return Ok(written(place, Some(duplicate)));
                }
            }
            for ((id, index), keys) in definition.secondary().zip(&keys.secondary) {
                if !check || !index.unique || keys.has_null(place) {
                    continue;
                }
                key.clear();
                keys.append(place, &mut key);
                if let Some(duplicate) = self.duplicate(id, index, &key)? {
                    return Ok(written(place, Some(duplicate)));
                }
            }
            let rows = (arrays, keys.secondary.as_slice());
            self.add(rows, place, &position, snapshot.as_ref())?;
        }
        Ok(written(batch.row_count(), None))
    }

    /// The rows at positions as they are now, locked, and which of the positions they are of.
    fn take_rows(&mut self, positions: &BinaryViewArray) -> Result<(Batch, Vec<usize>)> {
        let definition = Arc::clone(&self.table.definition);
        let tree = definition.rows();
        let (keys, exclusive) = (positions.iter().flatten(), LockMode::Exclusive);
        self.table
            .lock_keys(tree, keys, exclusive, self.wait(), |_| ())?;
        self.refresh()?;
        let mut pieces = Pieces::new(&self.base(definition.rows()));
        let mut found = Vec::with_capacity(positions.len());
        for (place, position) in positions.iter().enumerate() {
            let Some(position) = position else {
                continue;
            };
            let near = pieces.last_block().map(|(_, block)| block);
            match self.existing(tree, position, near)? {
                None => continue,
                Some(Existing::Own(bytes)) => {
                    pieces.push_own(definition.types(), position, &bytes)?;
                }
                Some(Existing::Committed(block, row)) => {
                    let is_last = |last: &Block<'_>| last.bytes.as_ptr() == block.bytes.as_ptr();
                    let number = match pieces.last_block() {
                        Some((number, last)) if is_last(&last) => number,
                        _ => pieces.add_block(block),
                    };
                    pieces.push(number, row, row + 1);
                }
            }
            found.push(place);
        }
        let rows = self.all_columns().batch(&self.table, &mut pieces)?;
        Ok((rows, found))
    }
}

pub(super) fn written(rows: usize, duplicate: Option<Duplicate>) -> RowsWritten {
    RowsWritten { rows, duplicate }
}

impl TableWriter for DurableWriter {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        self.insert_rows(batch, false).map(|_| ())
    }

    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        self.insert_rows(batch, true)
    }

    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        self.leave_bulk()?;
        self.is_new = false;
        let definition = Arc::clone(&self.table.definition);
        let positions = positions.as_binary_view();
        let (old, found) = self.take_rows(positions)?;
        let primary = definition.primary();
        let new_arrays = rows.columns();
        let of_primary = primary.map(|(_, index)| index.encoder.rows(new_arrays));
        let keys_of = |arrays: &'_ [ArrayRef]| -> Vec<Vec<Vec<u8>>> {
            let indexes = definition.secondary();
            indexes
                .map(|(_, index)| {
                    let keys = index.encoder.rows(arrays);
                    let rows = arrays.first().map_or(0, |array| array.len());
                    let key = |row| {
                        let mut key = Vec::new();
                        keys.append(row, &mut key);
                        key
                    };
                    (0..rows).map(key).collect()
                })
                .collect()
        };
        let (old_keys, new_keys) = (keys_of(old.columns()), keys_of(new_arrays));
        let snapshot = self.table.statement.transaction.snapshot.get()?;
        let mut bytes = Vec::new();
        for (was, place) in found.into_iter().enumerate() {
            let position = positions.value(place);
            let mut new_position = position.to_vec();
            if let (Some((index, _)), Some(keys)) = (primary, &of_primary) {
                new_position.clear();
                keys.append(place, &mut new_position);
                if new_position != position {
                    self.lock(definition.rows(), &new_position, LockMode::Exclusive)?;
                    self.refresh()?;
                    if self
                        .existing(definition.rows(), &new_position, None)?
                        .is_some()
                    {
                        let position = new_position;
                        return Ok(written(place, Some(Duplicate { index, position })));
                    }
                }
            }
            for (number, (id, index)) in definition.secondary().enumerate() {
                let key = &new_keys[number][place];
                let is_same = *key == old_keys[number][was];
                if !index.unique || is_same || index.encoder.has_null(new_arrays, place) {
                    continue;
                }
                if let Some(duplicate) = self.duplicate(id, index, key)? {
                    return Ok(written(place, Some(duplicate)));
                }
            }
            let is_other_in_snapshot = self.leave_snapshot(snapshot.as_ref(), position)?;
            if new_position != position {
                self.leave_snapshot(snapshot.as_ref(), &new_position)?;
                let (tree, types) = (definition.rows(), definition.types());
                self.set(tree, types, position.to_vec(), None, KeyUse::Change)?;
            }
            bytes.clear();
            row::encode(definition.columns(), new_arrays.iter(), place, &mut bytes);
            let new = Some(Arc::from(bytes.as_slice()));
            let (tree, types) = (definition.rows(), definition.types());
            let usage = match new_position == position {
                true => KeyUse::Change,
                false => KeyUse::Add,
            };
            self.set(tree, types, new_position.clone(), new, usage)?;
            for (number, (_, index)) in definition.secondary().enumerate() {
                let entry = |key: &[u8], position: &[u8]| [key, position].concat();
                let old_key = entry(&old_keys[number][was], position);
                let new_key = entry(&new_keys[number][place], &new_position);
                bytes.clear();
                row::encode(&index.types, index.arrays(new_arrays), place, &mut bytes);
                let mut usage = KeyUse::Change;
                if old_key == new_key {
                    let mut before = Vec::with_capacity(bytes.len());
                    row::encode(&index.types, index.arrays(old.columns()), was, &mut before);
                    if before == bytes {
                        if is_other_in_snapshot {
                            let same = Some(Arc::from(bytes.as_slice()));
                            self.set_unseen(index, new_key, same);
                        }
                        continue;
                    }
                } else {
                    self.set(index.tree, &index.types, old_key, None, KeyUse::Change)?;
                    usage = KeyUse::Add;
                }
                let new = Some(Arc::from(bytes.as_slice()));
                self.set(index.tree, &index.types, new_key, new, usage)?;
            }
            self.reserve()?;
        }
        Ok(written(rows.row_count(), None))
    }

    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        self.leave_bulk()?;
        self.is_new = false;
        let definition = Arc::clone(&self.table.definition);
        let positions = positions.as_binary_view();
        let (old, found) = self.take_rows(positions)?;
        let arrays = old.columns();
        let secondary: Vec<_> = definition
            .secondary()
            .map(|(_, index)| (index, index.encoder.rows(arrays)))
            .collect();
        let snapshot = self.table.statement.transaction.snapshot.get()?;
        for (was, place) in found.iter().enumerate() {
            let position = positions.value(*place);
            self.leave_snapshot(snapshot.as_ref(), position)?;
            let (tree, types) = (definition.rows(), definition.types());
            self.set(tree, types, position.to_vec(), None, KeyUse::Change)?;
            for (index, keys) in &secondary {
                let mut key = Vec::new();
                keys.append(was, &mut key);
                key.extend_from_slice(position);
                self.set(index.tree, &index.types, key, None, KeyUse::Change)?;
            }
            self.reserve()?;
        }
        Ok(found.len() as u64)
    }

    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        self.leave_bulk()?;
        let definition = &self.table.definition;
        let mut pieces = Pieces::new(&self.base(definition.rows()));
        match self.existing(definition.rows(), position, None)? {
            None => return Ok(None),
            Some(Existing::Own(bytes)) => {
                pieces.push_own(definition.types(), position, &bytes)?;
            }
            Some(Existing::Committed(block, row)) => {
                let number = pieces.add_block(block);
                pieces.push(number, row, row + 1);
            }
        }
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
        // The memory belongs to the transaction from here on.
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

fn lock(
    trees: &Mutex<BTreeMap<TreeId, TreeChanges>>,
) -> MutexGuard<'_, BTreeMap<TreeId, TreeChanges>> {
    trees.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets what is done to a key. `bytes`: of the changes of all trees.
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

/// Whether something was done to a key.
fn has(changes: Option<&TreeChanges>, key: &[u8]) -> Result<bool> {
    match changes {
        Some(changes) => Ok(changes.get(key)?.is_some()),
        None => Ok(false),
    }
}
