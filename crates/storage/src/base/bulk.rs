//! Loading many rows into an empty table: they become full blocks at once, never single changes.
//!
//! Rows that come in the order of their keys are made into blocks as they come; others are kept and
//! sorted at the end, as are the entries of the other indexes. That a key is there already is seen by
//! a table of hashes, since nothing but this load is in the table.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::{PhysicalType, Result};

use super::block::Block;
use super::definition::{IndexTree, TableDefinition};
use super::environment::TreeId;
use super::overlay::{Loaded, TreeChanges};
use super::rows::Rows;

/// So many sorted rows are made into blocks at a time.
const STEP_ROWS: usize = 16 << 10;

/// A tree in the making.
#[derive(Debug)]
pub(super) struct BulkTree {
    pub(super) tree: TreeId,
    types: Arc<[PhysicalType]>,
    /// Rows that are in no block yet.
    rows: Rows,
    loaded: Loaded,
    block_bytes: usize,
    /// The largest key, as long as keys came in order.
    last_key: Option<Vec<u8>>,
    /// The last key of the last block.
    block_end: Vec<u8>,
    is_sorted: bool,
}

impl BulkTree {
    pub(super) fn new(tree: TreeId, types: &Arc<[PhysicalType]>) -> Self {
        Self {
            tree,
            types: Arc::clone(types),
            rows: Rows::new(types),
            loaded: Loaded::default(),
            block_bytes: 0,
            last_key: None,
            block_end: Vec::new(),
            is_sorted: true,
        }
    }

    /// Adds a key; its columns follow by [`Self::push_columns`].
    pub(super) fn push_key(&mut self, key: &[u8]) {
        if self.is_sorted {
            self.is_sorted = self.is_after(key);
            let last = self.last_key.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
        self.rows.push_key(key);
    }

    /// Whether all keys came in order and this one comes after them.
    pub(super) fn is_after(&self, key: &[u8]) -> bool {
        self.is_sorted && self.last_key.as_deref().is_none_or(|last| last < key)
    }

    /// Gives every key.
    pub(super) fn each_key(&self, mut take: impl FnMut(&[u8])) -> Result<()> {
        for (_, block) in &self.loaded.blocks {
            let block = Block::parse(block)?;
            for row in 0..block.rows() {
                take(&block.key(row)?);
            }
        }
        (0..self.rows.len()).for_each(|row| take(self.rows.key(row)));
        Ok(())
    }

    /// The columns of the keys that were added since there were `first` rows.
    pub(super) fn push_columns(&mut self, arrays: &[&ArrayRef], first: usize, places: &[usize]) {
        self.rows.append_arrays(arrays, first, places);
    }

    /// The number of rows that are in no block.
    pub(super) fn pending(&self) -> usize {
        self.rows.len()
    }

    /// Makes blocks of what is sorted.
    pub(super) fn step(&mut self) {
        if self.is_sorted && self.rows.len() >= STEP_ROWS {
            let taken = self.make_blocks(true);
            self.rows = self.rows.rest(taken);
        }
    }

    fn make_blocks(&mut self, keep_rest: bool) -> usize {
        let Self {
            rows,
            loaded,
            block_end,
            block_bytes,
            ..
        } = self;
        let divided = rows.divide(0, false, keep_rest, |range| {
            let separator = match loaded.blocks.is_empty() {
                true => Vec::new(),
                false => Rows::separator(block_end, rows.key(range.start)),
            };
            block_end.clear();
            block_end.extend_from_slice(rows.key(range.end - 1));
            loaded.rows += range.len() as u64;
            let block = rows.encode(range);
            *block_bytes += block.len() + separator.len() + 48;
            loaded.blocks.push((separator, block));
            Ok::<_, std::convert::Infallible>(())
        });
        match divided {
            Ok(taken) => taken,
            Err(never) => match never {},
        }
    }

    /// Every row, in order, as it will be in the file.
    pub(super) fn finish(mut self) -> Result<(TreeId, TreeChanges)> {
        if !self.is_sorted {
            // Rows of blocks that were made while keys still came in order are sorted with the others.
            let mut all = Rows::new(&self.types);
            for (_, block) in std::mem::take(&mut self.loaded.blocks) {
                let block = Block::parse(&block)?;
                all.append_block(&block, 0..block.rows())?;
            }
            all.append_rows(&self.rows);
            self.rows = Rows::new(&self.types);
            let mut order: Vec<u32> = (0..all.len() as u32).collect();
            order.sort_unstable_by(|a, b| all.key(*a as usize).cmp(all.key(*b as usize)));
            self.rows = all.reordered(&order);
            self.loaded = Loaded::default();
        }
        self.make_blocks(false);
        let mut changes = TreeChanges::new(&self.types);
        changes.cleared = true;
        changes.loaded = Some(Arc::new(self.loaded));
        Ok((self.tree, changes))
    }

    /// About how much memory it needs.
    pub(super) fn memory(&self) -> u64 {
        (self.rows.memory() + self.block_bytes) as u64
    }
}

/// The keys of a unique index that were loaded, with the position of the row of each.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// By hash of the key: the position, or nothing when several keys have the hash.
    by_hash: HashMap<u64, Box<[u8]>>,
    /// The others.
    others: BTreeMap<Vec<u8>, Vec<u8>>,
    bytes: u64,
}

impl Keys {
    /// The position of the row that has the key, if one has. Each entry is its key and position.
    pub(super) fn find(&self, key: &[u8]) -> Option<Vec<u8>> {
        let entry = self.by_hash.get(&xxhash_rust::xxh3::xxh3_64(key))?;
        if let Some(position) = entry.strip_prefix(key) {
            return Some(position.to_vec());
        }
        self.others.get(key).cloned()
    }

    /// Adds a key that was not found.
    pub(super) fn add(&mut self, key: &[u8], position: &[u8]) {
        self.bytes += (key.len() + position.len() + 48) as u64;
        match self.by_hash.entry(xxhash_rust::xxh3::xxh3_64(key)) {
            Entry::Occupied(_) => {
                self.others.insert(key.to_vec(), position.to_vec());
            }
            Entry::Vacant(place) => {
                place.insert([key, position].concat().into());
            }
        }
    }

    /// About how much memory it needs.
    pub(super) fn memory(&self) -> u64 {
        self.bytes
    }
}

/// A table in the making.
#[derive(Debug)]
pub(super) struct Bulk {
    pub(super) rows: BulkTree,
    pub(super) secondary: Vec<BulkTree>,
    /// Of the unique ones.
    pub(super) unique: Vec<Option<Keys>>,
    /// Of the primary key, once its keys do not come in order.
    pub(super) primary: Option<Keys>,
}

impl Bulk {
    pub(super) fn new(definition: &TableDefinition) -> Self {
        let tree = |index: &IndexTree| BulkTree::new(index.tree, &index.types);
        let keys = |index: &IndexTree| index.unique.then(Keys::default);
        let secondary = || definition.secondary().map(|(_, index)| index);
        Self {
            rows: BulkTree::new(definition.rows(), definition.types()),
            secondary: secondary().map(tree).collect(),
            unique: secondary().map(keys).collect(),
            primary: None,
        }
    }

    /// Whether a row has this primary key.
    pub(super) fn has_primary(&mut self, key: &[u8]) -> Result<bool> {
        if self.rows.is_after(key) {
            return Ok(false);
        }
        let keys = match &mut self.primary {
            Some(keys) => keys,
            None => {
                let mut keys = Keys::default();
                self.rows.each_key(|key| keys.add(key, &[]))?;
                self.primary.insert(keys)
            }
        };
        Ok(keys.find(key).is_some())
    }

    /// About how much memory it needs.
    pub(super) fn memory(&self) -> u64 {
        let trees = self.secondary.iter().map(BulkTree::memory).sum::<u64>();
        let keys = self.unique.iter().flatten().chain(&self.primary);
        self.rows.memory() + trees + keys.map(Keys::memory).sum::<u64>()
    }

    /// Every tree of the table.
    pub(super) fn finish(self) -> Result<Vec<(TreeId, TreeChanges)>> {
        let all = std::iter::once(self.rows).chain(self.secondary);
        all.map(BulkTree::finish).collect()
    }
}
