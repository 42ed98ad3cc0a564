//! Snapshots: a read transaction of the file with a memtable version laid over it ([`super::memtable`]), and reads of
//! trees in both.
//!
//! Blocks are read in place, in the map of the file or in memory. The pages of a read transaction do not change until
//! it ends, nor does the snapshot's memtable version, so slices of blocks may be held as long as the [`Snapshot`].

#![expect(
    unsafe_code,
    reason = "blocks and cursors are kept beside the snapshot that they are of"
)]

use std::cmp::Ordering;
use std::ops::{Bound, Range};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use heed::types::Bytes;
use heed::{RoRange, RoRevRange, RoTxn, WithoutTls};
use mayfly_memory::sync::lock;
use mayfly_types::Result;

use super::block::{Block, Checked};
use super::block_key::{Found, end_of, floor};
use super::data_file::{DataFile, SnapshotNumber, user_error};
use super::memtable::{Entry, Memtable, MergedRecords, Record};
use super::record_key::{LOADING, META, TreeId, record_key};

/// The read transaction. LMDB requires its use to be synchronized.
pub(super) struct Snapshot {
    txn: Mutex<RoTxn<'static, WithoutTls>>,
    /// The memtable version of the snapshot.
    memtable: Memtable,
    // Dropped after the transaction, which reads in the file.
    file: Arc<DataFile>,
    directory: Arc<Path>,
    version: u64,
    /// Address range of the file's map; empty when unknown.
    map: Range<usize>,
    /// Number that is unique among living snapshots.
    number: SnapshotNumber,
    /// Trees that are being loaded, whose blocks are hidden.
    hidden: OnceLock<Vec<TreeId>>,
    /// The loading tree that is visible here.
    own: Option<TreeId>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("version", &self.version)
            .finish()
    }
}

// Buffers keep the snapshot alive. It has no state that a panic could leave half changed.
impl std::panic::RefUnwindSafe for Snapshot {}

impl Snapshot {
    /// A snapshot of the file's current state, with `memtable` laid over it.
    pub(super) fn new(
        file: &Arc<DataFile>,
        memtable: Memtable,
        directory: &Arc<Path>,
        version: u64,
        number: SnapshotNumber,
    ) -> Result<Self> {
        let txn = file.read();
        let txn = txn.map_err(|error| user_error(&error, directory))?;
        Ok(Self {
            txn: Mutex::new(txn),
            memtable,
            file: Arc::clone(file),
            directory: Arc::clone(directory),
            version,
            map: file.map(),
            number,
            hidden: OnceLock::new(),
            own: None,
        })
    }

    /// Makes the blocks of a tree that is being loaded visible.
    pub(super) fn that_sees(self, tree: TreeId) -> Self {
        let own = Some(tree);
        Self { own, ..self }
    }

    fn hides(&self, tree: TreeId) -> Result<bool> {
        let hidden = match self.hidden.get() {
            Some(hidden) => hidden,
            None => {
                let loading = self.loading()?;
                self.hidden.get_or_init(|| loading)
            }
        };
        Ok(hidden.contains(&tree) && self.own != Some(tree))
    }

    /// Trees recorded as being loaded: a bulk load fills them, or has left orphaned blocks in them.
    pub(super) fn loading(&self) -> Result<Vec<TreeId>> {
        let records = self.records(LOADING)?;
        let tree = |name: &[u8]| name.last_chunk::<4>().map(|tree| u32::from_be_bytes(*tree));
        Ok(records.iter().filter_map(|(name, _)| tree(name)).collect())
    }

    /// Number of commits that the snapshot sees.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The address range of a buffer for a block and its neighbourhood. Buffers of two living snapshots never begin at
    /// the same address, so that a buffer's address identifies its snapshot.
    pub(super) fn window(&self, block: &[u8]) -> Range<usize> {
        let address = block.as_ptr() as usize;
        // The file begins with two pages that hold no block.
        let first = self.map.start + self.number.0;
        if !self.map.contains(&address) || address < first || block.len() > LARGEST_IN_WINDOW {
            return address..address + block.len();
        }
        let start = address - (address - first) % WINDOW_BYTES;
        start..(start + WINDOW_BYTES + LARGEST_IN_WINDOW).min(self.map.end)
    }

    /// The found block, after a comparison of its checksum.
    #[inline]
    pub(super) fn block<'b>(&self, found: Found<'b>) -> Checked<Block<'b>> {
        self.file.verified.block(found.block)
    }

    fn lock(&self) -> MutexGuard<'_, RoTxn<'static, WithoutTls>> {
        lock(&self.txn)
    }

    fn run<'s, T>(&'s self, read: impl FnOnce(MergedRecords<'s>) -> heed::Result<T>) -> Result<T> {
        let guard = self.lock();
        let all = MergedRecords {
            records: self.file.records,
            txn: extend_lifetime(self, &guard),
            memtable: &self.memtable,
        };
        read(all).map_err(|error| user_error(&error, &self.directory))
    }

    /// The value of a named record.
    pub(super) fn record(&self, name: &[u8]) -> Result<Option<&[u8]>> {
        let key = record_key(META, name);
        self.run(|all| all.get(&key))
    }

    /// The records whose names begin with a prefix, in order.
    pub(super) fn records(&self, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let prefix = record_key(META, prefix);
        self.run(|all| {
            let mut found = Vec::new();
            let mut next = all.from(&prefix)?;
            while let Some((key, value)) = next
                && key.starts_with(&prefix)
            {
                found.push((key[4..].to_vec(), value.to_vec()));
                next = all.after(key)?;
            }
            Ok(found)
        })
    }

    /// The first tree with a larger number that is not empty.
    pub(super) fn tree_after(&self, tree: TreeId) -> Result<Option<TreeId>> {
        let Some(next) = tree.checked_add(1) else {
            return Ok(None);
        };
        let key = record_key(next, &[]);
        let found = self.run(|all| all.from(&key))?;
        let number = found.and_then(|(key, _)| key.first_chunk::<4>());
        Ok(number.map(|number| u32::from_be_bytes(*number)))
    }

    /// The block that holds a key if the key exists: the last whose separator is not larger, or the first block.
    /// `None` when the tree is empty.
    pub(super) fn block_of(&self, tree: TreeId, key: &[u8]) -> Result<Option<Found<'_>>> {
        if self.hides(tree)? {
            return Ok(None);
        }
        self.run(|all| floor(all, tree, key))
    }

    /// [`Self::block_of`], but for a caller that holds the snapshot as long as the result.
    pub(super) fn held_block_of(
        self: &Arc<Self>,
        tree: TreeId,
        key: &[u8],
    ) -> Result<Option<Found<'static>>> {
        Ok(self.block_of(tree, key)?.map(held))
    }

    /// The row of a key, as a block and an index in it, if there is one, for a caller that holds the snapshot as long
    /// as the block.
    pub(super) fn find(
        self: &Arc<Self>,
        tree: TreeId,
        key: &[u8],
    ) -> Result<Option<(Block<'static>, usize)>> {
        let Some(found) = self.held_block_of(tree, key)? else {
            return Ok(None);
        };
        let block = self.block(found)?;
        Ok(block.search(key)?.ok().map(|row| (block, row)))
    }

    /// The blocks that may hold keys of a range, in order.
    pub(super) fn walk(
        self: &Arc<Self>,
        tree: TreeId,
        start: &[u8],
        end: Option<&[u8]>,
        reverse: bool,
    ) -> Result<Walk> {
        let first = self.block_of(tree, start)?;
        let low = record_key(tree, first.map_or(&[], |found| found.key));
        let high = match end {
            // The range is empty, even if there are blocks.
            _ if first.is_none() => low.clone(),
            Some(end) => self.run(|all| end_of(all, tree, end))?,
            None => match tree.checked_add(1) {
                Some(next) => record_key(next, &[]),
                None => vec![u8::MAX; 16],
            },
        };
        let guard = self.lock();
        let txn = extend_cursor_lifetime(&guard);
        let bounds = (
            Bound::Included(low.as_slice()),
            Bound::Excluded(high.as_slice()),
        );
        let records = self.file.records;
        let steps = if reverse {
            records.rev_range(txn, &bounds).map(Steps::Down)
        } else {
            records.range(txn, &bounds).map(Steps::Up)
        };
        let steps = steps.map_err(|error| user_error(&error, &self.directory))?;
        drop(guard);
        let mut walk = Walk {
            steps,
            ahead: None,
            is_at_end: false,
            buffered: None,
            far: if reverse { low.clone() } else { high.clone() },
            tree,
            snapshot: Arc::clone(self),
        };
        walk.buffered = if reverse {
            walk.within(self.memtable.up_to(Bound::Excluded(&high)))
        } else {
            walk.within(self.memtable.from(Bound::Included(&low)))
        };
        Ok(walk)
    }
}

/// Size of a window: with the block at its end it stays below 4 GiB, the limit of offsets in views.
const WINDOW_BYTES: usize = 2 << 30;
const LARGEST_IN_WINDOW: usize = 1 << 30;

/// Extends lifetimes: what is read in the transaction stays as long as the snapshot.
fn extend_lifetime<'s>(
    _snapshot: &'s Snapshot,
    txn: &RoTxn<'static, WithoutTls>,
) -> &'s RoTxn<'static, WithoutTls> {
    // SAFETY: the transaction lives in the snapshot, which `'s` borrows, and is used only by calls made while the
    // guard that gave it is held. Bytes that such calls return lie in pages of this transaction, which nobody changes
    // before it ends with the snapshot.
    unsafe { &*std::ptr::from_ref(txn) }
}

fn held(found: Found<'_>) -> Found<'static> {
    // SAFETY: the callers of `held_block_of` keep the snapshot at least as long as the result.
    unsafe { std::mem::transmute(found) }
}

fn extend_cursor_lifetime(txn: &RoTxn<'static, WithoutTls>) -> &'static RoTxn<'static, WithoutTls> {
    // SAFETY: used by `Walk` alone, which holds the snapshot and drops its cursor first.
    unsafe { &*std::ptr::from_ref(txn) }
}

enum Steps {
    Up(RoRange<'static, Bytes, Bytes>),
    Down(RoRevRange<'static, Bytes, Bytes>),
}

/// Walk over blocks in key order, or backwards.
pub(super) struct Walk {
    // Declared before the snapshot, so that the cursor is closed while its transaction lives.
    steps: Steps,
    /// The next record of the file, if it was read already.
    ahead: Option<Record<'static>>,
    /// Whether the file has no more records in the range.
    is_at_end: bool,
    /// The next record of the memtable.
    buffered: Option<Entry<'static>>,
    /// End of the walk: upwards the first key outside, downwards the last key inside.
    far: Vec<u8>,
    tree: TreeId,
    snapshot: Arc<Snapshot>,
}

// SAFETY: transactions are opened without thread-local storage, and the cursor is only moved while
// the snapshot's lock is held.
unsafe impl Send for Walk {}

impl Walk {
    fn is_up(&self) -> bool {
        matches!(self.steps, Steps::Up(_))
    }

    /// An entry of the snapshot's memtable, if it lies within the walk.
    fn within(&self, entry: Option<Entry<'_>>) -> Option<Entry<'static>> {
        let entry = entry.filter(|(key, _)| {
            if self.is_up() {
                **key < *self.far
            } else {
                **key >= *self.far
            }
        })?;
        // SAFETY: the bytes stay in place as long as the snapshot, which the walk holds, has its memtable.
        Some(unsafe { std::mem::transmute::<Entry<'_>, Entry<'static>>(entry) })
    }

    fn of_file(&mut self) -> heed::Result<Option<Record<'static>>> {
        if self.ahead.is_some() || self.is_at_end {
            return Ok(self.ahead.take());
        }
        let next = match &mut self.steps {
            Steps::Up(steps) => steps.next(),
            Steps::Down(steps) => steps.next(),
        };
        self.is_at_end = next.is_none();
        next.transpose()
    }

    /// The next record of file and memtable. The caller has the snapshot's lock.
    fn step(&mut self) -> heed::Result<Option<Record<'static>>> {
        loop {
            let there = self.of_file()?;
            let Some((key, value)) = self.buffered else {
                return Ok(there);
            };
            if let Some(record) = there {
                let order = if self.is_up() {
                    record.0.cmp(key)
                } else {
                    key.cmp(record.0)
                };
                match order {
                    Ordering::Less => return Ok(Some(record)),
                    // The memtable's record hides the file's.
                    Ordering::Equal => {}
                    Ordering::Greater => self.ahead = Some(record),
                }
            }
            let memtable = &self.snapshot.memtable;
            self.buffered = if self.is_up() {
                self.within(memtable.from(Bound::Excluded(key)))
            } else {
                self.within(memtable.up_to(Bound::Excluded(key)))
            };
            if let Some(value) = value {
                return Ok(Some((key, value)));
            }
        }
    }

    /// The next blocks, up to the first for which `enough` returns true.
    pub(super) fn take(&mut self, mut enough: impl FnMut(Found<'static>) -> bool) -> Result<()> {
        let snapshot = Arc::clone(&self.snapshot);
        let _guard = snapshot.lock();
        loop {
            let next = self.step();
            let next = next.map_err(|error| user_error(&error, &snapshot.directory))?;
            let Some(found) = next.and_then(|record| Found::of(self.tree, record)) else {
                return Ok(());
            };
            if enough(found) {
                return Ok(());
            }
        }
    }

    /// The next block, valid as long as the snapshot.
    pub(super) fn next(&mut self) -> Result<Option<Found<'static>>> {
        let mut next = None;
        self.take(|found| {
            next = Some(found);
            true
        })?;
        Ok(next)
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        // The cursor is closed under the lock of its transaction.
        let _guard = self.snapshot.lock();
    }
}
