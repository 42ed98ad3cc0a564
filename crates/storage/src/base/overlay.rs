//! What a transaction has changed and nobody else sees yet: for each tree, its keys with their new
//! rows, or without.
//!
//! Changes of a statement are collected apart and joined when it finishes. A log of what each change
//! replaced undoes them back to a savepoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_types::PhysicalType;

use super::environment::TreeId;
use super::fill::Fill;
use super::snapshot::Snapshot;

/// A row as bytes (see [`super::row`]), or a record's value in the tree of records; `None` when it is
/// removed.
pub(super) type Change = Option<Arc<[u8]>>;

/// The changes of a tree.
#[derive(Debug, Clone)]
pub(super) struct TreeChanges {
    /// Of its rows.
    pub(super) types: Arc<[PhysicalType]>,
    /// Nothing of what was committed before is left.
    pub(super) cleared: bool,
    /// Nothing will ever be in it again.
    pub(super) dropped: bool,
    /// Blocks of the file that nobody else sees, where nothing was committed.
    pub(super) filled: Option<Arc<Filled>>,
    pub(super) changes: BTreeMap<Vec<u8>, Change>,
}

/// A tree that was filled as a whole.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) fill: Fill,
    /// Which sees all of its blocks.
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) rows: u64,
}

/// The changes of a transaction.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    pub(super) trees: BTreeMap<TreeId, Arc<TreeChanges>>,
}

/// What undoes one change.
#[derive(Debug)]
enum Undo {
    /// The key had this change before, or none.
    Change(TreeId, Vec<u8>, Option<Change>),
    /// The tree had these changes before it was emptied.
    Tree(TreeId, Option<Arc<TreeChanges>>),
}

/// An overlay that can be undone.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) overlay: Overlay,
    log: Vec<Undo>,
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
            filled: None,
            changes: BTreeMap::new(),
        }
    }

    /// What was done to a key; `None` when nothing.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Change> {
        self.changes.get(key)
    }
}

/// About how many bytes a change needs.
pub(super) fn change_bytes(key: &[u8], change: &Change) -> u64 {
    // A node of the tree holds the key's and the row's headers, and the log the key once more.
    (160 + 2 * key.len() + change.as_ref().map_or(0, |row| row.len())) as u64
}

impl Changes {
    /// How many changes were made: a savepoint.
    pub(super) fn len(&self) -> u64 {
        self.log.len() as u64
    }

    /// Sets what is done to a key.
    pub(super) fn set(
        &mut self,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
        key: Vec<u8>,
        change: Change,
    ) {
        let changes = self.overlay.trees.entry(tree);
        let changes = changes.or_insert_with(|| Arc::new(TreeChanges::new(types)));
        let changes = Arc::make_mut(changes);
        let before = changes.changes.insert(key.clone(), change);
        self.log.push(Undo::Change(tree, key, before));
    }

    /// Empties a tree, or removes it for ever.
    pub(super) fn clear(&mut self, tree: TreeId, types: &Arc<[PhysicalType]>, dropped: bool) {
        let mut empty = TreeChanges::new(types);
        empty.cleared = true;
        empty.dropped = dropped;
        let before = self.overlay.trees.insert(tree, Arc::new(empty));
        self.log.push(Undo::Tree(tree, before));
    }

    /// Undoes what came after a savepoint.
    pub(super) fn undo(&mut self, savepoint: u64) {
        while self.log.len() as u64 > savepoint {
            match self.log.pop() {
                Some(Undo::Change(tree, key, before)) => {
                    if let Some(changes) = self.overlay.trees.get_mut(&tree) {
                        let changes = Arc::make_mut(changes);
                        match before {
                            Some(before) => changes.changes.insert(key, before),
                            None => changes.changes.remove(&key),
                        };
                        let is_nothing = !changes.cleared && changes.filled.is_none();
                        if changes.changes.is_empty() && is_nothing {
                            self.overlay.trees.remove(&tree);
                        }
                    }
                }
                Some(Undo::Tree(tree, Some(before))) => {
                    self.overlay.trees.insert(tree, before);
                }
                Some(Undo::Tree(tree, None)) => {
                    self.overlay.trees.remove(&tree);
                }
                None => break,
            }
        }
    }

    /// Puts all changes of a tree that has none, or that was filled as a whole.
    pub(super) fn put(&mut self, tree: TreeId, changes: TreeChanges) {
        let before = self.overlay.trees.insert(tree, Arc::new(changes));
        self.log.push(Undo::Tree(tree, before));
    }

    /// Takes everything out.
    pub(super) fn take(&mut self) -> Overlay {
        self.log = Vec::new();
        std::mem::take(&mut self.overlay)
    }
}
