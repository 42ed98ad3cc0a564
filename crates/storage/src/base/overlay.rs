//! Uncommitted changes of a transaction: for each tree, its keys with their new rows, or removed.
//!
//! Changes of a statement are collected apart and joined when it finishes. An undo log restores what each change
//! replaced, back to a savepoint, together with the undo log of the tables that the changes have overflowed into
//! ([`super::change_map`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_types::{PhysicalType, Result};

use super::bulk_load::BulkLoad;
use super::change_map::{Change, ChangeMap, ChangeStorage};
use super::record_key::TreeId;
use super::snapshot::Snapshot;
use crate::key_encoding::ByteRange;
use crate::temptable::UndoLog;
use crate::transaction::Participant;

/// Changes of a tree.
#[derive(Debug, Clone)]
pub(super) struct TreeChanges {
    /// Column types of the rows.
    pub(super) types: Arc<[PhysicalType]>,
    /// Whether all committed rows are removed.
    pub(super) cleared: bool,
    /// Whether the tree is removed for ever.
    pub(super) dropped: bool,
    /// Blocks in the file that only this transaction sees, of a tree without committed rows.
    pub(super) bulk_loaded: Option<Arc<BulkLoaded>>,
    pub(super) changes: ChangeMap,
}

/// A bulk-loaded tree.
#[derive(Debug)]
pub(super) struct BulkLoaded {
    pub(super) load: BulkLoad,
    /// Snapshot that sees the loaded blocks.
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) rows: u64,
}

/// Changes of a transaction, by tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    pub(super) trees: BTreeMap<TreeId, Arc<TreeChanges>>,
}

/// Number of changes that are read from temporary tables at a time …
const TURN: usize = 8192;
/// … or bytes of changes.
const TURN_BYTES: usize = 1 << 20;

/// Undo record of one change.
#[derive(Debug)]
enum Undo {
    /// The former change of a key.
    Change(TreeId, Vec<u8>, Option<Change>),
    /// The former changes of a tree that was emptied.
    Tree(TreeId, Option<Arc<TreeChanges>>),
    /// The former length of the undo log of the tables.
    Tables(u64),
}

impl Undo {
    /// Estimate of the record's memory in bytes.
    fn bytes(&self) -> u64 {
        let own = size_of::<Self>() as u64;
        match self {
            Self::Change(_, key, before) => {
                let row = before.as_ref().and_then(Option::as_ref);
                own + (key.len() + row.map_or(0, |row| row.len())) as u64
            }
            Self::Tree(..) | Self::Tables(_) => own,
        }
    }
}

/// Overlay with an undo log.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) overlay: Overlay,
    log: Vec<Undo>,
    log_bytes: u64,
    tables: UndoLog,
}

impl Overlay {
    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    pub(super) fn tree(&self, tree: TreeId) -> Option<&Arc<TreeChanges>> {
        self.trees.get(&tree)
    }
}

impl TreeChanges {
    pub(super) fn new(types: &Arc<[PhysicalType]>) -> Self {
        Self {
            types: Arc::clone(types),
            cleared: false,
            dropped: false,
            bulk_loaded: None,
            changes: ChangeMap::default(),
        }
    }

    /// The change of a key, if any.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Change>> {
        self.changes.get(key)
    }

    /// Calls `each` with the current changes of a range, in key order, until it asks to stop.
    pub(super) fn each(
        &self,
        range: &ByteRange,
        each: impl FnMut(&[u8], &Change) -> Result<bool>,
    ) -> Result<()> {
        let snapshot = self.changes.snapshot();
        self.changes.each(snapshot.as_ref(), range, each)
    }

    /// Calls `take` with all changes in key order, in portions, and removes them.
    pub(super) fn in_turns(
        &self,
        mut take: impl FnMut(&mut Vec<(Vec<u8>, Change)>) -> Result<()>,
    ) -> Result<()> {
        let (mut turn, mut bytes) = (Vec::new(), 0);
        self.each(&ByteRange::ALL, |key, change| {
            bytes += key.len() + change.as_ref().map_or(0, |row| row.len());
            turn.push((key.to_vec(), change.clone()));
            if turn.len() == TURN || bytes > TURN_BYTES {
                take(&mut turn)?;
                bytes = 0;
            }
            Ok(true)
        })?;
        take(&mut turn)
    }
}

impl Changes {
    /// Length of the undo log, which identifies a savepoint.
    pub(super) fn len(&self) -> u64 {
        self.log.len() as u64
    }

    /// Estimate of the memory in use, without tables.
    pub(super) fn bytes(&self) -> u64 {
        let trees = self.overlay.trees.values();
        let maps: u64 = trees.map(|tree| tree.changes.bytes()).sum();
        maps + self.log_bytes
    }

    fn log(&mut self, undo: Undo) {
        self.log_bytes += undo.bytes();
        self.log.push(undo);
    }

    /// Sets the changes of keys.
    pub(super) fn set(
        &mut self,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
        entries: impl Iterator<Item = (Vec<u8>, Change)>,
    ) -> Result<()> {
        let changes = self.overlay.trees.entry(tree);
        let changes = changes.or_insert_with(|| Arc::new(TreeChanges::new(types)));
        let changes = Arc::make_mut(changes);
        let mut logged = Vec::new();
        if changes.changes.has_table() {
            logged.push(Undo::Tables(self.tables.savepoint()));
        }
        let log = |key, before| logged.push(Undo::Change(tree, key, before));
        let set = changes.changes.set_all(entries, &self.tables, log);
        logged.into_iter().for_each(|undo| self.log(undo));
        set
    }

    /// Adds further changes to those of a tree.
    pub(super) fn join(
        &mut self,
        tree: TreeId,
        mut changes: TreeChanges,
        storage: &ChangeStorage,
    ) -> Result<()> {
        if !changes.changes.has_table() {
            let entries = changes.changes.take_memory();
            return self.set(tree, &changes.types, entries.into_iter());
        }
        if let Some(own) = self.overlay.trees.get_mut(&tree) {
            Arc::make_mut(own).changes.move_to_table(storage)?;
        }
        changes.in_turns(|turn| self.set(tree, &changes.types, turn.drain(..)))
    }

    /// Empties a tree, or removes it for ever.
    pub(super) fn clear(&mut self, tree: TreeId, types: &Arc<[PhysicalType]>, dropped: bool) {
        let mut empty = TreeChanges::new(types);
        empty.cleared = true;
        empty.dropped = dropped;
        self.put(tree, empty);
    }

    /// Sets all changes of a tree that has none, or that was bulk loaded.
    pub(super) fn put(&mut self, tree: TreeId, changes: TreeChanges) {
        let before = self.overlay.trees.insert(tree, Arc::new(changes));
        self.log(Undo::Tree(tree, before));
    }

    /// Moves the changes in memory to tables, except the undo log.
    pub(super) fn overflow(&mut self, storage: &ChangeStorage) -> Result<()> {
        for changes in self.overlay.trees.values_mut() {
            if changes.changes.bytes() > 0 {
                Arc::make_mut(changes).changes.overflow(storage)?;
            }
        }
        Ok(())
    }

    /// Undoes the changes since a savepoint.
    pub(super) fn undo(&mut self, savepoint: u64) {
        while self.log.len() as u64 > savepoint {
            let Some(undo) = self.log.pop() else {
                break;
            };
            self.log_bytes -= undo.bytes();
            match undo {
                Undo::Change(tree, key, before) => {
                    if let Some(changes) = self.overlay.trees.get_mut(&tree) {
                        let changes = Arc::make_mut(changes);
                        changes.changes.restore(key, before);
                        let is_nothing = !changes.cleared && changes.bulk_loaded.is_none();
                        if is_nothing && changes.changes.is_empty() {
                            self.overlay.trees.remove(&tree);
                        }
                    }
                }
                Undo::Tree(tree, Some(before)) => {
                    self.overlay.trees.insert(tree, before);
                }
                Undo::Tree(tree, None) => {
                    self.overlay.trees.remove(&tree);
                }
                Undo::Tables(savepoint) => {
                    self.tables.roll_back_to(savepoint);
                }
            }
        }
    }

    /// Takes out all changes.
    pub(super) fn take(&mut self) -> Overlay {
        self.log = Vec::new();
        self.log_bytes = 0;
        self.tables.forget();
        std::mem::take(&mut self.overlay)
    }
}
