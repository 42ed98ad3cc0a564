//! Making transactions durable, several at a time (group commit).
//!
//! Who commits puts its changes into a queue and then waits to become the writer. The writer takes
//! all that is in the queue, in the order of keys, and commits it as one transaction of the file, with
//! one sync. Whoever was in the queue finds its result there. Transactions of one group never change
//! the same key: they hold locks until they are done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use heed::{EnvFlags, FlagSetMode, RwTxn};
use mayfly_types::Result;

use super::environment::{Environment, META, TreeId, record_key};
use super::overlay::{Change, Filled, Overlay, TreeChanges};
use super::{fill, tree};

/// When a commit is on disk (`innodb_flush_log_at_trx_commit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before it is acknowledged.
    EveryCommit,
    /// About a second later.
    EverySecond,
}

/// One transaction of the queue.
#[derive(Debug)]
struct Waiting {
    overlay: Overlay,
    result: Mutex<Option<Result<()>>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Arc<Waiting>>,
    /// Somebody writes. Who comes next finds a longer queue.
    is_writing: bool,
}

/// The queue and the right to write.
#[derive(Debug)]
pub(super) struct Committer {
    queue: Mutex<Queue>,
    written: Condvar,
    /// Whether the file is set to sync; changed by who writes.
    syncs: AtomicBool,
    durability: AtomicU8,
    /// Something was committed and not synced.
    dirty: AtomicBool,
    /// Nothing is ever synced.
    ephemeral: bool,
}

/// The right to write, until it is dropped.
struct Turn<'a>(&'a Committer);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).is_writing = false;
        self.0.written.notify_all();
    }
}

/// The record with the largest number that a tree ever had.
pub(super) const LAST_TREE: &[u8] = b"\0last tree";

/// The name of the record with a tree's number of rows.
pub(super) fn row_count_name(tree: TreeId) -> Vec<u8> {
    let mut name = b"\0rows".to_vec();
    name.extend_from_slice(&tree.to_be_bytes());
    name
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Committer {
    pub(super) fn new(ephemeral: bool) -> Self {
        Self {
            queue: Mutex::default(),
            written: Condvar::new(),
            syncs: AtomicBool::new(!ephemeral),
            durability: AtomicU8::new(0),
            dirty: AtomicBool::new(false),
            ephemeral,
        }
    }

    pub(super) fn set_durability(&self, durability: Durability) {
        let number = u8::from(durability == Durability::EverySecond);
        self.durability.store(number, Ordering::Relaxed);
    }

    /// Makes changes visible and durable.
    pub(super) fn commit(&self, environment: &Environment, overlay: Overlay) -> Result<()> {
        let own = Arc::new(Waiting {
            overlay,
            result: Mutex::new(None),
        });
        let mut queue = lock(&self.queue);
        queue.waiting.push(Arc::clone(&own));
        let (group, turn) = loop {
            if let Some(result) = lock(&own.result).take() {
                return result;
            }
            if !queue.is_writing {
                queue.is_writing = true;
                break (std::mem::take(&mut queue.waiting), Turn(self));
            }
            let woken = self.written.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        };
        drop(queue);
        let result = self
            .set_sync(environment)
            .and_then(|()| write(environment, &group));
        if result.is_err() && group.len() > 1 {
            // Who is to blame shall fail alone.
            for waiting in &group {
                let result = write(environment, std::slice::from_ref(waiting));
                *lock(&waiting.result) = Some(result);
            }
        } else {
            for waiting in &group {
                *lock(&waiting.result) = Some(result.clone());
            }
        }
        self.note_unsynced();
        drop(turn);
        lock(&own.result).take().unwrap_or(Ok(()))
    }

    /// Changes the file at once, as one transaction of it.
    pub(super) fn change(
        &self,
        environment: &Environment,
        change: impl FnOnce(&mut RwTxn<'_>) -> Result<()>,
    ) -> Result<()> {
        let turn = self.turn();
        self.set_sync(environment)?;
        let mut txn = environment.write()?;
        change(&mut txn)?;
        txn.commit().map_err(|error| environment.error(&error))?;
        environment.committed();
        self.note_unsynced();
        drop(turn);
        Ok(())
    }

    /// Waits for the right to write.
    fn turn(&self) -> Turn<'_> {
        let mut queue = lock(&self.queue);
        while queue.is_writing {
            let woken = self.written.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        }
        queue.is_writing = true;
        Turn(self)
    }

    fn note_unsynced(&self) {
        if !self.syncs.load(Ordering::Relaxed) {
            self.dirty.store(true, Ordering::Release);
        }
    }

    /// Sets whether the file syncs with each commit.
    #[expect(unsafe_code, reason = "changing when the file is synced")]
    fn set_sync(&self, environment: &Environment) -> Result<()> {
        let wanted = !self.ephemeral && self.durability.load(Ordering::Relaxed) == 0;
        if wanted == self.syncs.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mode = if wanted {
            FlagSetMode::Disable
        } else {
            FlagSetMode::Enable
        };
        // SAFETY: no transaction writes now, since the right to write is held here.
        let set = unsafe { environment.env.set_flags(EnvFlags::NO_SYNC, mode) };
        set.map_err(|error| environment.error(&error))?;
        self.syncs.store(wanted, Ordering::Relaxed);
        if wanted {
            self.sync(environment)?;
        }
        Ok(())
    }

    /// Brings to disk what was committed without.
    pub(super) fn sync(&self, environment: &Environment) -> Result<()> {
        if self.ephemeral || !self.dirty.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let synced = environment.env.force_sync();
        synced.map_err(|error| {
            self.dirty.store(true, Ordering::Release);
            environment.error(&error)
        })
    }
}

/// Writes the changes of a group in one transaction of the file.
fn write(environment: &Environment, group: &[Arc<Waiting>]) -> Result<()> {
    let mut txn = environment.write()?;
    let mut trees: BTreeMap<TreeId, Vec<&TreeChanges>> = BTreeMap::new();
    for waiting in group {
        for (tree, changes) in &waiting.overlay.trees {
            trees.entry(*tree).or_default().push(changes);
        }
    }
    for (id, all) in &trees {
        let mut changes: Vec<(&[u8], &Change)> = Vec::new();
        for tree in all {
            changes.extend(
                tree.changes
                    .iter()
                    .map(|(key, change)| (key.as_slice(), change)),
            );
        }
        if all.len() > 1 {
            changes.sort_by_key(|(key, _)| *key);
        }
        if *id == META {
            write_records(environment, &mut txn, &changes)?;
            continue;
        }
        let cleared = all.iter().any(|tree| tree.cleared);
        if cleared {
            tree::clear(environment, &mut txn, *id)?;
        }
        let mut rows = 0;
        for filled in filled(all) {
            fill::remove_mark(environment, &mut txn, *id)?;
            rows += filled.rows as i64;
        }
        let types = &all[0].types;
        rows += tree::apply(environment, &mut txn, *id, types, &changes)?;
        count_rows(environment, &mut txn, *id, rows, cleared)?;
    }
    txn.commit().map_err(|error| environment.error(&error))?;
    trees
        .values()
        .flat_map(|all| filled(all))
        .for_each(|filled| filled.fill.keep());
    environment.committed();
    Ok(())
}

fn filled<'a>(all: &'a [&TreeChanges]) -> impl Iterator<Item = &'a Arc<Filled>> {
    all.iter().filter_map(|tree| tree.filled.as_ref())
}

fn write_records(
    environment: &Environment,
    txn: &mut RwTxn<'_>,
    changes: &[(&[u8], &Change)],
) -> Result<()> {
    for (name, value) in changes {
        let key = record_key(META, name);
        if *name == LAST_TREE {
            // Transactions need not commit in the order in which they made trees.
            let before = environment.records.get(txn, &key);
            let before = before.map_err(|error| environment.error(&error))?;
            let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
            if before.map(number) >= value.as_deref().map(number) {
                continue;
            }
        }
        let done = match value {
            Some(value) => environment.records.put(txn, &key, value),
            None => environment.records.delete(txn, &key).map(|_| ()),
        };
        done.map_err(|error| environment.error(&error))?;
    }
    Ok(())
}

/// Counts a tree's rows.
pub(super) fn count_rows(
    environment: &Environment,
    txn: &mut RwTxn<'_>,
    tree: TreeId,
    more: i64,
    anew: bool,
) -> Result<()> {
    if more == 0 && !anew {
        return Ok(());
    }
    let failed = |error: heed::Error| environment.error(&error);
    let key = record_key(META, &row_count_name(tree));
    let before = environment.records.get(txn, &key).map_err(failed)?;
    let before = before.filter(|_| !anew).map_or(0, count_of);
    let count = before.saturating_add_signed(more);
    let put = environment.records.put(txn, &key, &count.to_le_bytes());
    put.map_err(failed)
}

/// The number in such a record.
pub(super) fn count_of(record: &[u8]) -> u64 {
    record.try_into().map_or(0, u64::from_le_bytes)
}
