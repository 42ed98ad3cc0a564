//! The version of a tree, which tells readers of other snapshots whether they would see its rows, and in which ranges of
//! keys its rows have changed, for one who watches them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use mayfly_memory::sync::{read_lock, write_lock};

/// Version of a tree that is being changed.
const CHANGING: u64 = u64::MAX;

/// The version of a tree: the number of the last commit that has changed it.
#[derive(Debug)]
pub struct TreeVersion {
    version: AtomicU64,
    watched: RwLock<Option<Arc<WatchedRanges>>>,
}

impl TreeVersion {
    pub(crate) fn new(version: u64) -> Self {
        Self {
            version: AtomicU64::new(version),
            watched: RwLock::default(),
        }
    }

    /// The version; greater than that of any snapshot while the tree is being changed.
    pub fn get(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Notes that a commit begins to change the tree.
    pub(crate) fn begin(&self) {
        self.set(CHANGING);
    }

    /// Notes that the changes are visible since a version.
    pub(crate) fn set(&self, version: u64) {
        self.version.store(version, Ordering::SeqCst);
    }

    /// The ranges whose changes are counted.
    pub fn watched(&self) -> Option<Arc<WatchedRanges>> {
        read_lock(&self.watched).clone()
    }

    /// Sets the ranges whose changes are counted.
    pub(crate) fn watch(&self, ranges: Arc<WatchedRanges>) {
        *write_lock(&self.watched) = Some(ranges);
    }
}

/// Ranges that cover all keys of a tree, each with the number of commits that have changed rows in it: a commit is counted
/// before its changes are visible.
#[derive(Debug)]
pub struct WatchedRanges {
    /// Where each range begins; the first begins before all keys.
    starts: Vec<Vec<u8>>,
    changes: Vec<AtomicU64>,
}

impl WatchedRanges {
    /// Ranges that begin at these keys, which ascend, whatever the first one is.
    pub fn new(mut starts: Vec<Vec<u8>>) -> Self {
        match starts.first_mut() {
            Some(first) => first.clear(),
            None => starts.push(Vec::new()),
        }
        Self {
            changes: starts.iter().map(|_| AtomicU64::new(0)).collect(),
            starts,
        }
    }

    /// Where each range begins.
    pub fn starts(&self) -> &[Vec<u8>] {
        &self.starts
    }

    /// The number of commits that have changed rows of each range.
    pub fn changes(&self) -> Vec<u64> {
        let changes = self.changes.iter();
        changes
            .map(|changes| changes.load(Ordering::SeqCst))
            .collect()
    }

    /// The range of a key.
    pub fn range_of(&self, key: &[u8]) -> usize {
        let after = self.starts.partition_point(|start| start.as_slice() <= key);
        after.saturating_sub(1)
    }

    /// Counts a change of a row.
    pub(crate) fn note(&self, key: &[u8]) {
        self.changes[self.range_of(key)].fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a change of all rows.
    pub(crate) fn note_all(&self) {
        for changes in &self.changes {
            changes.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_keys() {
        let starts = ["c", "f", "m"].map(|start| start.as_bytes().to_vec());
        let ranges = WatchedRanges::new(starts.to_vec());
        for key in ["", "a", "c", "e", "f", "l", "m", "z"] {
            ranges.note(key.as_bytes());
        }
        assert_eq!(ranges.changes(), [4, 2, 2]);
        ranges.note_all();
        assert_eq!(ranges.changes(), [5, 3, 3]);
        let whole = WatchedRanges::new(Vec::new());
        whole.note(b"x");
        assert_eq!((whole.starts().len(), whole.changes()), (1, vec![1]));
    }
}
