//! Block keys of the data file: the number of a tree, and a separator.
//!
//! LMDB's keys have at most [`MAX_KEY`] bytes. A separator of more than [`PREFIX_BYTES`] is cut there, and an ordinal
//! replaces the rest. The blocks whose separators share such a prefix are a group, in the order of their ordinals. The
//! separator of a block in a group is its first key, so that the search for a key bisects a group by ordinals and
//! compares first keys.
//!
//! Where two ordinals have none between them, their neighbours are renumbered, over as few blocks as give room (Bender
//! et al., "Two simplified algorithms for maintaining order in a list", 2002); amortized, that is a logarithmic number
//! of blocks for each new one.
//!
//! In files from before groups existed, a key has up to [`MAX_KEY`] bytes of a separator. Such a block is read as one
//! of a group, whatever its ordinal is.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::block::{Block, Checked, Damaged};
use super::memtable::{MergedRecords, Record};
use super::record_key::{TreeId, record_key, record_key_in, separator_of};

/// Bytes of LMDB's longest key.
pub(super) const MAX_KEY: usize = 511;
/// Longest separator, in bytes, that is stored uncut.
pub(super) const PREFIX_BYTES: usize = 500;
/// Length that most keys do not exceed.
const SHORT_KEY: usize = 28;
/// Bytes of an ordinal, the most significant first.
pub(super) const ORDINAL_BYTES: usize = MAX_KEY - 4 - PREFIX_BYTES;
/// Exclusive upper bound of ordinals.
pub(super) const ORDINALS: u64 = 1 << (8 * ORDINAL_BYTES);
/// Distance between the last ordinal of a group and the ordinal of a block appended behind it.
const STRIDE: u64 = 1 << 28;

/// A block and its key, borrowed for as long as a snapshot `'s` is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'s> {
    /// The block's key without the tree number.
    pub(super) key: &'s [u8],
    pub(super) block: &'s [u8],
}

impl<'s> Found<'s> {
    /// The block of a record, if the record is of this tree.
    pub(super) fn of(tree: TreeId, (key, block): Record<'s>) -> Option<Self> {
        separator_of(tree, key).map(|key| Self { key, block })
    }

    /// Lower bound of the block's keys: greater than every key of the blocks before.
    pub(super) fn separator(&self) -> Checked<Cow<'s, [u8]>> {
        let Some((prefix, _)) = in_group(self.key) else {
            return Ok(Cow::Borrowed(self.key));
        };
        let first = Block::parse(self.block)?.key(0)?;
        if first.starts_with(prefix) {
            return Ok(Cow::Owned(first));
        }
        // No key is left in the group with this prefix. Other keys with it belong to the block before.
        let mut after = prefix.to_vec();
        while let Some(last) = after.pop() {
            if let Some(next) = last.checked_add(1) {
                after.push(next);
                return Ok(Cow::Owned(after));
            }
        }
        Err(Damaged)
    }

    /// The block's key, if it has an ordinal.
    pub(super) fn key_in_group(&self) -> Option<Vec<u8>> {
        in_group(self.key).map(|_| self.key.to_vec())
    }

    /// Whether the block's first key is larger than `key`.
    fn begins_behind(&self, key: &[u8]) -> heed::Result<bool> {
        let order = Block::parse(self.block).and_then(|block| block.compare_first(key));
        let order = order.map_err(|damaged| heed::Error::Decoding(damaged.into()))?;
        Ok(order == Ordering::Greater)
    }
}

/// Common separator prefix of a block's group, and the block's ordinal, if it is in a group.
fn in_group(key: &[u8]) -> Option<(&[u8], u64)> {
    let (prefix, rest) = key.split_at_checked(PREFIX_BYTES)?;
    let mut ordinal = [0; 8];
    for (to, from) in ordinal[8 - ORDINAL_BYTES..].iter_mut().zip(rest) {
        *to = *from;
    }
    (!rest.is_empty()).then(|| (prefix, u64::from_be_bytes(ordinal)))
}

/// The key of a block in a group.
pub(super) fn group_key(tree: TreeId, prefix: &[u8], ordinal: u64) -> Vec<u8> {
    let mut key = record_key(tree, prefix);
    key.extend_from_slice(&ordinal.to_be_bytes()[8 - ORDINAL_BYTES..]);
    key
}

/// The block that holds a key if the key exists: the last whose separator is not larger, or the first block.
pub(super) fn floor<'t>(
    all: MergedRecords<'t>,
    tree: TreeId,
    key: &[u8],
) -> heed::Result<Option<Found<'t>>> {
    let mut found = match key.split_at_checked(PREFIX_BYTES) {
        None => {
            // Every read of a row by its key comes here.
            let (mut few, mut many);
            let bytes: &mut [u8] = if key.len() <= SHORT_KEY {
                few = [0; 4 + SHORT_KEY];
                &mut few
            } else {
                many = [0; 4 + PREFIX_BYTES];
                &mut many
            };
            last_up_to(all, tree, record_key_in(tree, key, bytes))?
        }
        Some((prefix, _)) => {
            let last = last_up_to(all, tree, &group_key(tree, prefix, ORDINALS - 1))?;
            match last.and_then(|last| in_group(last.key)) {
                Some((of_last, ordinal)) if of_last == prefix => {
                    let group = Group { all, tree, prefix };
                    group.floor(key, last, ordinal)?
                }
                _ => last,
            }
        }
    };
    if found.is_none() {
        let first = all.from(&record_key(tree, &[]))?;
        found = first.and_then(|record| Found::of(tree, record));
    }
    Ok(found)
}

fn last_up_to<'t>(
    all: MergedRecords<'t>,
    tree: TreeId,
    key: &[u8],
) -> heed::Result<Option<Found<'t>>> {
    let found = all.up_to(key)?;
    Ok(found.and_then(|record| Found::of(tree, record)))
}

/// Upper bound in block keys: behind every block that may hold keys below `end`, and before all others.
pub(super) fn end_of(all: MergedRecords<'_>, tree: TreeId, end: &[u8]) -> heed::Result<Vec<u8>> {
    if end.len() < PREFIX_BYTES {
        return Ok(record_key(tree, end));
    }
    let Some(found) = floor(all, tree, end)? else {
        return Ok(record_key(tree, &[]));
    };
    let key = record_key(tree, found.key);
    let separator = found.separator();
    let separator = separator.map_err(|damaged| heed::Error::Decoding(damaged.into()))?;
    if *separator >= *end {
        return Ok(key);
    }
    Ok(match all.after(&key)? {
        Some((next, _)) => next.to_vec(),
        None => vec![u8::MAX; 16],
    })
}

/// Group of blocks whose separators begin with the same bytes.
pub(super) struct Group<'t, 'p> {
    pub(super) all: MergedRecords<'t>,
    pub(super) tree: TreeId,
    pub(super) prefix: &'p [u8],
}

impl<'t> Group<'t, '_> {
    /// A record's block and ordinal, if it is in the group.
    pub(super) fn member(&self, record: Option<Record<'t>>) -> Option<(Found<'t>, u64)> {
        let found = Found::of(self.tree, record?)?;
        let (prefix, ordinal) = in_group(found.key)?;
        (prefix == self.prefix).then_some((found, ordinal))
    }

    /// The last block that does not begin behind a key, or the block before the group. `last` is the last block of the
    /// group.
    fn floor(
        &self,
        key: &[u8],
        last: Option<Found<'t>>,
        ordinal: u64,
    ) -> heed::Result<Option<Found<'t>>> {
        if let Some(last) = last
            && !last.begins_behind(key)?
        {
            return Ok(Some(last));
        }
        let mut best = None;
        // Invariant: `best` is the last block below `low`; the block at `high` begins behind the key.
        let (mut low, mut high) = (0, ordinal);
        while low < high {
            let middle = low + (high - low) / 2;
            let middle_key = group_key(self.tree, self.prefix, middle);
            let before = self.member(self.all.up_to(&middle_key)?);
            if let Some((found, ordinal)) = before.filter(|(_, ordinal)| *ordinal >= low) {
                if found.begins_behind(key)? {
                    high = ordinal;
                } else {
                    best = Some(found);
                    low = middle + 1;
                }
                continue;
            }
            // There is nothing from `low` to the middle.
            match self.member(self.all.after(&middle_key)?) {
                Some((found, ordinal)) if ordinal < high && !found.begins_behind(key)? => {
                    best = Some(found);
                    low = ordinal + 1;
                }
                _ => break,
            }
        }
        match best {
            Some(best) => Ok(Some(best)),
            None => last_up_to(self.all, self.tree, &record_key(self.tree, self.prefix)),
        }
    }
}

/// The ordinal of the first of `count` new blocks between two others; `None` when there is no room.
fn ordinal_between(left: Option<u64>, right: Option<u64>, count: u64) -> Option<u64> {
    let left = left.unwrap_or(0);
    let mut step = right.unwrap_or(ORDINALS).saturating_sub(left) / (count + 1);
    if right.is_none() {
        step = step.min(STRIDE);
    }
    (step > 0).then(|| left + step)
}

/// Generator of keys for new blocks, in ascending order.
#[derive(Debug)]
pub(super) struct NewKeys {
    pub(super) tree: TreeId,
    /// The key of the last block, with the tree number.
    pub(super) last: Vec<u8>,
    /// The key of the block behind the new ones, if that is in a group.
    pub(super) next: Option<Vec<u8>>,
}

impl NewKeys {
    /// Keys for an empty tree. The first block has the key that is there from the start.
    pub(super) fn of_tree(tree: TreeId) -> Self {
        Self::after(tree, record_key(tree, &[]), None)
    }

    /// Keys behind the block at `key`, and before the one at `next` if that is in a group.
    pub(super) fn after(tree: TreeId, key: Vec<u8>, next: Option<Vec<u8>>) -> Self {
        Self {
            tree,
            last: key,
            next,
        }
    }

    /// The key of the last block.
    pub(super) fn last(&self) -> &[u8] {
        &self.last
    }

    pub(super) fn ordinal_in(&self, key: Option<&[u8]>, prefix: &[u8]) -> Option<u64> {
        let (group, ordinal) = key.and_then(in_group)?;
        (group == prefix).then_some(ordinal)
    }

    /// Makes the key of the next of `count` remaining blocks, for this separator; returns whether there was room.
    pub(super) fn advance(&mut self, separator: &[u8], count: usize) -> bool {
        let prefix = match separator.split_at_checked(PREFIX_BYTES) {
            Some((prefix, rest)) if !rest.is_empty() => prefix,
            _ => {
                self.last = record_key(self.tree, separator);
                return true;
            }
        };
        let left = self.ordinal_in(self.last.get(4..), prefix);
        let right = self.ordinal_in(self.next.as_deref(), prefix);
        let Some(ordinal) = ordinal_between(left, right, count as u64) else {
            return false;
        };
        self.last = group_key(self.tree, prefix, ordinal);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow_array::{Array, ArrayRef, BinaryViewArray};
    use mayfly_memory::{Budget, BudgetKind};
    use mayfly_types::{Batch, IndexMethod, Interrupt, PhysicalType, Result};

    use super::*;
    use crate::base::environment::pipeline::{Changes, Logging};
    use crate::base::redo::Redo;
    use crate::base::{
        ChangeStorage, DurableStore, DurableTransaction, ReadView, StatementOptions, StoreOptions,
        TableDefinition,
    };
    use crate::scan_request::ScanRequest;
    use crate::{ColumnId, IndexSpec, ReadLock, Table};

    #[test]
    fn group_keys_are_read_as_they_are_written() {
        let prefix = [7; PREFIX_BYTES];
        for ordinal in [1, 255, 256, STRIDE, ORDINALS - 1] {
            let key = group_key(3, &prefix, ordinal);
            assert_eq!(key.len(), MAX_KEY);
            let in_tree = separator_of(3, &key).unwrap();
            assert_eq!(in_group(in_tree), Some((&prefix[..], ordinal)));
        }
        assert_eq!(in_group(&prefix), None);
        assert_eq!(in_group(&[7; PREFIX_BYTES + 1]).unwrap().1, 7 << 48);
    }

    #[test]
    fn there_is_an_ordinal_between_two_as_long_as_there_is_room() {
        assert_eq!(ordinal_between(None, None, 1), Some(STRIDE));
        assert_eq!(ordinal_between(Some(5), None, 3), Some(5 + STRIDE));
        assert_eq!(ordinal_between(Some(5), Some(7), 1), Some(6));
        assert_eq!(ordinal_between(Some(5), Some(6), 1), None);
        assert_eq!(ordinal_between(None, Some(1), 1), None);
        assert_eq!(ordinal_between(Some(0), Some(9), 2), Some(3));
        assert_eq!(ordinal_between(Some(ORDINALS - 1), None, 1), None);
    }

    /// Key changes of records: (old key, new key, block).
    struct Moves(Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>);

    impl Changes for Moves {
        fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
            for (old, new, block) in &self.0 {
                change(Redo::Remove(old))?;
                change(Redo::Put(new, block))?;
            }
            Ok(())
        }
    }

    fn text(number: u32) -> Vec<u8> {
        let mut text = vec![b'x'; PREFIX_BYTES + 2];
        text.extend([10_000, 100, 1].map(|unit| b'!' + (number / unit % 100) as u8));
        text
    }

    fn table(
        session: &DurableTransaction,
        definition: &Arc<TableDefinition>,
    ) -> crate::base::DurableTable {
        let statement = session.statement(StatementOptions {
            view: ReadView::Statement,
            lock_wait: Duration::ZERO,
            interrupt: Interrupt::default(),
            batch_rows: 1000,
            read_lock: ReadLock::None,
        });
        statement.table(definition).unwrap()
    }

    fn insert(
        session: &DurableTransaction,
        definition: &Arc<TableDefinition>,
        numbers: impl Iterator<Item = u32>,
    ) -> usize {
        let texts = BinaryViewArray::from_iter_values(numbers.map(text));
        let rows = texts.len();
        let mut writer = table(session, definition).writer().unwrap();
        let batch = Batch::new(vec![Arc::new(texts) as ArrayRef], rows);
        let written = writer.insert(&batch).unwrap().rows;
        writer.finish().unwrap();
        session.commit().unwrap();
        written
    }

    /// Files from before groups existed have block keys with as much of a separator as fits.
    #[test]
    fn blocks_of_before_are_read_and_changed() {
        let directory = tempfile::tempdir().unwrap();
        let store = DurableStore::open(StoreOptions::of_directory(directory.path())).unwrap();
        let memory = Budget::unlimited(BudgetKind::Memory);
        let session = store.session(ChangeStorage::for_tests(&memory));
        let trees = [session.new_tree().unwrap(), session.new_tree().unwrap()];
        let primary = IndexSpec::binary(&[0], true, IndexMethod::Clustered);
        let columns = vec![PhysicalType::Bytes];
        let definition = TableDefinition::new(columns, vec![primary], trees[0], vec![trees[1]]);
        let definition = Arc::new(definition);
        assert_eq!(
            insert(&session, &definition, (0..9000).map(|n| n * 4)),
            9000
        );
        let snapshot = store.0.environment.newest().unwrap();
        let mut walk = snapshot.walk(trees[0], &[], None, false).unwrap();
        let mut moves = Vec::new();
        while let Some(found) = walk.next().unwrap() {
            if in_group(found.key).is_none() {
                continue;
            }
            let mut key = record_key(trees[0], &found.separator().unwrap());
            // Also one that was the shortest separator and is shorter than it might be.
            key.truncate(MAX_KEY - moves.len() % 2);
            let old = record_key(trees[0], found.key);
            moves.push((old, key, found.block.to_vec()));
        }
        assert!(moves.len() > 100, "{}", moves.len());
        drop((walk, snapshot));
        let written = store
            .0
            .environment
            .write(&Moves(moves), Logging::Unsynced, || {});
        written.unwrap();
        store
            .check_table(&definition, &Interrupt::default())
            .unwrap();
        for first in [1, 2, 3] {
            assert_eq!(
                insert(&session, &definition, (0..9000).map(|n| n * 4 + first)),
                9000
            );
            store
                .check_table(&definition, &Interrupt::default())
                .unwrap();
        }
        let mut scan = table(&session, &definition)
            .scan(&ScanRequest::of(&[ColumnId(0)]))
            .unwrap();
        let mut rows = 0;
        while let Some(batch) = scan.next_batch().unwrap() {
            rows += batch.row_count();
        }
        assert_eq!(rows, 36_000);
    }
}
