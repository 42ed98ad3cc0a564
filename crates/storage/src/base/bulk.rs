//! Bulk load of an empty table: rows become full blocks at once, never single changes.
//!
//! Rows that come in the order of their keys are written as blocks as they come. Others are collected,
//! sorted and written as a run as soon as they exceed the memory limit, and runs are merged at the end (external merge
//! sort: Knuth, "The Art of Computer Programming", 5.4). A run replaces the one before in the same tree: each is read
//! in the snapshot that was taken when it was complete. Duplicate keys are found by a hash table, since nothing but
//! this load is in the table.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_memory::Budget;
use mayfly_types::{PhysicalType, Result};

use super::block::{Block, Damaged};
use super::block_key::NewKeys;
use super::bulk_load::BulkLoad;
use super::definition::{IndexTree, TableDefinition};
use super::overlay::{BulkLoaded, TreeChanges};
use super::random;
use super::record_key::TreeId;
use super::rows::Rows;
use super::rows::block_sizes::Sizes;
use super::snapshot::{Snapshot, Walk};
use super::store::Store;

/// Size of a loaded block in bytes: fewer, larger blocks are scanned faster. Later changes divide them.
const BULK_BLOCK_BYTES: usize = 32 * 1024 - 16;
/// Size of a loaded block with dictionary-encoded strings: there many rows are few bytes.
const CODED_BLOCK_BYTES: usize = 512 * 1024 - 16;
/// Bytes of ordered rows that are collected before they are written.
const STEP_BYTES: u64 = 8 << 20;
/// Bytes of rows that are sorted together into a run.
const RUN_BYTES: u64 = 256 << 20;

/// Memory limits of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    step: usize,
    run: usize,
}

impl Limits {
    /// Limits that fit a budget.
    pub(super) fn of(memory: &Budget) -> Self {
        let share = memory.share();
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self {
            step: bytes((share / 16).clamp(128 << 10, STEP_BYTES)),
            run: bytes((share / 8).clamp(256 << 10, RUN_BYTES)),
        }
    }
}

/// A tree that is being bulk loaded.
#[derive(Debug)]
pub(super) struct BulkTree {
    load: BulkLoad,
    limits: Limits,
    tree: TreeId,
    types: Arc<[PhysicalType]>,
    /// Rows that are not in a block yet.
    rows: Rows,
    /// Number of rows added.
    count: u64,
    /// The largest key; `None` once keys came out of order.
    last_key: Option<Vec<u8>>,
    is_sorted: bool,
    /// The last key of the current run's last block, if there is one.
    block_end: Option<Vec<u8>>,
    /// The keys of the blocks of this run.
    block_keys: NewKeys,
    /// Snapshots of the finished runs.
    runs: Vec<Arc<Snapshot>>,
}

impl BulkTree {
    /// A load of an empty tree; `None` while orphaned blocks of a former load are not removed.
    pub(super) fn new(
        store: &Arc<Store>,
        limits: Limits,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
    ) -> Option<Self> {
        Some(Self {
            load: BulkLoad::new(&store.environment, &store.committer.bulk_loads, tree)?,
            limits,
            tree,
            types: Arc::clone(types),
            rows: Rows::new(types),
            count: 0,
            last_key: None,
            is_sorted: true,
            block_end: None,
            block_keys: NewKeys::of_tree(tree),
            runs: Vec::new(),
        })
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

    /// Whether all keys came in ascending order and this one is larger than all of them.
    pub(super) fn is_after(&self, key: &[u8]) -> bool {
        self.is_sorted && self.last_key.as_deref().is_none_or(|last| last < key)
    }

    /// Calls `take` with every key.
    fn each_key(&self, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut snapshots = self.runs.clone();
        if self.block_end.is_some() {
            snapshots.push(self.load.snapshot()?);
        }
        for snapshot in &snapshots {
            let mut walk = snapshot.walk(self.tree, &[], None, false)?;
            while let Some(found) = walk.next()? {
                let block = Block::parse(found.block)?;
                for row in 0..block.rows() {
                    take(&block.key(row)?);
                }
            }
        }
        (0..self.rows.len()).for_each(|row| take(self.rows.key(row)));
        Ok(())
    }

    /// Adds the column values of the keys added since there were `before` pending rows: the first rows of `arrays`.
    pub(super) fn push_columns(
        &mut self,
        arrays: &[&ArrayRef],
        before: usize,
        rows: usize,
    ) -> Result<()> {
        self.rows.append_arrays(arrays, before, rows);
        self.count += rows as u64;
        if !self.is_sorted && self.block_end.is_some() {
            self.end_run()?;
        }
        let bytes = self.rows.memory();
        if self.is_sorted && bytes >= self.limits.step {
            self.write_step()?;
        } else if !self.is_sorted && bytes >= self.limits.run {
            self.sort();
            self.write_blocks(false)?;
            self.end_run()?;
        }
        Ok(())
    }

    /// Number of rows that are not in a block yet.
    pub(super) fn pending(&self) -> usize {
        self.rows.len()
    }

    /// Writes pending rows, which are in key order and many. Rows that have much in common may be too few to fill a
    /// block, and yet more than the memory holds.
    fn write_step(&mut self) -> Result<()> {
        self.write_blocks(true)?;
        if self.rows.memory() >= self.limits.step {
            self.write_blocks(false)?;
        }
        Ok(())
    }

    /// Writes pending rows, which are in key order.
    fn write_blocks(&mut self, keep_rest: bool) -> Result<()> {
        let Self {
            rows,
            block_end,
            block_keys,
            ..
        } = self;
        let anew = block_end.is_none();
        let mut blocks = Vec::new();
        // Too few bytes to fill a block, however long they waited.
        let (limit, keep_rest) = if rows.code_texts() {
            (CODED_BLOCK_BYTES, false)
        } else {
            (BULK_BLOCK_BYTES, keep_rest)
        };
        let taken = rows.divide(0, limit, keep_rest, |range| {
            if let Some(end) = &*block_end
                && !block_keys.advance(Rows::separator(end, rows.key(range.start)), 1)
            {
                return Err(mayfly_types::Error::from(Damaged));
            }
            let end = block_end.get_or_insert_default();
            end.clear();
            end.extend_from_slice(rows.key(range.end - 1));
            let mut bytes = Vec::new();
            rows.encode(&Sizes::of(rows, range.clone()), range, &mut bytes);
            blocks.push((block_keys.last().to_vec(), bytes));
            Ok(())
        })?;
        self.load.write(anew, &blocks)?;
        self.rows = self.rows.rest(taken);
        Ok(())
    }

    fn end_run(&mut self) -> Result<()> {
        self.runs.push(self.load.snapshot()?);
        self.block_end = None;
        self.block_keys = NewKeys::of_tree(self.tree);
        Ok(())
    }

    fn sort(&mut self) {
        let rows = &self.rows;
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_unstable_by(|a, b| rows.key(*a as usize).cmp(rows.key(*b as usize)));
        self.rows = rows.reordered(&order);
    }

    /// Ends the load: every row is in order in its final block.
    pub(super) fn finish(mut self) -> Result<(TreeId, TreeChanges)> {
        if !self.is_sorted {
            self.sort();
        }
        if self.runs.is_empty() {
            self.write_blocks(false)?;
        } else {
            self.merge()?;
        }
        let mut changes = TreeChanges::new(&self.types);
        changes.bulk_loaded = Some(Arc::new(BulkLoaded {
            snapshot: self.load.snapshot()?,
            load: self.load,
            rows: self.count,
        }));
        Ok((self.tree, changes))
    }

    /// Merges the runs with the pending rows.
    fn merge(&mut self) -> Result<()> {
        let last = std::mem::replace(&mut self.rows, Rows::new(&self.types));
        let mut sources = Vec::with_capacity(self.runs.len() + 1);
        for run in std::mem::take(&mut self.runs) {
            let walk = run.walk(self.tree, &[], None, false)?;
            sources.extend(Source::of_run(walk)?);
        }
        sources.extend(Source::of_rows(last));
        while !sources.is_empty() {
            // There are few runs: each is gigabytes divided by the memory limit.
            let by_key = |source: &usize| sources[*source].key.as_slice();
            let first = (0..sources.len()).min_by_key(by_key).unwrap_or(0);
            let others = (0..sources.len()).filter(|source| *source != first);
            let next = others.min_by_key(by_key);
            let next = next.map(|source| sources[source].key.clone());
            if !sources[first].give(next.as_deref(), &mut self.rows)? {
                sources.swap_remove(first);
            }
            if self.rows.memory() >= self.limits.step {
                self.write_step()?;
            }
        }
        self.write_blocks(false)
    }

    /// Estimate of the memory in use, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.rows.memory() as u64
    }
}

/// Input of the merge: a run.
struct Source {
    /// The key of the next row.
    key: Vec<u8>,
    row: usize,
    from: From,
}

enum From {
    Run(Walk, Block<'static>),
    Rows(Rows),
}

impl Source {
    fn of_run(mut walk: Walk) -> Result<Option<Self>> {
        let Some(found) = walk.next()? else {
            return Ok(None);
        };
        let block = Block::parse(found.block)?;
        Ok(Some(Self {
            key: block.key(0)?,
            row: 0,
            from: From::Run(walk, block),
        }))
    }

    fn of_rows(rows: Rows) -> Option<Self> {
        (rows.len() > 0).then(|| Self {
            key: rows.key(0).to_vec(),
            row: 0,
            from: From::Rows(rows),
        })
    }

    /// Moves the rows before a key, of one block at most, to `out`; returns whether there are more.
    fn give(&mut self, before: Option<&[u8]>, out: &mut Rows) -> Result<bool> {
        match &mut self.from {
            From::Run(walk, block) => {
                let end = match before {
                    Some(key) => block.rank(key)?.max(self.row + 1),
                    None => block.rows(),
                };
                out.append_block(block, self.row..end)?;
                self.row = end;
                if end == block.rows() {
                    let Some(found) = walk.next()? else {
                        return Ok(false);
                    };
                    *block = Block::parse(found.block)?;
                    self.row = 0;
                }
                self.key = block.key(self.row)?;
            }
            From::Rows(rows) => {
                let last = rows.len().min(self.row + MERGED_ROWS);
                let is_before = |row: &usize| before.is_none_or(|key| rows.key(*row) < key);
                let end = (self.row + 1..last).find(|row| !is_before(row));
                let end = end.unwrap_or(last);
                out.append_rows(rows, self.row..end);
                self.row = end;
                if end == rows.len() {
                    return Ok(false);
                }
                self.key.clear();
                self.key.extend_from_slice(rows.key(end));
            }
        }
        Ok(true)
    }
}

/// Number of rows in memory that are merged at a time.
const MERGED_ROWS: usize = 1024;

/// Memory of a key in [`Keys`] beside its bytes.
const KEY_BYTES: u64 = 64;

/// Keys of a unique index that were loaded, each with the position of its row.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Position by hash of the key; empty when several keys have the hash.
    by_hash: HashMap<u64, Box<[u8]>>,
    /// Positions by key, for keys whose hashes collide.
    others: BTreeMap<Vec<u8>, Vec<u8>>,
    bytes: u64,
}

impl Keys {
    /// The position of the row with this key, if any. Each index entry is its key and position.
    pub(super) fn find(&self, key: &[u8]) -> Option<Vec<u8>> {
        let entry = self.by_hash.get(&random::hash(key))?;
        if let Some(position) = entry.strip_prefix(key) {
            return Some(position.to_vec());
        }
        self.others.get(key).cloned()
    }

    /// Adds a key that was not found.
    pub(super) fn add(&mut self, key: &[u8], position: &[u8]) {
        self.bytes += (key.len() + position.len()) as u64 + KEY_BYTES;
        match self.by_hash.entry(random::hash(key)) {
            Entry::Occupied(_) => {
                self.others.insert(key.to_vec(), position.to_vec());
            }
            Entry::Vacant(vacant) => {
                vacant.insert([key, position].concat().into());
            }
        }
    }

    /// Estimate of the memory in use, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.bytes
    }
}

/// A table that is being bulk loaded.
#[derive(Debug)]
pub(super) struct Bulk {
    pub(super) rows: BulkTree,
    pub(super) secondary: Vec<BulkTree>,
    /// Loaded keys of each unique index; `None` for the other indexes.
    pub(super) unique: Vec<Option<Keys>>,
    /// Loaded keys of the primary key, once they come out of order.
    pub(super) primary: Option<Keys>,
}

impl Bulk {
    /// A load of an empty table; `None` while orphaned blocks of a former load are not removed.
    pub(super) fn new(
        store: &Arc<Store>,
        limits: Limits,
        definition: &TableDefinition,
    ) -> Option<Self> {
        let tree = |index: &IndexTree| BulkTree::new(store, limits, index.tree, &index.types);
        let keys = |index: &IndexTree| index.unique.then(Keys::default);
        let secondary = || definition.secondary().map(|(_, index)| index);
        Some(Self {
            rows: BulkTree::new(store, limits, definition.rows(), definition.types())?,
            secondary: secondary().map(tree).collect::<Option<_>>()?,
            unique: secondary().map(keys).collect(),
            primary: None,
        })
    }

    /// Memory needed to look up this primary key, the first that does not come in order; `None` if a lookup needs
    /// none.
    pub(super) fn memory_for_primary(&self, key: &[u8]) -> Option<u64> {
        let is_first = self.primary.is_none() && !self.rows.is_after(key);
        is_first.then(|| self.rows.count * (key.len() as u64 + KEY_BYTES))
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

    /// Estimate of the memory in use, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let trees = self.secondary.iter().map(BulkTree::memory).sum::<u64>();
        let keys = self.unique.iter().flatten().chain(&self.primary);
        self.rows.memory() + trees + keys.map(Keys::memory).sum::<u64>()
    }

    /// Whether each further row needs more memory.
    pub(super) fn keeps_keys(&self) -> bool {
        self.primary.is_some() || self.unique.iter().any(Option::is_some)
    }

    /// Ends the load of every tree of the table.
    pub(super) fn finish(self) -> Result<Vec<(TreeId, TreeChanges)>> {
        let all = std::iter::once(self.rows).chain(self.secondary);
        all.map(BulkTree::finish).collect()
    }
}
