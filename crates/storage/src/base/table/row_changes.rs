//! Insert, update and delete of one row: its locks, duplicates, and its entries in every index, of which there may be
//! any number in a multi-valued one. Batches and single rows share this code.

use std::sync::Arc;

use mayfly_types::{Error, Result};

use crate::base::definition::IndexTree;
use crate::base::gather::Pieces;
use crate::base::locks::ranges::KeyUse;
use crate::base::overlay::TreeChanges;
use crate::base::row_source::RowSource;
use crate::base::snapshot::Snapshot;
use crate::base::table::writer::{DurableWriter, has};
use crate::table::{Duplicate, LockMode};
use mayfly_memory::sync::lock;

/// Reusable buffers for the bytes of one row and its keys.
#[derive(Default)]
pub(in crate::base) struct Scratch {
    position: Vec<u8>,
    key: Vec<u8>,
    bytes: Vec<u8>,
}

/// Change of one entry of a row that is updated: its key before and after, each with the row's position.
struct EntryChange<'d> {
    index: &'d IndexTree,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

impl EntryChange<'_> {
    /// The key before, without the row's position.
    fn old_key(&self, position: &[u8]) -> Option<&[u8]> {
        self.old.as_deref()?.strip_suffix(position)
    }
}

impl DurableWriter {
    /// Prepares writing to a position. If the row there in the transaction's snapshot differs from the newest one,
    /// because another transaction has committed a change of it, this hides the index entries that lead to the
    /// snapshot's row, and returns true. Every index must then get an entry for the new row, even if its key is
    /// unchanged. `snapshot`: the transaction's, if it has one.
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
            Some(changes) if changes.cleared || changes.bulk_loaded.is_some() => Ok(true),
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
            let mut key = Vec::new();
            for (_, index) in definition.secondary() {
                let keys = index.encoder.rows(row.columns());
                keys.each_entry(0, &mut key, |key| {
                    self.set_unseen(index, [key.as_slice(), position].concat(), None);
                    Ok::<_, Error>(())
                })?;
            }
        }
        Ok(true)
    }

    /// Adds a row, or returns the row that it duplicates. `check`: it may be a duplicate. `snapshot`: the
    /// transaction's, if it may have a row at this position.
    pub(in crate::base) fn insert_row(
        &mut self,
        row: &impl RowSource,
        check: bool,
        snapshot: Option<&Arc<Snapshot>>,
        scratch: &mut Scratch,
    ) -> Result<Option<Duplicate>> {
        let definition = Arc::clone(&self.table.definition);
        let Scratch {
            position,
            key,
            bytes,
        } = scratch;
        row.position(position)?;
        if let (Some((index, _)), true) = (definition.primary(), check) {
            self.lock_new(definition.rows(), position)?;
            self.refresh()?;
            if self.existing(definition.rows(), position, None)?.is_some() {
                let position = std::mem::take(position);
                return Ok(Some(Duplicate { index, position }));
            }
        }
        for (number, (id, index)) in definition.secondary().enumerate() {
            if !check || !index.unique || row.has_null(number) {
                continue;
            }
            let mut duplicate = None;
            row.each_entry(number, key, |key| {
                if duplicate.is_none() {
                    duplicate = self.duplicate(id, index, key)?;
                }
                Ok(())
            })?;
            if duplicate.is_some() {
                return Ok(duplicate);
            }
        }
        self.leave_snapshot(snapshot, position)?;
        bytes.clear();
        row.encode(bytes)?;
        let new = Some(Arc::from(bytes.as_slice()));
        let (tree, types) = (definition.rows(), definition.types());
        self.set(tree, types, position.clone(), new, KeyUse::Add)?;
        for (number, (_, index)) in definition.secondary().enumerate() {
            bytes.clear();
            row.encode_entry(index, bytes)?;
            row.each_entry(number, key, |key| {
                let key = [key.as_slice(), position.as_slice()].concat();
                let new = Some(Arc::from(bytes.as_slice()));
                self.set(index.tree, &index.types, key, new, KeyUse::Add)
            })?;
        }
        self.reserve()?;
        Ok(None)
    }

    /// Replaces the locked row at a position, or returns the row that the new one duplicates.
    pub(in crate::base) fn update_row(
        &mut self,
        position: &[u8],
        (old, new): (&impl RowSource, &impl RowSource),
        snapshot: Option<&Arc<Snapshot>>,
        scratch: &mut Scratch,
    ) -> Result<Option<Duplicate>> {
        let definition = Arc::clone(&self.table.definition);
        let Scratch {
            position: new_position,
            key,
            bytes,
        } = scratch;
        new_position.clear();
        match definition.primary() {
            None => new_position.extend_from_slice(position),
            Some((index, _)) => {
                new.position(new_position)?;
                if *new_position != position {
                    self.lock(definition.rows(), new_position, LockMode::Exclusive)?;
                    self.refresh()?;
                    let existing = self.existing(definition.rows(), new_position, None)?;
                    if existing.is_some() {
                        let position = std::mem::take(new_position);
                        return Ok(Some(Duplicate { index, position }));
                    }
                }
            }
        }
        let mut changes = Vec::new();
        for (number, (id, index)) in definition.secondary().enumerate() {
            let (first, mut duplicate) = (changes.len(), None);
            old.each_entry(number, key, |key| {
                let old = Some([key.as_slice(), position].concat());
                changes.push(EntryChange {
                    index,
                    old,
                    new: None,
                });
                Ok(())
            })?;
            let (mut at, end) = (first, changes.len());
            let is_checked = index.unique && !new.has_null(number);
            new.each_entry(number, key, |key| {
                // Both rows' entries are in ascending order.
                while at < end && changes[at].old_key(position) < Some(key.as_slice()) {
                    at += 1;
                }
                let new = Some([key.as_slice(), new_position.as_slice()].concat());
                if at < end && changes[at].old_key(position) == Some(key.as_slice()) {
                    changes[at].new = new;
                    return Ok(());
                }
                if is_checked && duplicate.is_none() {
                    duplicate = self.duplicate(id, index, key)?;
                }
                changes.push(EntryChange {
                    index,
                    old: None,
                    new,
                });
                Ok(())
            })?;
            if duplicate.is_some() {
                return Ok(duplicate);
            }
        }
        let is_other_in_snapshot = self.leave_snapshot(snapshot, position)?;
        let (tree, types) = (definition.rows(), definition.types());
        let mut usage = KeyUse::Change;
        if *new_position != position {
            self.leave_snapshot(snapshot, new_position)?;
            self.set(tree, types, position.to_vec(), None, KeyUse::Change)?;
            usage = KeyUse::Add;
        }
        bytes.clear();
        new.encode(bytes)?;
        let row = Some(Arc::from(bytes.as_slice()));
        self.set(tree, types, new_position.clone(), row, usage)?;
        for change in changes {
            let EntryChange {
                index,
                old: old_key,
                new: new_key,
            } = change;
            bytes.clear();
            new.encode_entry(index, bytes)?;
            let mut usage = KeyUse::Change;
            if old_key == new_key {
                let mut before = Vec::with_capacity(bytes.len());
                old.encode_entry(index, &mut before)?;
                if before == *bytes {
                    if let (true, Some(key)) = (is_other_in_snapshot, new_key) {
                        let same = Some(Arc::from(bytes.as_slice()));
                        self.set_unseen(index, key, same);
                    }
                    continue;
                }
            } else {
                if let Some(key) = old_key {
                    self.set(index.tree, &index.types, key, None, KeyUse::Change)?;
                }
                usage = KeyUse::Add;
            }
            if let Some(key) = new_key {
                let entry = Some(Arc::from(bytes.as_slice()));
                self.set(index.tree, &index.types, key, entry, usage)?;
            }
        }
        self.reserve()?;
        Ok(None)
    }

    /// Removes the locked row at a position.
    pub(in crate::base) fn delete_row(
        &mut self,
        position: &[u8],
        row: &impl RowSource,
        snapshot: Option<&Arc<Snapshot>>,
    ) -> Result<()> {
        let definition = Arc::clone(&self.table.definition);
        self.leave_snapshot(snapshot, position)?;
        let (tree, types) = (definition.rows(), definition.types());
        self.set(tree, types, position.to_vec(), None, KeyUse::Change)?;
        let mut key = Vec::new();
        for (number, (_, index)) in definition.secondary().enumerate() {
            row.each_entry(number, &mut key, |key| {
                let key = [key.as_slice(), position].concat();
                self.set(index.tree, &index.types, key, None, KeyUse::Change)
            })?;
        }
        self.reserve()
    }
}
