//! Versions of trees: the last commit that has changed a tree, for those that somebody asks about.
//!
//! A commit notes the trees that it changes before any reader can see the change: first that a change is under way, and
//! once it is visible, its version. So a tree whose version is at most a snapshot's, before and after the snapshot was
//! taken, holds the rows of that snapshot. Trees that nobody asks about cost a commit one read of a flag.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock, Weak};

use mayfly_memory::sync::{read_lock, write_lock};

use super::environment::Environment;
use super::record_key::TreeId;

/// Version of a tree that is being changed, or about which nothing is known yet.
const CHANGING: u64 = u64::MAX;

/// The version of a tree: the number of the last commit that has changed it.
#[derive(Debug)]
pub struct TreeVersion(AtomicU64);

impl TreeVersion {
    /// The version; greater than that of any snapshot while the tree is being changed.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// The versions that somebody has asked for.
#[derive(Debug, Default)]
pub(super) struct TreeVersions {
    is_any: AtomicBool,
    versions: RwLock<HashMap<TreeId, Weak<TreeVersion>>>,
}

impl TreeVersions {
    /// The versions of trees that a commit changes, each marked as changing; the caller sets them once the changes are
    /// visible or undone.
    #[inline]
    pub(super) fn begin(&self, trees: impl FnOnce() -> Vec<TreeId>) -> Vec<Arc<TreeVersion>> {
        if !self.is_any.load(Ordering::SeqCst) {
            return Vec::new();
        }
        let versions = read_lock(&self.versions);
        let known = trees()
            .into_iter()
            .filter_map(|tree| versions.get(&tree)?.upgrade());
        let known: Vec<_> = known.collect();
        for version in &known {
            version.0.store(CHANGING, Ordering::SeqCst);
        }
        known
    }

    /// Notes that the changes of trees are visible since a version.
    pub(super) fn end(changed: &[Arc<TreeVersion>], version: u64) {
        for tree in changed {
            tree.0.store(version, Ordering::SeqCst);
        }
    }
}

impl Environment {
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
        let new = Arc::new(TreeVersion(AtomicU64::new(self.version())));
        all.insert(tree, Arc::downgrade(&new));
        versions.is_any.store(true, Ordering::SeqCst);
        new
    }
}
