//! Versions of trees: the last commit that has changed a tree, for those that somebody asks about.
//!
//! A commit notes the trees that it changes before any reader can see the change: first that a change is under way, and
//! once it is visible, its version. So a tree whose version is at most a snapshot's, before and after the snapshot was
//! taken, holds the rows of that snapshot. Trees that nobody asks about cost a commit one read of a flag.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock, Weak};

use mayfly_memory::sync::read_lock;

use super::record_key::TreeId;
use crate::tree_version::{TreeVersion, WatchedRanges};

/// The versions that somebody has asked for.
#[derive(Debug, Default)]
pub(super) struct TreeVersions {
    pub(super) is_any: AtomicBool,
    pub(super) versions: RwLock<HashMap<TreeId, Weak<TreeVersion>>>,
}

impl TreeVersions {
    /// The versions of trees that a commit changes, each marked as changing, with its watched ranges; the caller sets
    /// them once the changes are visible or undone.
    #[inline]
    pub(super) fn begin(
        &self,
        trees: impl FnOnce() -> Vec<TreeId>,
        note: impl Fn(TreeId, &WatchedRanges),
    ) -> Vec<Arc<TreeVersion>> {
        if !self.is_any.load(Ordering::SeqCst) {
            return Vec::new();
        }
        let versions = read_lock(&self.versions);
        let trees = trees().into_iter();
        let known = trees.filter_map(|tree| Some((tree, versions.get(&tree)?.upgrade()?)));
        let known: Vec<_> = known.collect();
        for (_, version) in &known {
            version.begin();
        }
        drop(versions);
        for (tree, version) in &known {
            if let Some(ranges) = version.watched() {
                note(*tree, &ranges);
            }
        }
        known.into_iter().map(|(_, version)| version).collect()
    }

    /// Notes that the changes of trees are visible since a version.
    pub(super) fn end(changed: &[Arc<TreeVersion>], version: u64) {
        for tree in changed {
            tree.set(version);
        }
    }
}
