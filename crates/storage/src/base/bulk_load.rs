//! Bulk loads: an empty tree is filled in the file itself, before its transaction commits.
//!
//! Blocks are written in several transactions of the file, so that a load needs little memory. Until
//! its own transaction commits, a record says that the tree is being loaded: every snapshot hides the
//! blocks of such trees, except the snapshots of the [`BulkLoad`] itself. The commit removes the record together
//! with its other changes. A load that is not committed removes its blocks when it is dropped. Where that fails, the
//! next commit removes them, before it changes anything; after a crash, opening the store does.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mayfly_memory::sync::lock;
use mayfly_types::Result;

use super::environment::Environment;
use super::environment::pipeline::{Changes, Logging};
use super::record_key::{META, TreeId, loading_name, record_key};
use super::redo::Redo;
use super::snapshot::Snapshot;

/// Bytes of a load, about, up to which it is logged.
const LOGGED_BYTES: u64 = 2 << 20;

/// Trees that this process loads, and trees with orphaned blocks of failed loads.
#[derive(Debug, Default)]
pub(super) struct BulkLoads(Mutex<Trees>);

#[derive(Debug, Default)]
struct Trees {
    /// Trees of both kinds.
    taken: HashSet<TreeId>,
    orphans: Vec<TreeId>,
}

impl BulkLoads {
    fn trees(&self) -> MutexGuard<'_, Trees> {
        lock(&self.0)
    }

    /// Takes the trees with orphaned blocks, to remove these.
    pub(super) fn orphans(&self) -> Orphans<'_> {
        Orphans {
            trees: std::mem::take(&mut self.trees().orphans),
            bulk_loads: self,
        }
    }

    /// Removes the orphans of loads that ended with their process.
    pub(super) fn remove_orphans(&self, environment: &Environment) -> Result<()> {
        let left = environment.newest()?.loading()?;
        self.trees().orphans = left;
        self.clean_up(environment)
    }

    fn clean_up(&self, environment: &Environment) -> Result<()> {
        let left = self.orphans();
        if !left.trees.is_empty() {
            environment.write(&left, Logging::Unsynced, || {})?;
            left.removed();
        }
        Ok(())
    }
}

/// Trees with orphaned blocks. They cannot be loaded before the blocks are known to be removed.
pub(super) struct Orphans<'f> {
    trees: Vec<TreeId>,
    bulk_loads: &'f BulkLoads,
}

impl Orphans<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Notes that the trees are empty.
    pub(super) fn removed(mut self) {
        let removed = std::mem::take(&mut self.trees);
        let mut trees = self.bulk_loads.trees();
        for tree in removed {
            trees.taken.remove(&tree);
        }
    }
}

impl Changes for Orphans<'_> {
    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
        for tree in &self.trees {
            clear(*tree, change)?;
            remove_loading(*tree, change)?;
        }
        Ok(())
    }
}

impl Drop for Orphans<'_> {
    fn drop(&mut self) {
        let left = std::mem::take(&mut self.trees);
        self.bulk_loads.trees().orphans.extend(left);
    }
}

/// Removes the record that a tree is being loaded, with the changes that make its blocks visible or remove them.
pub(super) fn remove_loading(
    tree: TreeId,
    change: &mut dyn FnMut(Redo<'_>) -> Result<()>,
) -> Result<()> {
    change(Redo::Remove(&record_key(META, &loading_name(tree))))
}

/// Removes every block of a tree.
pub(super) fn clear(tree: TreeId, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
    let low = record_key(tree, &[]);
    let high = record_key(tree.saturating_add(1), &[]);
    change(Redo::Clear(&low, &high))
}

/// Blocks written by a load.
struct Blocks<'f> {
    load: &'f BulkLoad,
    tree: TreeId,
    is_first: bool,
    anew: bool,
    blocks: &'f [(Vec<u8>, Vec<u8>)],
}

impl Changes for Blocks<'_> {
    fn can_follow(&self, replays: u64) -> bool {
        self.load.can_follow(replays)
    }

    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
        if self.is_first {
            change(Redo::Put(&record_key(META, &loading_name(self.tree)), &[]))?;
        } else if self.anew {
            clear(self.tree, change)?;
        }
        let mut blocks = self.blocks.iter();
        blocks.try_for_each(|(key, block)| change(Redo::Put(key, block)))
    }
}

/// A load of a whole tree by its transaction.
pub(super) struct BulkLoad {
    environment: Arc<Environment>,
    bulk_loads: Arc<BulkLoads>,
    tree: TreeId,
    /// Value of [`Environment::replays`] before the first write.
    replays: AtomicU64,
    /// Whether anything was written.
    begun: AtomicBool,
    /// Bytes written to the log.
    logged: AtomicU64,
    /// Whether some blocks are not in the log.
    needs_checkpoint: AtomicBool,
    /// Whether the transaction has committed.
    is_committed: AtomicBool,
}

impl std::fmt::Debug for BulkLoad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkLoad")
            .field("tree", &self.tree)
            .finish()
    }
}

impl BulkLoad {
    /// Begins to load a tree that is empty; `None` when it has orphaned blocks.
    pub(super) fn new(
        environment: &Arc<Environment>,
        bulk_loads: &Arc<BulkLoads>,
        tree: TreeId,
    ) -> Option<Self> {
        let is_first = bulk_loads.trees().taken.insert(tree);
        is_first.then(|| Self {
            environment: Arc::clone(environment),
            bulk_loads: Arc::clone(bulk_loads),
            tree,
            replays: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            logged: AtomicU64::new(0),
            needs_checkpoint: AtomicBool::new(false),
            is_committed: AtomicBool::new(false),
        })
    }

    /// Writes blocks with their keys; `anew` replaces all that was written before.
    pub(super) fn write(&self, anew: bool, blocks: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        let is_logged = self.logged.load(Ordering::Relaxed) < LOGGED_BYTES;
        let logging = if is_logged {
            Logging::Unsynced
        } else {
            Logging::Nothing
        };
        if !is_logged {
            self.needs_checkpoint.store(true, Ordering::Relaxed);
        }
        let changes = Blocks {
            load: self,
            tree: self.tree,
            is_first: !self.begun.load(Ordering::Relaxed),
            anew,
            blocks,
        };
        let bytes = blocks.iter().map(|(key, block)| key.len() + block.len());
        let bytes = bytes.sum::<usize>() as u64;
        self.environment.tree_spaces.grow(self.tree, bytes)?;
        self.environment.write(&changes, logging, || {})?;
        self.logged.fetch_add(bytes, Ordering::Relaxed);
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether only a checkpoint brings the blocks to disk.
    pub(super) fn needs_checkpoint(&self) -> bool {
        self.needs_checkpoint.load(Ordering::Relaxed)
    }

    /// Whether the load's blocks are still in the file: a reopened file lacks those that were not logged.
    pub(super) fn can_follow(&self, replays: u64) -> bool {
        if !self.begun.load(Ordering::Relaxed) {
            self.replays.store(replays, Ordering::Relaxed);
        }
        self.replays.load(Ordering::Relaxed) == replays
    }

    /// Snapshot of the blocks written so far.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>> {
        let snapshot = self.environment.snapshot()?;
        Ok(Arc::new(snapshot.that_sees(self.tree)))
    }

    /// Notes that the transaction has committed.
    pub(super) fn note_committed(&self) {
        self.is_committed.store(true, Ordering::Relaxed);
    }
}

impl Drop for BulkLoad {
    fn drop(&mut self) {
        let begun = self.begun.load(Ordering::Relaxed);
        let bulk_loads = &self.bulk_loads;
        if !begun || self.is_committed.load(Ordering::Relaxed) {
            bulk_loads.trees().taken.remove(&self.tree);
            return;
        }
        bulk_loads.trees().orphans.push(self.tree);
        // If it fails, the next commit does it.
        let _ = bulk_loads.clean_up(&self.environment);
        self.environment.settle(self.tree);
    }
}
