//! Filling an empty tree in the file itself, before the transaction that does it commits.
//!
//! Blocks are written in several transactions of the file, so that a load needs little memory. Until
//! its own transaction commits, a record marks the tree: every snapshot hides the blocks of trees that
//! it finds marked, except the snapshots of the [`Fill`] itself. The commit removes the mark together
//! with what else it does. A fill that does not come so far removes its blocks when it is dropped, or,
//! after a crash, when the store is opened.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use heed::RwTxn;
use mayfly_types::Result;

use super::environment::{Environment, META, TreeId, record_key};
use super::snapshot::Snapshot;
use super::store::Store;
use super::tree;

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
pub(super) fn remove_mark(
    environment: &Environment,
    txn: &mut RwTxn<'_>,
    tree: TreeId,
) -> Result<()> {
    let key = record_key(META, &mark_of(tree));
    let removed = environment.records.delete(txn, &key);
    removed
        .map(|_| ())
        .map_err(|error| environment.error(&error))
}

/// Removes what fills left behind that ended with their process.
pub(super) fn remove_left_over(store: &Store) -> Result<()> {
    let left = marked(&*store.environment.newest()?)?;
    if left.is_empty() {
        return Ok(());
    }
    store.committer.change(&store.environment, |txn| {
        for tree in &left {
            tree::clear(&store.environment, txn, *tree)?;
            remove_mark(&store.environment, txn, *tree)?;
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
            kept: AtomicBool::new(false),
        })
    }

    /// Writes blocks, which `write` gives to [`tree::put_block`]; after `anew`, in place of all that
    /// was written before.
    pub(super) fn write(
        &self,
        anew: bool,
        write: impl FnOnce(&Environment, &mut RwTxn<'_>) -> Result<()>,
    ) -> Result<()> {
        let environment = &self.store.environment;
        self.store.committer.change(environment, |txn| {
            if !self.begun.load(Ordering::Relaxed) {
                let key = record_key(META, &mark_of(self.tree));
                let marked = environment.records.put(txn, &key, &[]);
                marked.map_err(|error| environment.error(&error))?;
            } else if anew {
                tree::clear(environment, txn, self.tree)?;
            }
            write(environment, txn)
        })?;
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// What is written until now.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>> {
        let environment = &self.store.environment;
        let snapshot = Snapshot::new(environment, environment.version())?;
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
            let removed = self.store.committer.change(environment, |txn| {
                tree::clear(environment, txn, self.tree)?;
                remove_mark(environment, txn, self.tree)
            });
            if removed.is_err() {
                // They stay hidden, and go when the store is opened again.
                return;
            }
        }
        trees(&self.store.filling).remove(&self.tree);
    }
}
