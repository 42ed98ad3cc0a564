//! Filling an empty tree in the file itself, before the transaction that does it commits.
//!
//! Blocks are written in several transactions of the file, so that a load needs little memory. Until
//! its own transaction commits, a record marks the tree: every snapshot hides the blocks of trees that
//! it finds marked, except the snapshots of the [`Fill`] itself. The commit removes the mark together
//! with what else it does. A fill that does not come so far removes its blocks when it is dropped. Where
//! that fails, the next commit removes them, before it changes anything; after a crash, it is done when
//! the store is opened.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mayfly_memory::sync::lock;
use mayfly_types::Result;

use super::environment::Environment;
use super::environment::pipeline::{Changes, Logging};
use super::record_key::{META, TreeId, mark_of, record_key};
use super::redo::Redo;
use super::snapshot::Snapshot;

/// About so many bytes of a fill are logged.
const LOGGED_BYTES: u64 = 2 << 20;

/// The trees that are being filled by this process, and those whose fills have left blocks behind.
#[derive(Debug, Default)]
pub(super) struct Filling(Mutex<Trees>);

#[derive(Debug, Default)]
struct Trees {
    /// Of both kinds.
    taken: HashSet<TreeId>,
    left_over: Vec<TreeId>,
}

impl Filling {
    fn trees(&self) -> MutexGuard<'_, Trees> {
        lock(&self.0)
    }

    /// What fills have left behind, for who removes it.
    pub(super) fn left_over(&self) -> LeftOver<'_> {
        LeftOver {
            trees: std::mem::take(&mut self.trees().left_over),
            filling: self,
        }
    }

    /// Removes what fills left behind that ended with their process.
    pub(super) fn remove_left_over(&self, environment: &Environment) -> Result<()> {
        let left = environment.newest()?.filling()?;
        self.trees().left_over = left;
        self.clean_up(environment)
    }

    fn clean_up(&self, environment: &Environment) -> Result<()> {
        let left = self.left_over();
        if !left.trees.is_empty() {
            environment.write(&left, Logging::Unsynced, || {})?;
            left.removed();
        }
        Ok(())
    }
}

/// Trees that fills have left behind. Until they are known to be removed, nobody fills them.
pub(super) struct LeftOver<'f> {
    trees: Vec<TreeId>,
    filling: &'f Filling,
}

impl LeftOver<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// They are empty.
    pub(super) fn removed(mut self) {
        let removed = std::mem::take(&mut self.trees);
        let mut trees = self.filling.trees();
        for tree in removed {
            trees.taken.remove(&tree);
        }
    }
}

impl Changes for LeftOver<'_> {
    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
        for tree in &self.trees {
            clear(*tree, change)?;
            remove_mark(*tree, change)?;
        }
        Ok(())
    }
}

impl Drop for LeftOver<'_> {
    fn drop(&mut self) {
        let left = std::mem::take(&mut self.trees);
        self.filling.trees().left_over.extend(left);
    }
}

/// Removes the mark of a tree, with the changes that make its blocks visible or remove them.
pub(super) fn remove_mark(
    tree: TreeId,
    change: &mut dyn FnMut(Redo<'_>) -> Result<()>,
) -> Result<()> {
    change(Redo::Remove(&record_key(META, &mark_of(tree))))
}

/// Removes every block of a tree.
pub(super) fn clear(tree: TreeId, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
    let low = record_key(tree, &[]);
    let high = record_key(tree.saturating_add(1), &[]);
    change(Redo::Clear(&low, &high))
}

/// Blocks of a fill.
struct Blocks<'f> {
    fill: &'f Fill,
    tree: TreeId,
    is_first: bool,
    anew: bool,
    blocks: &'f [(Vec<u8>, Vec<u8>)],
}

impl Changes for Blocks<'_> {
    fn can_follow(&self, replays: u64) -> bool {
        self.fill.can_follow(replays)
    }

    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
        if self.is_first {
            change(Redo::Put(&record_key(META, &mark_of(self.tree)), &[]))?;
        } else if self.anew {
            clear(self.tree, change)?;
        }
        let mut blocks = self.blocks.iter();
        blocks.try_for_each(|(key, block)| change(Redo::Put(key, block)))
    }
}

/// A tree that its transaction fills as a whole.
pub(super) struct Fill {
    environment: Arc<Environment>,
    filling: Arc<Filling>,
    tree: TreeId,
    /// How often the file was opened anew before the first write.
    replays: AtomicU64,
    /// Something was written.
    begun: AtomicBool,
    /// Bytes that are in the log.
    logged: AtomicU64,
    /// Not everything is.
    needs_checkpoint: AtomicBool,
    /// The transaction has committed.
    kept: AtomicBool,
}

impl std::fmt::Debug for Fill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fill").field("tree", &self.tree).finish()
    }
}

impl Fill {
    /// Begins to fill a tree that is empty; `None` when a fill of it is not cleaned up yet.
    pub(super) fn new(
        environment: &Arc<Environment>,
        filling: &Arc<Filling>,
        tree: TreeId,
    ) -> Option<Self> {
        let is_first = filling.trees().taken.insert(tree);
        is_first.then(|| Self {
            environment: Arc::clone(environment),
            filling: Arc::clone(filling),
            tree,
            replays: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            logged: AtomicU64::new(0),
            needs_checkpoint: AtomicBool::new(false),
            kept: AtomicBool::new(false),
        })
    }

    /// Writes blocks, with their keys; after `anew`, in place of all that was written before.
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
            fill: self,
            tree: self.tree,
            is_first: !self.begun.load(Ordering::Relaxed),
            anew,
            blocks,
        };
        self.environment.write(&changes, logging, || {})?;
        let bytes = blocks.iter().map(|(key, block)| key.len() + block.len());
        let bytes = bytes.sum::<usize>() as u64;
        self.logged.fetch_add(bytes, Ordering::Relaxed);
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether its blocks come to disk by a checkpoint alone.
    pub(super) fn needs_checkpoint(&self) -> bool {
        self.needs_checkpoint.load(Ordering::Relaxed)
    }

    /// Whether the file was not opened anew meanwhile, without the blocks that are not in the log.
    pub(super) fn can_follow(&self, replays: u64) -> bool {
        if !self.begun.load(Ordering::Relaxed) {
            self.replays.store(replays, Ordering::Relaxed);
        }
        self.replays.load(Ordering::Relaxed) == replays
    }

    /// What is written until now.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>> {
        let snapshot = self.environment.snapshot()?;
        Ok(Arc::new(snapshot.that_sees(self.tree)))
    }

    /// Says that the transaction has committed.
    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Fill {
    fn drop(&mut self) {
        let begun = self.begun.load(Ordering::Relaxed);
        let filling = &self.filling;
        if !begun || self.kept.load(Ordering::Relaxed) {
            filling.trees().taken.remove(&self.tree);
            return;
        }
        filling.trees().left_over.push(self.tree);
        // If it fails, the next commit does it.
        let _ = filling.clean_up(&self.environment);
    }
}
