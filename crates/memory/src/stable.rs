//! Stable memory: the ranges that a temporary table may point into.
//!
//! A base table's chunks do not move or change while a reader holds them, and they are charged to
//! the base table already. A temporary table built from them therefore need not copy their strings:
//! it keeps the buffer alive and points into it. [`StableRanges::contains`] decides by address
//! whether a buffer is stable, however many operators a string has passed through.

use crate::sync::{read_lock, write_lock};
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

/// The registered ranges of one process (or one database). Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct StableRanges(Arc<RwLock<BTreeMap<usize, usize>>>);

impl StableRanges {
    /// An empty set of ranges.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `length` bytes from `address` until the result is dropped. The caller keeps the
    /// bytes where they are for as long as anyone holds the buffer that owns them.
    pub fn register(&self, address: usize, length: usize) -> StableRange {
        let end = address.saturating_add(length);
        if length > 0 {
            write_lock(&self.0).insert(address, end);
        }
        StableRange {
            ranges: self.clone(),
            address,
            length,
        }
    }

    /// Whether all `length` bytes from `address` lie in one registered range.
    pub fn contains(&self, address: usize, length: usize) -> bool {
        let ranges = read_lock(&self.0);
        ranges
            .range(..=address)
            .next_back()
            .is_some_and(|(_, end)| address.saturating_add(length) <= *end)
    }
}

/// A range that is registered until this is dropped.
#[derive(Debug)]
pub struct StableRange {
    ranges: StableRanges,
    address: usize,
    length: usize,
}

impl Drop for StableRange {
    fn drop(&mut self) {
        if self.length > 0 {
            let mut ranges = write_lock(&self.ranges.0);
            ranges.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_by_any_part_and_forgotten_on_drop() {
        let ranges = StableRanges::new();
        let first = ranges.register(1000, 100);
        let _second = ranges.register(1100, 50);
        assert!(ranges.contains(1000, 100) && ranges.contains(1050, 50));
        assert!(!ranges.contains(1050, 51) && !ranges.contains(999, 1));
        assert!(ranges.contains(1149, 1) && !ranges.contains(1150, 1));
        drop(first);
        assert!(!ranges.contains(1050, 1) && ranges.contains(1100, 50));
    }
}
