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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mayfly_types::Result;

use super::environment::{META, TreeId, record_key};
use super::file_writer::FileWriter;
use super::snapshot::Snapshot;
use super::store::Store;

/// About so many bytes of a fill are logged.
const LOGGED_BYTES: u64 = 2 << 20;

/// The records that mark trees begin so.
const MARK: &[u8] = b"\0filling";

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes what fills have left behind, in the transaction that a writer makes; gives the trees.
    pub(super) fn remove_left_over(&self, writer: &mut FileWriter<'_>) -> Result<Vec<TreeId>> {
        let left = self.trees().left_over.clone();
        for tree in &left {
            writer.clear(*tree)?;
            remove_mark(writer, *tree)?;
        }
        Ok(left)
    }

    /// The transaction has committed: these trees are empty.
    pub(super) fn removed(&self, removed: &[TreeId]) {
        if removed.is_empty() {
            return;
        }
        let mut trees = self.trees();
        trees.left_over.retain(|tree| !removed.contains(tree));
        trees.taken.retain(|tree| !removed.contains(tree));
    }
}

fn mark_of(tree: TreeId) -> Vec<u8> {
    [MARK, &tree.to_be_bytes()].concat()
}

/// The trees that a snapshot finds marked.
pub(super) fn marked(snapshot: &Snapshot) -> Result<Vec<TreeId>> {
    let records = snapshot.records(MARK)?;
    let tree = |name: &[u8]| name.last_chunk::<4>().map(|tree| u32::from_be_bytes(*tree));
    Ok(records.iter().filter_map(|(name, _)| tree(name)).collect())
}

/// Removes the mark of a tree, in the transaction that makes its blocks visible or removes them.
pub(super) fn remove_mark(writer: &mut FileWriter<'_>, tree: TreeId) -> Result<()> {
    writer.remove(&record_key(META, &mark_of(tree)))
}

/// Removes what fills left behind that ended with their process.
pub(super) fn remove_left_over(store: &Store) -> Result<()> {
    let left = marked(&*store.environment.newest()?)?;
    store.committer.filling.trees().left_over = left;
    clean_up(store)
}

fn clean_up(store: &Store) -> Result<()> {
    let filling = &store.committer.filling;
    if filling.trees().left_over.is_empty() {
        return Ok(());
    }
    let mut removed = Vec::new();
    store.committer.change(&store.environment, true, |writer| {
        removed = filling.remove_left_over(writer)?;
        Ok(())
    })?;
    filling.removed(&removed);
    Ok(())
}

/// A tree that its transaction fills as a whole.
pub(super) struct Fill {
    store: Arc<Store>,
    tree: TreeId,
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
    pub(super) fn new(store: &Arc<Store>, tree: TreeId) -> Option<Self> {
        let is_first = store.committer.filling.trees().taken.insert(tree);
        is_first.then(|| Self {
            store: Arc::clone(store),
            tree,
            begun: AtomicBool::new(false),
            logged: AtomicU64::new(0),
            needs_checkpoint: AtomicBool::new(false),
            kept: AtomicBool::new(false),
        })
    }

    /// Writes blocks; after `anew`, in place of all that was written before.
    pub(super) fn write(
        &self,
        anew: bool,
        write: impl FnOnce(&mut FileWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let environment = &self.store.environment;
        let is_logged = self.logged.load(Ordering::Relaxed) < LOGGED_BYTES;
        if !is_logged {
            self.needs_checkpoint.store(true, Ordering::Relaxed);
        }
        self.store
            .committer
            .change(environment, is_logged, |writer| {
                if !self.begun.load(Ordering::Relaxed) {
                    writer.put(&record_key(META, &mark_of(self.tree)), &[])?;
                } else if anew {
                    writer.clear(self.tree)?;
                }
                write(writer)?;
                self.logged.fetch_add(writer.bytes(), Ordering::Relaxed);
                Ok(())
            })?;
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether its blocks come to disk by a checkpoint alone.
    pub(super) fn needs_checkpoint(&self) -> bool {
        self.needs_checkpoint.load(Ordering::Relaxed)
    }

    /// What is written until now.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>> {
        let environment = &self.store.environment;
        let snapshot = environment.snapshot()?;
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
        let filling = &self.store.committer.filling;
        if !begun || self.kept.load(Ordering::Relaxed) {
            filling.trees().taken.remove(&self.tree);
            return;
        }
        filling.trees().left_over.push(self.tree);
        // If it fails, the next commit does it.
        let _ = clean_up(&self.store);
    }
}
