//! Filling an empty tree in the file itself, before the transaction that does it commits.
//!
//! Blocks are written in several transactions of the file, so that a load needs little memory. Until
//! its own transaction commits, a record marks the tree: every snapshot hides the blocks of trees that
//! it finds marked, except the snapshots of the [`Fill`] itself. The commit removes the mark together
//! with what else it does. A fill that does not come so far removes its blocks when it is dropped, or,
//! after a crash, when the store is opened.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mayfly_types::Result;

use super::environment::{META, TreeId, record_key};
use super::file_writer::FileWriter;
use super::snapshot::Snapshot;
use super::store::Store;

/// About so many bytes of a fill are logged.
const LOGGED_BYTES: u64 = 2 << 20;

/// The records that mark trees begin so.
const MARK: &[u8] = b"\0filling";

/// The trees that are being filled by this process.
pub(super) type Filling = Mutex<HashSet<TreeId>>;

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
    if left.is_empty() {
        return Ok(());
    }
    store.committer.change(&store.environment, true, |writer| {
        for tree in &left {
            writer.clear(*tree)?;
            remove_mark(writer, *tree)?;
        }
        Ok(())
    })
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
        let is_first = trees(&store.filling).insert(tree);
        is_first.then(|| Self {
            store: Arc::clone(store),
            tree,
            begun: AtomicBool::new(false),
            logged: AtomicU64::new(0),
            needs_checkpoint: AtomicBool::new(false),
            kept: AtomicBool::new(false),
        })
    }

    /// Writes blocks, which `write` gives to [`tree::put_block`]; after `anew`, in place of all that
    /// was written before.
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

fn trees(filling: &Filling) -> std::sync::MutexGuard<'_, HashSet<TreeId>> {
    filling.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Fill {
    fn drop(&mut self) {
        let begun = self.begun.load(Ordering::Relaxed);
        if begun && !self.kept.load(Ordering::Relaxed) {
            let environment = &self.store.environment;
            let removed = self.store.committer.change(environment, true, |writer| {
                writer.clear(self.tree)?;
                remove_mark(writer, self.tree)
            });
            if removed.is_err() {
                // They stay hidden, and go when the store is opened again.
                return;
            }
        }
        trees(&self.store.filling).remove(&self.tree);
    }
}
