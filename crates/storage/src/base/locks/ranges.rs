//! Range locks: key ranges that transactions have read and hold until they end.
//!
//! A range lock forbids other owners some uses of the keys in it, present or absent: so a repeated read finds no
//! phantom rows. Each owner's ranges of a tree are ordered and disjoint, so that a key is checked by one search per
//! owner. Above a maximum number they are joined into one, from the first to the last.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::base::locks::LockOwner;
use crate::base::record_key::TreeId;
use crate::key_encoding::ByteRange;
use crate::table::LockMode;

/// Mode of a range lock: what it forbids to other owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RangeMode {
    /// Forbids adding keys.
    Gap,
    /// Forbids any change.
    Shared,
    /// Forbids any change, and locking in mode [`Self::Shared`] or this one.
    Exclusive,
}

/// Use of a key that may conflict with range locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyUse {
    /// Lock the key.
    Lock(LockMode),
    /// Change or remove an existing row.
    Change,
    /// Add a key.
    Add,
}

/// Number of ranges of an owner in a tree above which they are joined into one.
const MOST_RANGES: usize = 1 << 10;

/// Memory of a range, about, beside its bounds.
const RANGE_BYTES: u64 = 128;

/// Disjoint ranges: start to exclusive end (`None`: unbounded).
#[derive(Debug, Default)]
struct RangeSet(BTreeMap<Vec<u8>, Option<Vec<u8>>>);

/// Whether an exclusive end lies behind a key.
fn is_behind(end: Option<&[u8]>, key: &[u8]) -> bool {
    end.is_none_or(|end| key < end)
}

fn bytes_of(start: &[u8], end: Option<&[u8]>) -> u64 {
    RANGE_BYTES + (start.len() + end.map_or(0, <[u8]>::len)) as u64
}

impl RangeSet {
    /// The last range that begins at a key or before it.
    fn up_to(&self, key: &[u8]) -> Option<(&Vec<u8>, &Option<Vec<u8>>)> {
        let bounds = (Bound::Unbounded, Bound::Included(key));
        self.0.range::<[u8], _>(bounds).next_back()
    }

    /// The first range that begins at a key or behind it.
    fn from(&self, key: &[u8]) -> Option<(&Vec<u8>, &Option<Vec<u8>>)> {
        let bounds = (Bound::Included(key), Bound::Unbounded);
        self.0.range::<[u8], _>(bounds).next()
    }

    fn contains(&self, key: &[u8]) -> bool {
        let before = self.up_to(key);
        before.is_some_and(|(_, end)| is_behind(end.as_deref(), key))
    }

    fn overlaps(&self, range: &ByteRange) -> bool {
        let next = self.from(&range.start);
        self.contains(&range.start)
            || next.is_some_and(|(start, _)| is_behind(range.end.as_deref(), start))
    }

    fn covers(&self, range: &ByteRange) -> bool {
        match (self.up_to(&range.start), &range.end) {
            (None, _) | (Some((_, Some(_))), None) => false,
            (Some((_, None)), _) => true,
            (Some((_, Some(end))), Some(wanted)) => wanted <= end,
        }
    }

    /// Adds a range, joined with those that it touches; returns the change of the set's memory in bytes.
    fn add(&mut self, range: ByteRange) -> i64 {
        let ByteRange { mut start, mut end } = range;
        let mut change = 0;
        if let Some((first, last)) = self.up_to(&start)
            && last.as_deref().is_none_or(|last| last >= start.as_slice())
        {
            start.clone_from(first);
        }
        while let Some((first, last)) = self.from(&start)
            && end.as_ref().is_none_or(|end| first <= end)
        {
            end = match (end, last) {
                (Some(end), Some(last)) => Some(end.max(last.clone())),
                _ => None,
            };
            change -= bytes_of(first, last.as_deref()) as i64;
            let first = first.clone();
            self.0.remove(&first);
        }
        change += bytes_of(&start, end.as_deref()) as i64;
        self.0.insert(start, end);
        if self.0.len() > MOST_RANGES {
            change += self.join_all();
        }
        change
    }

    /// Joins all ranges into one; returns the change of the set's memory in bytes.
    fn join_all(&mut self) -> i64 {
        let all = std::mem::take(&mut self.0);
        let bytes: u64 = all
            .iter()
            .map(|(start, end)| bytes_of(start, end.as_deref()))
            .sum();
        let last = all.last_key_value().map(|(_, end)| end.clone());
        let (Some((first, _)), Some(last)) = (all.into_iter().next(), last) else {
            return 0;
        };
        let left = bytes_of(&first, last.as_deref());
        self.0.insert(first, last);
        left as i64 - bytes as i64
    }
}

#[derive(Debug)]
struct OwnRanges {
    owner: LockOwner,
    mode: RangeMode,
    set: RangeSet,
}

/// Range locks of all owners.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    trees: HashMap<TreeId, Vec<OwnRanges>>,
    /// Announced ranges, by announcement number: they count as if they were held.
    coming: Vec<(u64, LockOwner, TreeId, RangeMode, Vec<ByteRange>)>,
    last_coming: u64,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.trees.is_empty() && self.coming.is_empty()
    }

    /// The owners of ranges that conflict with an owner's use of a key.
    pub(crate) fn blockers_of_key(
        &self,
        owner: LockOwner,
        tree: TreeId,
        key: &[u8],
        usage: KeyUse,
    ) -> Vec<LockOwner> {
        let least = match usage {
            KeyUse::Add => RangeMode::Gap,
            KeyUse::Change | KeyUse::Lock(LockMode::Exclusive) => RangeMode::Shared,
            KeyUse::Lock(LockMode::Shared) => RangeMode::Exclusive,
        };
        let holds = |set: &RangeSet| set.contains(key);
        let comes = |range: &ByteRange| range.contains(key);
        self.blockers(owner, tree, |mode| mode >= least, holds, comes)
    }

    /// The owners of conflicting ranges of a tree, held or announced.
    fn blockers(
        &self,
        owner: LockOwner,
        tree: TreeId,
        conflicts: impl Fn(RangeMode) -> bool,
        holds: impl Fn(&RangeSet) -> bool,
        comes: impl Fn(&ByteRange) -> bool,
    ) -> Vec<LockOwner> {
        let held = self.trees.get(&tree).into_iter().flatten();
        let held =
            held.filter(|other| other.owner != owner && conflicts(other.mode) && holds(&other.set));
        let coming = self.coming.iter().filter(|(_, other, of, mode, ranges)| {
            *other != owner && *of == tree && conflicts(*mode) && ranges.iter().any(&comes)
        });
        let held = held.map(|ranges| ranges.owner);
        held.chain(coming.map(|(_, other, ..)| *other)).collect()
    }

    /// The owners of ranges that conflict with an owner's request.
    pub(crate) fn blockers_of_ranges(
        &self,
        owner: LockOwner,
        tree: TreeId,
        mode: RangeMode,
        ranges: &[ByteRange],
    ) -> Vec<LockOwner> {
        let is_in_the_way = |other: RangeMode| {
            mode > RangeMode::Gap
                && other > RangeMode::Gap
                && mode.max(other) == RangeMode::Exclusive
        };
        let holds = |set: &RangeSet| ranges.iter().any(|range| set.overlaps(range));
        let comes = |other: &ByteRange| ranges.iter().any(|range| overlap(other, range));
        self.blockers(owner, tree, is_in_the_way, holds, comes)
    }

    /// Whether an owner holds a range already.
    pub(crate) fn has(
        &self,
        owner: LockOwner,
        tree: TreeId,
        mode: RangeMode,
        range: &ByteRange,
    ) -> bool {
        let mut held = self.trees.get(&tree).into_iter().flatten();
        held.any(|held| held.owner == owner && held.mode >= mode && held.set.covers(range))
    }

    /// Announces ranges that an owner is about to lock; returns the announcement's number.
    pub(crate) fn announce(
        &mut self,
        owner: LockOwner,
        tree: TreeId,
        mode: RangeMode,
        ranges: Vec<ByteRange>,
    ) -> u64 {
        self.last_coming += 1;
        self.coming
            .push((self.last_coming, owner, tree, mode, ranges));
        self.last_coming
    }

    /// Ends an announcement: the ranges are held from now on if `comes`. Returns the change of their memory in bytes.
    pub(crate) fn settle(&mut self, number: u64, comes: bool) -> i64 {
        let Some(index) = self.coming.iter().position(|(it, ..)| *it == number) else {
            return 0;
        };
        let (_, owner, tree, mode, ranges) = self.coming.swap_remove(index);
        if !comes {
            return 0;
        }
        let of_tree = self.trees.entry(tree).or_default();
        let is_own = |own: &OwnRanges| own.owner == owner && own.mode == mode;
        let index = of_tree.iter().position(is_own).unwrap_or_else(|| {
            of_tree.push(OwnRanges {
                owner,
                mode,
                set: RangeSet::default(),
            });
            of_tree.len() - 1
        });
        let set = &mut of_tree[index].set;
        ranges.into_iter().map(|range| set.add(range)).sum()
    }

    /// Releases an owner's ranges of these trees.
    pub(crate) fn release(&mut self, owner: LockOwner, trees: &[TreeId]) {
        for tree in trees {
            if let Some(ranges) = self.trees.get_mut(tree) {
                ranges.retain(|ranges| ranges.owner != owner);
                if ranges.is_empty() {
                    self.trees.remove(tree);
                }
            }
        }
    }
}

fn overlap(one: &ByteRange, other: &ByteRange) -> bool {
    is_behind(one.end.as_deref(), &other.start) && is_behind(other.end.as_deref(), &one.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u8, end: u8) -> ByteRange {
        ByteRange {
            start: vec![start],
            end: Some(vec![end]),
        }
    }

    fn hold(ranges: &mut Ranges, owner: LockOwner, mode: RangeMode, range: ByteRange) -> i64 {
        let number = ranges.announce(owner, 1, mode, vec![range]);
        ranges.settle(number, true)
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let mut set = RangeSet::default();
        let mut bytes = 0;
        for (start, end) in [(5, 7), (1, 2), (9, 10), (2, 5), (6, 9)] {
            bytes += set.add(range(start, end));
        }
        assert_eq!(set.0, BTreeMap::from([(vec![1], Some(vec![10]))]));
        assert_eq!(bytes, bytes_of(&[1], Some(&[10])) as i64);
        assert!(set.contains(&[1]) && set.contains(&[9, 9]) && !set.contains(&[10]));
        assert!(set.covers(&range(3, 10)) && !set.covers(&range(3, 11)));
        assert!(set.overlaps(&range(0, 2)) && !set.overlaps(&range(0, 1)));
    }

    #[test]
    fn very_many_ranges_are_one() {
        let mut set = RangeSet::default();
        let mut bytes = 0;
        for number in 0..=MOST_RANGES as u16 {
            let start = (number * 2).to_be_bytes().to_vec();
            let end = Some((number * 2 + 1).to_be_bytes().to_vec());
            bytes += set.add(ByteRange { start, end });
        }
        assert_eq!(set.0.len(), 1);
        assert!(set.contains(&3_u16.to_be_bytes()));
        assert_eq!(bytes, RANGE_BYTES as i64 + 4);
    }

    #[test]
    fn modes_conflict_as_they_say() {
        let mut ranges = Ranges::default();
        hold(&mut ranges, 1, RangeMode::Gap, range(1, 5));
        hold(&mut ranges, 2, RangeMode::Shared, range(3, 8));
        let of_key = |ranges: &Ranges, key: u8, usage| ranges.blockers_of_key(9, 1, &[key], usage);
        assert_eq!(of_key(&ranges, 3, KeyUse::Add), [1, 2]);
        assert_eq!(of_key(&ranges, 3, KeyUse::Change), [2]);
        assert_eq!(of_key(&ranges, 3, KeyUse::Lock(LockMode::Exclusive)), [2]);
        assert!(of_key(&ranges, 3, KeyUse::Lock(LockMode::Shared)).is_empty());
        assert!(of_key(&ranges, 8, KeyUse::Add).is_empty());
        let of_range =
            |ranges: &Ranges, mode| ranges.blockers_of_ranges(9, 1, mode, &[range(0, 4)]);
        assert!(of_range(&ranges, RangeMode::Shared).is_empty());
        assert_eq!(of_range(&ranges, RangeMode::Exclusive), [2]);
        assert!(of_range(&ranges, RangeMode::Gap).is_empty());
        ranges.release(1, &[1]);
        ranges.release(2, &[1]);
        assert!(ranges.is_empty());
    }
}
