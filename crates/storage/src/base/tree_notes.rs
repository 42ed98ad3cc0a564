//! What a store notes about single trees: what their rows are charged to ([`super::tree_space`]) and their versions
//! ([`super::tree_versions`]).

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use mayfly_memory::Budget;
use mayfly_memory::sync::{read_lock, write_lock};
use mayfly_types::Result;

use super::environment::Environment;
use super::overlay::Overlay;
use super::record_key::TreeId;
use super::statistics::tree_bytes;
use super::store::DurableStore;
use super::tree_space::TreeSpace;
use crate::key_encoding::ByteRange;
use crate::tree_version::{TreeVersion, WatchedRanges};

impl Environment {
    /// Charges the rows of a transaction that is about to commit.
    pub(super) fn charge(&self, overlay: &Overlay) -> Result<()> {
        for (tree, changes) in &overlay.trees {
            let Some(space) = self.tree_spaces.get(*tree) else {
                continue;
            };
            let mut bytes = 0;
            changes.each(&ByteRange::ALL, |key, row| {
                bytes += row.as_ref().map_or(0, |row| key.len() + row.len());
                Ok(true)
            })?;
            if bytes > 0 {
                space.grow(bytes as u64)?;
            }
        }
        Ok(())
    }

    /// The charged trees among those that are changed.
    #[inline]
    pub(super) fn charged_trees(&self, changed: &Overlay) -> Vec<TreeId> {
        if !self.tree_spaces.is_any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let spaces = read_lock(&self.tree_spaces.spaces);
        let trees = changed.trees.keys().copied();
        trees.filter(|tree| spaces.contains_key(tree)).collect()
    }

    /// Charges a tree, if it is charged, by its present size.
    pub(super) fn settle(&self, tree: TreeId) {
        // Without the statistics the charge stays.
        if let Some(space) = self.tree_spaces.get(tree)
            && let Ok(bytes) = tree_bytes(self, tree)
        {
            space.settle(bytes);
        }
    }

    /// The version of a tree from now on: until it changes, that of the last commit of any tree.
    pub(super) fn tree_version(&self, tree: TreeId) -> Arc<TreeVersion> {
        let versions = &self.tree_versions;
        let known = read_lock(&versions.versions)
            .get(&tree)
            .and_then(Weak::upgrade);
        if let Some(known) = known {
            return known;
        }
        // No commit is under way: what it changes would not be noted.
        let _applying = self.applying();
        let mut all = write_lock(&versions.versions);
        if let Some(known) = all.get(&tree).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, version| version.strong_count() > 0);
        let new = Arc::new(TreeVersion::new(self.version()));
        all.insert(tree, Arc::downgrade(&new));
        versions.is_any.store(true, Ordering::SeqCst);
        new
    }
}

impl DurableStore {
    /// Watches ranges of a tree's keys from now on, in place of those before: while no commit is under way, `ranges`
    /// makes them.
    pub fn watch(&self, tree: &TreeVersion, ranges: impl FnOnce() -> Arc<WatchedRanges>) {
        let _applying = self.0.environment.applying();
        tree.watch(ranges());
    }

    /// Charges the rows of a tree to a budget as long as the result lives.
    pub fn charge(&self, tree: TreeId, budget: &Budget, name: &Arc<str>) -> Arc<TreeSpace> {
        let space = Arc::new(TreeSpace {
            reservation: Mutex::new(budget.reservation()),
            name: Arc::clone(name),
        });
        let spaces = &self.0.environment.tree_spaces;
        let mut known = write_lock(&spaces.spaces);
        known.retain(|_, space| space.strong_count() > 0);
        known.insert(tree, Arc::downgrade(&space));
        spaces.is_any.store(true, Ordering::Release);
        space
    }
}
