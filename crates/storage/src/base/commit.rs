//! Group commit: making transactions durable, several at a time (DeWitt et al., SIGMOD 1984).
//!
//! A commit puts its changes into a queue. The first in the queue takes everything in it as a group as soon as the
//! group before is in the redo log, and writes the group ([`super::environment::pipeline`]) with one sync of the log
//! and one transaction of the file. Transactions of one group never change the same key, nor do those of groups in
//! progress at the same time: they hold their locks until they are done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use mayfly_memory::sync::lock;
use mayfly_types::{Error, Result};

use super::bulk_load::{self, BulkLoads, Orphans};
use super::environment::Environment;
use super::environment::pipeline::{Changes, Logging};
use super::overlay::{BulkLoaded, Overlay, TreeChanges};
use super::record_key::{META, TreeId, record_key, row_count_name};
use super::redo::{Redo, RowChange};
use crate::key_encoding::ByteRange;
use crate::tree_version::WatchedRanges;

/// Time at which a commit is on disk (`innodb_flush_log_at_trx_commit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before the commit is acknowledged.
    EveryCommit,
    /// About a second after the commit.
    EverySecond,
}

/// A transaction in the queue.
#[derive(Debug)]
struct Waiting {
    overlay: Overlay,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
enum State {
    Queued,
    /// The transaction is the first in the queue and writes it.
    First,
    Done(Result<()>),
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Arc<Waiting>>,
    /// Whether a group is being written to the log; the queue then grows for the next group.
    is_logging: bool,
}

/// The commit queue.
#[derive(Debug, Default)]
pub(super) struct Committer {
    queue: Mutex<Queue>,
    durability: AtomicU8,
    pub(super) bulk_loads: Arc<BulkLoads>,
}

/// The right to write the queue; dropping it passes the right to the first transaction that has joined since.
struct Turn<'a>(&'a Committer);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        match queue.waiting.first() {
            Some(first) => first.set(State::First),
            None => queue.is_logging = false,
        }
    }
}

impl Waiting {
    fn set(&self, state: State) {
        *lock(&self.state) = state;
        self.changed.notify_one();
    }

    fn is_done(&self) -> bool {
        matches!(*lock(&self.state), State::Done(_))
    }

    /// Waits for the transaction's result; `None` when it is to write the queue itself.
    fn wait(&self) -> Option<Result<()>> {
        let mut state = lock(&self.state);
        loop {
            match &*state {
                State::Queued => {}
                State::First => return None,
                State::Done(result) => return Some(result.clone()),
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Size of changes, in bytes, above which they go directly to the file: they would fill the memtable.
const SMALL_BYTES: usize = 64 << 10;

impl Committer {
    pub(super) fn set_durability(&self, durability: Durability) {
        let number = u8::from(durability == Durability::EverySecond);
        self.durability.store(number, Ordering::Relaxed);
    }

    /// Commits a transaction: makes its changes visible and durable.
    pub(super) fn commit(&self, environment: &Environment, overlay: Overlay) -> Result<()> {
        let own = Arc::new(Waiting {
            overlay,
            state: Mutex::new(State::Queued),
            changed: Condvar::new(),
        });
        let mut queue = lock(&self.queue);
        queue.waiting.push(Arc::clone(&own));
        let is_first = !std::mem::replace(&mut queue.is_logging, true);
        drop(queue);
        if !is_first && let Some(result) = own.wait() {
            return result;
        }
        let turn = Turn(self);
        let group = Acknowledged(std::mem::take(&mut lock(&self.queue).waiting));
        let group = &group.0;
        let result = self.write(environment, group, move || drop(turn));
        for waiting in group {
            // Only the transaction that causes the error shall fail.
            let result = if group.len() > 1 && result.is_err() {
                self.write(environment, std::slice::from_ref(waiting), || {})
            } else {
                result.clone()
            };
            waiting.set(State::Done(result));
        }
        own.wait().unwrap_or_else(|| Err(unfinished()))
    }

    /// Writes the changes of a group; calls `logged` when the next group may follow.
    fn write(
        &self,
        environment: &Environment,
        group: &[Arc<Waiting>],
        logged: impl FnOnce(),
    ) -> Result<()> {
        let logging = match self.durability.load(Ordering::Relaxed) {
            0 => Logging::Synced,
            _ => Logging::Unsynced,
        };
        let group = Group::new(group, self.bulk_loads.orphans());
        if group
            .bulk_loaded()
            .any(|bulk_loaded| bulk_loaded.load.needs_checkpoint())
        {
            environment.checkpoint()?;
        } else if environment.is_checkpoint_late() {
            // A failed checkpoint is tried again later.
            let _ = environment.checkpoint();
        }
        environment.write(&group, logging, logged)?;
        group
            .bulk_loaded()
            .for_each(|bulk_loaded| bulk_loaded.load.note_committed());
        group.orphans.removed();
        Ok(())
    }
}

/// A group whose transactions get an answer in any case, even after a panic.
struct Acknowledged(Vec<Arc<Waiting>>);

impl Drop for Acknowledged {
    fn drop(&mut self) {
        for waiting in &self.0 {
            if !waiting.is_done() {
                waiting.set(State::Done(Err(unfinished())));
            }
        }
    }
}

/// Error for transactions whose writing thread has panicked.
fn unfinished() -> Error {
    Error::internal("the commit was not finished")
}

/// The changes of several transactions.
struct Group<'g> {
    orphans: Orphans<'g>,
    trees: BTreeMap<TreeId, Vec<&'g TreeChanges>>,
    /// Changes in memory of each tree, in key order.
    in_memory: BTreeMap<TreeId, Vec<RowChange<'g>>>,
}

impl<'g> Group<'g> {
    fn new(group: &'g [Arc<Waiting>], orphans: Orphans<'g>) -> Self {
        let mut trees: BTreeMap<TreeId, Vec<&TreeChanges>> = BTreeMap::new();
        for waiting in group {
            for (tree, changes) in &waiting.overlay.trees {
                trees.entry(*tree).or_default().push(changes);
            }
        }
        let in_memory = |(tree, all): (&TreeId, &Vec<&'g TreeChanges>)| {
            let all = all.iter().filter(|tree| !tree.changes.has_table());
            let all: Vec<_> = all.map(|tree| &tree.changes).collect();
            let mut changes: Vec<RowChange<'_>> = Vec::new();
            for of_tree in &all {
                let of_tree = of_tree.in_memory();
                changes.extend(of_tree.map(|(key, change)| (key, change.as_deref())));
            }
            if all.len() > 1 {
                changes.sort_by_key(|(key, _)| *key);
            }
            (*tree, changes)
        };
        Self {
            orphans,
            in_memory: trees.iter().map(in_memory).collect(),
            trees,
        }
    }

    fn bulk_loaded(&self) -> impl Iterator<Item = &'g Arc<BulkLoaded>> {
        self.trees.values().flat_map(|all| bulk_loaded(all))
    }
}

fn bulk_loaded<'a>(all: &[&'a TreeChanges]) -> impl Iterator<Item = &'a Arc<BulkLoaded>> {
    all.iter().filter_map(|tree| tree.bulk_loaded.as_ref())
}

impl Changes for Group<'_> {
    fn can_follow(&self, replays: u64) -> bool {
        self.bulk_loaded()
            .all(|bulk_loaded| bulk_loaded.load.can_follow(replays))
    }

    fn trees(&self) -> Vec<TreeId> {
        self.trees.keys().copied().collect()
    }

    fn note(&self, tree: TreeId, ranges: &WatchedRanges) {
        let of_tree = self.trees.get(&tree).map_or(&[][..], Vec::as_slice);
        let is_of_rows = |changes: &&&TreeChanges| {
            !changes.cleared && !changes.dropped && changes.bulk_loaded.is_none()
        };
        if !of_tree.iter().all(|changes| is_of_rows(&changes)) {
            return ranges.note_all();
        }
        for (key, _) in self.in_memory.get(&tree).into_iter().flatten() {
            ranges.note(key);
        }
        for changes in of_tree.iter().filter(|changes| changes.changes.has_table()) {
            let noted = changes.each(&ByteRange::ALL, |key, _| {
                ranges.note(key);
                Ok(true)
            });
            if noted.is_err() {
                ranges.note_all();
            }
        }
    }

    fn is_small(&self) -> bool {
        let is_rows = |tree: &TreeChanges| {
            !tree.cleared
                && !tree.dropped
                && tree.bulk_loaded.is_none()
                && !tree.changes.has_table()
        };
        let bytes = |(key, row): &RowChange<'_>| key.len() + row.map_or(0, <[u8]>::len);
        self.orphans.is_empty()
            && self.trees.values().flatten().all(|tree| is_rows(tree))
            && self.in_memory.values().flatten().map(bytes).sum::<usize>() <= SMALL_BYTES
    }

    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()> {
        self.orphans.each(change)?;
        for (tree, all) in &self.trees {
            let cleared = all.iter().any(|tree| tree.cleared);
            if cleared {
                bulk_load::clear(*tree, change)?;
            }
            let mut more = 0;
            for bulk_loaded in bulk_loaded(all) {
                bulk_load::remove_loading(*tree, change)?;
                more += bulk_loaded.rows as i64;
            }
            if all.iter().any(|tree| tree.dropped) {
                change(Redo::Remove(&record_key(META, &row_count_name(*tree))))?;
                continue;
            }
            if cleared || more > 0 {
                change(Redo::Count {
                    tree: *tree,
                    more,
                    anew: cleared,
                })?;
            }
            let types = &all[0].types;
            let mut rows = |rows: &[RowChange<'_>]| match *tree {
                _ if rows.is_empty() => Ok(()),
                META => rows.iter().try_for_each(|(name, value)| {
                    let key = record_key(META, name);
                    let value = value.map(|value| Redo::Put(&key, value));
                    change(value.unwrap_or(Redo::Remove(&key)))
                }),
                tree => change(Redo::Rows(tree, types, rows)),
            };
            rows(&self.in_memory[tree])?;
            for tree in all.iter().filter(|tree| tree.changes.has_table()) {
                tree.in_turns(|turn| {
                    let changes = turn.iter();
                    let changes = changes.map(|(key, row)| (key.as_slice(), row.as_deref()));
                    rows(&changes.collect::<Vec<_>>())?;
                    turn.clear();
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}
