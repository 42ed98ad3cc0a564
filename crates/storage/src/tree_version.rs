//! The version of a tree, which tells readers of other snapshots whether they would see its rows.

use std::sync::atomic::{AtomicU64, Ordering};

/// Version of a tree that is being changed.
const CHANGING: u64 = u64::MAX;

/// The version of a tree: the number of the last commit that has changed it.
#[derive(Debug)]
pub struct TreeVersion(AtomicU64);

impl TreeVersion {
    pub(crate) fn new(version: u64) -> Self {
        Self(AtomicU64::new(version))
    }

    /// The version; greater than that of any snapshot while the tree is being changed.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Notes that a commit begins to change the tree.
    pub(crate) fn begin(&self) {
        self.set(CHANGING);
    }

    /// Notes that the changes are visible since a version.
    pub(crate) fn set(&self, version: u64) {
        self.0.store(version, Ordering::SeqCst);
    }
}
