//! Insert, update and delete of one row: its locks, duplicates, and its entries in every index. Batches and single
//! rows share this code.

use std::sync::Arc;

use mayfly_types::Result;

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
            for (_, index) in definition.secondary() {
                let mut key = Vec::new();
                index.encoder.rows(row.columns()).append(0, &mut key);
                key.extend_from_slice(position);
                self.set_unseen(index, key, None);
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
            key.clear();
            row.append_key(number, key)?;
            if let Some(duplicate) = self.duplicate(id, index, key)? {
                return Ok(Some(duplicate));
            }
        }
        self.leave_snapshot(snapshot, position)?;
        bytes.clear();
        row.encode(bytes)?;
        let new = Some(Arc::from(bytes.as_slice()));
        let (tree, types) = (definition.rows(), definition.types());
        self.set(tree, types, position.clone(), new, KeyUse::Add)?;
        for (number, (_, index)) in definition.secondary().enumerate() {
            let mut key = Vec::with_capacity(position.len() + 24);
            row.append_key(number, &mut key)?;
            key.extend_from_slice(position);
            bytes.clear();
            row.encode_entry(index, bytes)?;
            let new = Some(Arc::from(bytes.as_slice()));
            self.set(index.tree, &index.types, key, new, KeyUse::Add)?;
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
            bytes,
            ..
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
        let mut keys = Vec::new();
        for (number, (id, index)) in definition.secondary().enumerate() {
            let (mut old_key, mut new_key) = (Vec::new(), Vec::new());
            old.append_key(number, &mut old_key)?;
            new.append_key(number, &mut new_key)?;
            if index.unique
                && old_key != new_key
                && !new.has_null(number)
                && let Some(duplicate) = self.duplicate(id, index, &new_key)?
            {
                return Ok(Some(duplicate));
            }
            old_key.extend_from_slice(position);
            new_key.extend_from_slice(new_position);
            keys.push((old_key, new_key));
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
        for ((_, index), (old_key, new_key)) in definition.secondary().zip(keys) {
            bytes.clear();
            new.encode_entry(index, bytes)?;
            let mut usage = KeyUse::Change;
            if old_key == new_key {
                let mut before = Vec::with_capacity(bytes.len());
                old.encode_entry(index, &mut before)?;
                if before == *bytes {
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
            let entry = Some(Arc::from(bytes.as_slice()));
            self.set(index.tree, &index.types, new_key, entry, usage)?;
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
        for (number, (_, index)) in definition.secondary().enumerate() {
            let mut key = Vec::new();
            row.append_key(number, &mut key)?;
            key.extend_from_slice(position);
            self.set(index.tree, &index.types, key, None, KeyUse::Change)?;
        }
        self.reserve()
    }
}
