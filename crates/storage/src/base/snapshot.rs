//! The rows of one moment: a read transaction of the file, and how trees are read in it.
//!
//! Blocks are read where they are, in the map of the file. The pages of a read transaction do not
//! change until it ends, so whoever holds the [`Snapshot`] may hold slices of blocks.

use std::ops::{Bound, Range};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use heed::types::Bytes;
use heed::{RoRange, RoRevRange, RoTxn, WithoutTls};
use mayfly_types::Result;

use super::environment::{
    DataFile, META, SnapshotNumber, TreeId, record_key, separator_of, user_error,
};

/// A read transaction. The library wants its use to be synchronized.
pub(super) struct Snapshot {
    txn: Mutex<RoTxn<'static, WithoutTls>>,
    // After the transaction, which reads in it.
    file: Arc<DataFile>,
    directory: Arc<Path>,
    version: u64,
    /// Where the file is mapped, if that is known.
    map: Range<usize>,
    /// No other snapshot that lives has it.
    number: SnapshotNumber,
    /// The trees whose blocks nobody may see yet.
    hidden: OnceLock<Vec<TreeId>>,
    /// The one of them that may be seen here.
    own: Option<TreeId>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("version", &self.version)
            .finish()
    }
}

// Buffers keep it alive. It holds no state that a panic could leave half changed.
impl std::panic::RefUnwindSafe for Snapshot {}

/// A block, by its separator, as long as a snapshot `'s` is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'s> {
    /// Keys of the block are not smaller.
    pub(super) separator: &'s [u8],
    pub(super) block: &'s [u8],
}

impl Snapshot {
    /// A file as it is now.
    pub(super) fn new(
        file: &Arc<DataFile>,
        directory: &Arc<Path>,
        version: u64,
        number: SnapshotNumber,
    ) -> Result<Self> {
        let txn = file.read();
        let txn = txn.map_err(|error| user_error(&error, directory))?;
        Ok(Self {
            txn: Mutex::new(txn),
            file: Arc::clone(file),
            directory: Arc::clone(directory),
            version,
            map: file.map(),
            number,
            hidden: OnceLock::new(),
            own: None,
        })
    }

    /// The same moment, with the blocks of a tree that is being filled.
    pub(super) fn that_sees(self, tree: TreeId) -> Self {
        let own = Some(tree);
        Self { own, ..self }
    }

    fn hides(&self, tree: TreeId) -> Result<bool> {
        let hidden = match self.hidden.get() {
            Some(hidden) => hidden,
            None => {
                let marked = super::fill::marked(self)?;
                self.hidden.get_or_init(|| marked)
            }
        };
        Ok(hidden.contains(&tree) && self.own != Some(tree))
    }

    /// The commits before it.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The addresses of a buffer that holds a block, and those near it. Buffers of two snapshots that
    /// live at one time never begin at the same address, so that who knows a buffer by its address
    /// knows its snapshot.
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

    fn lock(&self) -> MutexGuard<'_, RoTxn<'static, WithoutTls>> {
        self.txn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<'s, T>(
        &'s self,
        read: impl FnOnce(&'s RoTxn<'static, WithoutTls>) -> heed::Result<T>,
    ) -> Result<T> {
        let guard = self.lock();
        read(for_ever(self, &guard)).map_err(|error| user_error(&error, &self.directory))
    }

    /// The record of a name.
    pub(super) fn record(&self, name: &[u8]) -> Result<Option<&[u8]>> {
        let key = record_key(META, name);
        self.run(|txn| self.file.records.get(txn, &key))
    }

    /// The records whose names begin with a prefix, in order.
    pub(super) fn records(&self, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let key = record_key(META, prefix);
        self.run(|txn| {
            let mut found = Vec::new();
            for record in self.file.records.prefix_iter(txn, &key)? {
                let (name, value) = record?;
                found.push((name[4..].to_vec(), value.to_vec()));
            }
            Ok(found)
        })
    }

    /// The first tree with a larger number that has something in it.
    pub(super) fn tree_after(&self, tree: TreeId) -> Result<Option<TreeId>> {
        let Some(next) = tree.checked_add(1) else {
            return Ok(None);
        };
        let key = record_key(next, &[]);
        let found = self.run(|txn| self.file.records.get_greater_than_or_equal_to(txn, &key))?;
        let number = found.and_then(|(key, _)| key.first_chunk::<4>());
        Ok(number.map(|number| u32::from_be_bytes(*number)))
    }

    /// The block in which a key stands if it exists: the last whose separator is not larger, or the
    /// first. `None` when the tree is empty.
    pub(super) fn block_of(&self, tree: TreeId, key: &[u8]) -> Result<Option<Found<'_>>> {
        if self.hides(tree)? {
            return Ok(None);
        }
        self.run(|txn| floor(self.file.records, txn, tree, key))
    }

    /// The same for who keeps the snapshot beside what is found.
    pub(super) fn held_block_of(
        self: &Arc<Self>,
        tree: TreeId,
        key: &[u8],
    ) -> Result<Option<Found<'static>>> {
        Ok(self.block_of(tree, key)?.map(held))
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
        let low = record_key(tree, first.map_or(&[], |found| found.separator));
        let high = match end {
            // Nothing may be seen, even of blocks that are there.
            _ if first.is_none() => low.clone(),
            Some(end) => record_key(tree, end),
            None => match tree.checked_add(1) {
                Some(next) => record_key(next, &[]),
                None => vec![u8::MAX; 16],
            },
        };
        // A separator is never larger than the largest record key.
        let high = &high[..high.len().min(MAX_KEY)];
        let guard = self.lock();
        let txn = for_ever_static(&guard);
        let bounds = (Bound::Included(low.as_slice()), Bound::Excluded(high));
        let records = self.file.records;
        let steps = if reverse {
            records.rev_range(txn, &bounds).map(Steps::Down)
        } else {
            records.range(txn, &bounds).map(Steps::Up)
        };
        let steps = steps.map_err(|error| user_error(&error, &self.directory))?;
        drop(guard);
        Ok(Walk {
            steps,
            tree,
            snapshot: Arc::clone(self),
        })
    }
}

/// A window and the block at its end are below 4 GiB, which offsets in views can say.
const WINDOW_BYTES: usize = 2 << 30;
const LARGEST_IN_WINDOW: usize = 1 << 30;

/// LMDB's longest key.
pub(super) const MAX_KEY: usize = 511;

/// The block of a key in any transaction.
pub(super) fn floor<'t>(
    records: super::environment::Records,
    txn: &'t RoTxn<'_, WithoutTls>,
    tree: TreeId,
    key: &[u8],
) -> heed::Result<Option<Found<'t>>> {
    let mut wanted = record_key(tree, key);
    wanted.truncate(MAX_KEY);
    let found = records.get_lower_than_or_equal_to(txn, &wanted)?;
    if let Some(found) = found.and_then(|(key, block)| found_in(tree, key, block)) {
        return Ok(Some(found));
    }
    let found = records.get_greater_than_or_equal_to(txn, &record_key(tree, &[]))?;
    Ok(found.and_then(|(key, block)| found_in(tree, key, block)))
}

pub(super) fn found_in<'t>(tree: TreeId, key: &'t [u8], block: &'t [u8]) -> Option<Found<'t>> {
    separator_of(tree, key).map(|separator| Found { separator, block })
}

/// What is read in the transaction stays as long as the snapshot.
#[expect(
    unsafe_code,
    reason = "the lock is needed for calls, not for what they return"
)]
fn for_ever<'s>(
    _snapshot: &'s Snapshot,
    txn: &RoTxn<'static, WithoutTls>,
) -> &'s RoTxn<'static, WithoutTls> {
    // SAFETY: the transaction lives in the snapshot, which `'s` borrows, and is used by calls only
    // while the guard that gave it is held. Bytes that such calls return lie in pages of this
    // transaction, which nobody changes before it ends with the snapshot.
    unsafe { &*std::ptr::from_ref(txn) }
}

#[expect(
    unsafe_code,
    reason = "bytes are kept beside the snapshot that they are of"
)]
fn held(found: Found<'_>) -> Found<'static> {
    // SAFETY: the callers of `held_block_of` keep the snapshot at least as long as what is found.
    unsafe { std::mem::transmute(found) }
}

#[expect(unsafe_code, reason = "a cursor is kept beside its transaction")]
fn for_ever_static(txn: &RoTxn<'static, WithoutTls>) -> &'static RoTxn<'static, WithoutTls> {
    // SAFETY: used by `Walk` alone, which holds the snapshot and drops its cursor before.
    unsafe { &*std::ptr::from_ref(txn) }
}

enum Steps {
    Up(RoRange<'static, Bytes, Bytes>),
    Down(RoRevRange<'static, Bytes, Bytes>),
}

/// A walk over blocks.
pub(super) struct Walk {
    // Before the snapshot, so that the cursor is closed while its transaction lives.
    steps: Steps,
    tree: TreeId,
    snapshot: Arc<Snapshot>,
}

#[expect(
    unsafe_code,
    reason = "a cursor of a transaction that may be used by any thread"
)]
// SAFETY: transactions are opened without thread-local storage, and the cursor is only moved while
// the snapshot's lock is held.
unsafe impl Send for Walk {}

impl Walk {
    /// The next blocks, until `enough` says so of one.
    pub(super) fn take(&mut self, mut enough: impl FnMut(Found<'static>) -> bool) -> Result<()> {
        let snapshot = Arc::clone(&self.snapshot);
        let _guard = snapshot.lock();
        loop {
            let next = match &mut self.steps {
                Steps::Up(steps) => steps.next(),
                Steps::Down(steps) => steps.next(),
            };
            let Some(next) = next else {
                return Ok(());
            };
            let (key, block) = next.map_err(|error| user_error(&error, &snapshot.directory))?;
            let Some(found) = found_in(self.tree, key, block) else {
                return Ok(());
            };
            if enough(found) {
                return Ok(());
            }
        }
    }

    /// The next block. It is valid as long as the snapshot.
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
