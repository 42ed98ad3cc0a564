//! The memtable: committed records that are not in the data file yet.
//!
//! A small commit, once it is in the redo log, does not touch the file: its records are laid over those of the file,
//! in memory. They are written to the file together, each of them once, when there are many, at a checkpoint, or when
//! nobody commits for a while.
//!
//! The map is persistent (Driscoll et al., "Making data structures persistent", 1989): a snapshot keeps its version,
//! which shares unchanged nodes with the next one. Records are whole values, so laying them over a file that already
//! has some of them changes nothing.

use std::ops::Bound;

use heed::{RoTxn, WithoutTls};
use mayfly_memory::{Budget, LimitError, Reservation};
use rpds::RedBlackTreeMapSync;

use super::data_file::Records;

/// Memory of a record beside its key and value: map nodes and their allocations.
const RECORD_BYTES: usize = 192;

/// Value of a record.
#[derive(Debug)]
struct Value {
    /// The bytes; `None` where the record is removed.
    bytes: Option<Box<[u8]>>,
    /// Released when the last version with the value is dropped.
    _reservation: Reservation,
}

/// Version of the map of changed records.
#[derive(Debug, Clone, Default)]
pub(super) struct Memtable(RedBlackTreeMapSync<Box<[u8]>, Value>);

/// A key, and its value unless the record is removed.
pub(super) type Entry<'b> = (&'b [u8], Option<&'b [u8]>);

impl Memtable {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The changed records in key order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.0.iter().map(|(key, value)| entry(key, value))
    }

    /// Sets the value of a record, or removes the record.
    pub(super) fn set(
        &mut self,
        key: &[u8],
        value: Option<&[u8]>,
        memory: &Budget,
    ) -> Result<(), LimitError> {
        let bytes = key.len() + value.map_or(0, <[u8]>::len) + RECORD_BYTES;
        let value = Value {
            _reservation: memory.reserve(bytes as u64)?,
            bytes: value.map(Box::from),
        };
        self.0.insert_mut(Box::from(key), value);
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.0.get(key).map(|value| value.bytes.as_deref())
    }

    /// The first changed record from a key on.
    pub(super) fn from(&self, key: Bound<&[u8]>) -> Option<Entry<'_>> {
        let mut range = self.0.range::<[u8], _>((key, Bound::Unbounded));
        range.next().map(|(key, value)| entry(key, value))
    }

    /// The last changed record up to a key.
    pub(super) fn up_to(&self, key: Bound<&[u8]>) -> Option<Entry<'_>> {
        let mut range = self.0.range::<[u8], _>((Bound::Unbounded, key));
        range.next_back().map(|(key, value)| entry(key, value))
    }

    fn removes(&self, key: &[u8]) -> bool {
        self.get(key) == Some(None)
    }
}

fn entry<'b>(key: &'b [u8], value: &'b Value) -> Entry<'b> {
    (key, value.bytes.as_deref())
}

/// A record: its key and its value.
pub(super) type Record<'t> = (&'t [u8], &'t [u8]);

/// Records that a read transaction of the file sees, with a memtable laid over them.
#[derive(Clone, Copy)]
pub(super) struct MergedRecords<'t> {
    pub(super) records: Records,
    pub(super) txn: &'t RoTxn<'t, WithoutTls>,
    pub(super) memtable: &'t Memtable,
}

impl<'t> MergedRecords<'t> {
    /// The value of a key.
    pub(super) fn get(&self, key: &[u8]) -> heed::Result<Option<&'t [u8]>> {
        match self.memtable.get(key) {
            Some(value) => Ok(value),
            None => self.records.get(self.txn, key),
        }
    }

    /// The last record whose key is not larger.
    pub(super) fn up_to(&self, key: &[u8]) -> heed::Result<Option<Record<'t>>> {
        let (records, txn, memtable) = (self.records, self.txn, self.memtable);
        let mut there = records.get_lower_than_or_equal_to(txn, key)?;
        if memtable.is_empty() {
            return Ok(there);
        }
        while let Some((key, _)) = there
            && memtable.removes(key)
        {
            there = records.get_lower_than(txn, key)?;
        }
        let mut here = memtable.up_to(Bound::Included(key));
        while let Some((key, None)) = here {
            here = memtable.up_to(Bound::Excluded(key));
        }
        Ok(match (present(here), there) {
            (Some(here), Some(there)) if there.0 > here.0 => Some(there),
            (here, there) => here.or(there),
        })
    }

    /// The first record whose key is not smaller.
    pub(super) fn from(&self, key: &[u8]) -> heed::Result<Option<Record<'t>>> {
        let there = self.records.get_greater_than_or_equal_to(self.txn, key)?;
        self.first_of(there, Bound::Included(key))
    }

    /// The first record whose key is larger.
    pub(super) fn after(&self, key: &[u8]) -> heed::Result<Option<Record<'t>>> {
        let there = self.records.get_greater_than(self.txn, key)?;
        self.first_of(there, Bound::Excluded(key))
    }

    fn first_of(
        &self,
        mut there: Option<Record<'t>>,
        key: Bound<&[u8]>,
    ) -> heed::Result<Option<Record<'t>>> {
        let (records, txn, memtable) = (self.records, self.txn, self.memtable);
        if memtable.is_empty() {
            return Ok(there);
        }
        while let Some((key, _)) = there
            && memtable.removes(key)
        {
            there = records.get_greater_than(txn, key)?;
        }
        let mut here = memtable.from(key);
        while let Some((key, None)) = here {
            here = memtable.from(Bound::Excluded(key));
        }
        Ok(match (present(here), there) {
            (Some(here), Some(there)) if there.0 < here.0 => Some(there),
            (here, there) => here.or(there),
        })
    }
}

fn present(entry: Option<Entry<'_>>) -> Option<Record<'_>> {
    entry.and_then(|(key, value)| Some((key, value?)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use mayfly_memory::{BudgetKind, StableRanges};
    use mayfly_types::Result;
    use proptest::prelude::*;

    use super::*;
    use crate::base::block_key::Found;
    use crate::base::environment::Environment;
    use crate::base::environment::pipeline::{Changes, Logging};
    use crate::base::record_key::{TreeId, record_key};
    use crate::base::redo::Redo;
    use crate::base::snapshot::Snapshot;
    use crate::base::{StoreLocation, StoreOptions};
    use crate::temptable::Resources;

    const TREES: TreeId = 3;

    /// Test commit: puts, removals, and a removed range of records.
    #[derive(Debug, Clone)]
    struct Commit {
        is_small: bool,
        sets: Vec<(Vec<u8>, Option<Vec<u8>>)>,
        clears: Vec<(Vec<u8>, Vec<u8>)>,
    }

    impl Changes for Commit {
        fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
            for (low, high) in &self.clears {
                change(Redo::Clear(low, high))?;
            }
            let mut sets = self.sets.iter();
            sets.try_for_each(|(key, value)| {
                change(match value {
                    Some(value) => Redo::Put(key, value),
                    None => Redo::Remove(key),
                })
            })
        }

        fn is_small(&self) -> bool {
            self.is_small
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Commit(Commit),
        Flush,
        Look,
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        let separator = prop_oneof![Just(Vec::new()), prop::collection::vec(0..4_u8, 1..3)];
        (1..=TREES, separator).prop_map(|(tree, separator)| record_key(tree, &separator))
    }

    fn step() -> impl Strategy<Value = Step> {
        let value = prop::option::of(prop::collection::vec(any::<u8>(), 1..40));
        let sets = prop::collection::vec((key(), value), 0..6);
        let range = (key(), key()).prop_map(|(a, b)| (a.clone().min(b.clone()), a.max(b)));
        let clears = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(range, 1..2)];
        let commit = (prop::bool::weighted(0.8), sets, clears);
        let commit = commit.prop_map(|(is_small, sets, clears)| {
            Step::Commit(Commit {
                is_small,
                sets,
                clears,
            })
        });
        prop_oneof![8 => commit, 1 => Just(Step::Flush), 3 => Just(Step::Look)]
    }

    type Oracle = BTreeMap<Vec<u8>, Vec<u8>>;

    fn pair(tree: TreeId, found: Found<'_>) -> (Vec<u8>, Vec<u8>) {
        (record_key(tree, found.key), found.block.to_vec())
    }

    fn assert_reads(snapshot: &Arc<Snapshot>, oracle: &Oracle) {
        for tree in 1..=TREES {
            let (low, high) = (record_key(tree, &[]), record_key(tree + 1, &[]));
            let all: Vec<_> = oracle.range(low.clone()..high.clone()).collect();
            let after = oracle.range(high..).next();
            let after = after.map(|(key, _)| u32::from_be_bytes(*key.first_chunk().unwrap()));
            assert_eq!(snapshot.tree_after(tree).unwrap(), after);
            for separator in [&[][..], &[0], &[1, 2], &[2], &[3, 3], &[9]] {
                let key = record_key(tree, separator);
                let floor = oracle.range(low.clone()..=key.clone()).next_back();
                let expected = floor.or(all.first().copied());
                let expected = expected.map(|(key, value)| (key.clone(), value.clone()));
                let found = snapshot.block_of(tree, separator).unwrap();
                assert_eq!(found.map(|found| pair(tree, found)), expected);
                let start = expected.map_or(low.clone(), |(key, _)| key);
                for end in [None, Some(&[2, 1][..]), Some(&[0])] {
                    let inside = |key: &[u8]| {
                        *key >= *start && end.is_none_or(|end| *key < *record_key(tree, end))
                    };
                    let mut expected: Vec<_> = all
                        .iter()
                        .filter(|(key, _)| inside(key))
                        .map(|(key, value)| ((*key).clone(), (*value).clone()))
                        .collect();
                    if end.is_some_and(|end| record_key(tree, end) < start) {
                        expected.clear();
                    }
                    for reverse in [false, true] {
                        let mut walk = snapshot.walk(tree, separator, end, reverse).unwrap();
                        let mut found = Vec::new();
                        while let Some(next) = walk.next().unwrap() {
                            found.push(pair(tree, next));
                        }
                        assert_eq!(found, expected, "{separator:?} {end:?} {reverse}");
                        expected.reverse();
                    }
                    expected.reverse();
                }
            }
        }
    }

    fn environment(limit: u64) -> (Arc<Environment>, Budget) {
        let space = Resources::with_defaults(std::env::temp_dir(), 1).temp_space;
        let memory = Budget::root(BudgetKind::Memory, "write_buffer_size", limit);
        let options = StoreOptions {
            location: StoreLocation::Temporary(space.make_directory().unwrap()),
            stable: StableRanges::new(),
            write_buffer: memory.clone(),
        };
        (Environment::open(options).unwrap(), memory)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// A snapshot has equal records whether they are in the file or in memory.
        #[test]
        fn it_is_all_the_same_where_records_are(
            steps in prop::collection::vec(step(), 1..40),
            limit in prop_oneof![Just(0_u64), Just(2000), Just(1 << 20)],
        ) {
            let (environment, memory) = environment(limit);
            let mut oracle = Oracle::new();
            let mut snapshots = Vec::new();
            for step in steps {
                match step {
                    Step::Commit(commit) => {
                        for (low, high) in &commit.clears {
                            oracle.retain(|key, _| key < low || key >= high);
                        }
                        for (key, value) in commit.sets.clone() {
                            match value {
                                Some(value) => oracle.insert(key, value),
                                None => oracle.remove(&key),
                            };
                        }
                        environment.write(&commit, Logging::Nothing, || {}).unwrap();
                    }
                    Step::Flush => environment.flush_now().unwrap(),
                    Step::Look => {
                        snapshots.push((environment.newest().unwrap(), oracle.clone()));
                    }
                }
                prop_assert!(memory.used() <= limit);
            }
            snapshots.push((environment.newest().unwrap(), oracle));
            for (snapshot, oracle) in &snapshots {
                assert_reads(snapshot, oracle);
            }
            drop(snapshots);
            environment.flush_now().unwrap();
            prop_assert_eq!(memory.used(), 0);
        }
    }
}
