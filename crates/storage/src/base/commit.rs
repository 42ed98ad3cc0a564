//! Making transactions durable, several at a time (group commit).
//!
//! Who commits puts its changes into a queue and then waits to become the writer. The writer takes
//! all that is in the queue, in the order of keys, and commits it as one transaction of the file, with
//! one sync of the redo log ([`super::log`]). Whoever was in the queue finds its result there. Transactions of one group never change
//! the same key: they hold locks until they are done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use mayfly_types::Result;
use mayfly_types::error::codes;

use super::environment::{Environment, META, TreeId, record_key};
use super::file_writer::FileWriter;
use super::fill::{self, Filling};
use super::overlay::{Filled, Overlay, TreeChanges};
use super::tree::RowChange;

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
#[derive(Debug, Default)]
pub(super) struct Committer {
    queue: Mutex<Queue>,
    written: Condvar,
    durability: AtomicU8,
    pub(super) filling: Filling,
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
        let syncs = self.durability.load(Ordering::Relaxed) == 0;
        let write = |group: &[Arc<Waiting>]| write(environment, &self.filling, group, syncs);
        let result = write(&group);
        if result.is_err() && group.len() > 1 {
            // Who is to blame shall fail alone.
            for waiting in &group {
                let result = write(std::slice::from_ref(waiting));
                *lock(&waiting.result) = Some(result);
            }
        } else {
            for waiting in &group {
                *lock(&waiting.result) = Some(result.clone());
            }
        }
        drop(turn);
        // Without a result, whoever wrote it has panicked.
        let unknown = || codes::ER_UNKNOWN_ERROR.with(&[&"the commit was not finished"]);
        lock(&own.result).take().unwrap_or_else(|| Err(unknown()))
    }

    /// Changes the file at once, as one transaction of it. What is not logged is lost when the
    /// process ends before the next checkpoint.
    pub(super) fn change(
        &self,
        environment: &Environment,
        is_logged: bool,
        change: impl FnOnce(&mut FileWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let _turn = self.turn();
        let _readable = environment.newest()?;
        let file = environment.file()?;
        let mut log = environment.log();
        let group = log.as_deref_mut().filter(|_| is_logged);
        let mut writer = FileWriter::begin(environment, &file, group)?;
        change(&mut writer)?;
        writer.commit(false)?;
        if let (Some(log), false) = (&mut log, is_logged) {
            log.pass_by();
        }
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
}

/// Writes the changes of a group in one transaction of the file.
fn write(
    environment: &Environment,
    filling: &Filling,
    group: &[Arc<Waiting>],
    syncs: bool,
) -> Result<()> {
    let mut trees: BTreeMap<TreeId, Vec<&TreeChanges>> = BTreeMap::new();
    for waiting in group {
        for (tree, changes) in &waiting.overlay.trees {
            trees.entry(*tree).or_default().push(changes);
        }
    }
    let mut fills = trees.values().flat_map(|all| filled(all));
    if fills.any(|filled| filled.fill.needs_checkpoint()) {
        environment.checkpoint()?;
    } else if environment.is_checkpoint_late() {
        // One that fails is tried again.
        let _ = environment.checkpoint();
    }
    // Whatever comes of it, there is a state to read.
    let _readable = environment.newest()?;
    let file = environment.file()?;
    let mut log = environment.log();
    let mut writer = FileWriter::begin(environment, &file, log.as_deref_mut())?;
    let removed = filling.remove_left_over(&mut writer)?;
    for (id, all) in &trees {
        if *id == META {
            in_turns(all, |changes| write_records(&mut writer, changes))?;
            continue;
        }
        let cleared = all.iter().any(|tree| tree.cleared);
        if cleared {
            writer.clear(*id)?;
        }
        let mut rows = 0;
        for filled in filled(all) {
            fill::remove_mark(&mut writer, *id)?;
            rows += filled.rows as i64;
        }
        let types = &all[0].types;
        if all.iter().any(|tree| tree.dropped) {
            writer.remove(&record_key(META, &row_count_name(*id)))?;
            continue;
        }
        in_turns(all, |changes| {
            rows += writer.change_rows(*id, types, changes)?;
            Ok(())
        })?;
        count_rows(&mut writer, *id, rows, cleared)?;
    }
    writer.commit(syncs)?;
    filling.removed(&removed);
    trees
        .values()
        .flat_map(|all| filled(all))
        .for_each(|filled| filled.fill.keep());
    Ok(())
}

/// Gives the changes of several transactions, which are of different keys, to `apply`: in order as far
/// as they are in memory, and parts of those that are in temporary tables, each in order.
fn in_turns(
    all: &[&TreeChanges],
    mut apply: impl FnMut(&[RowChange<'_>]) -> Result<()>,
) -> Result<()> {
    let in_memory = || all.iter().filter(|tree| !tree.changes.has_table());
    let mut changes: Vec<RowChange<'_>> = Vec::new();
    for tree in in_memory() {
        let of_tree = tree.changes.in_memory();
        changes.extend(of_tree.map(|(key, change)| (key, change.as_deref())));
    }
    if in_memory().count() > 1 {
        changes.sort_by_key(|(key, _)| *key);
    }
    apply(&changes)?;
    for tree in all.iter().filter(|tree| tree.changes.has_table()) {
        tree.in_turns(|turn| {
            let changes: Vec<_> = turn
                .iter()
                .map(|(key, row)| (key.as_slice(), row.as_deref()))
                .collect();
            apply(&changes)?;
            turn.clear();
            Ok(())
        })?;
    }
    Ok(())
}

fn filled<'a>(all: &'a [&TreeChanges]) -> impl Iterator<Item = &'a Arc<Filled>> {
    all.iter().filter_map(|tree| tree.filled.as_ref())
}

fn write_records(writer: &mut FileWriter<'_>, changes: &[RowChange<'_>]) -> Result<()> {
    for (name, value) in changes {
        let key = record_key(META, name);
        if *name == LAST_TREE {
            // Transactions need not commit in the order in which they made trees.
            let (records, txn) = writer.read();
            let before = records.get(txn, &key);
            let before = before.map_err(|error| writer.environment().error(&error))?;
            let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
            if before.map(number) >= value.map(number) {
                continue;
            }
        }
        match value {
            Some(value) => writer.put(&key, value)?,
            None => writer.remove(&key)?,
        }
    }
    Ok(())
}

/// Counts a tree's rows.
pub(super) fn count_rows(
    writer: &mut FileWriter<'_>,
    tree: TreeId,
    more: i64,
    anew: bool,
) -> Result<()> {
    if more == 0 && !anew {
        return Ok(());
    }
    let key = record_key(META, &row_count_name(tree));
    let (records, txn) = writer.read();
    let before = records.get(txn, &key);
    let before = before.map_err(|error| writer.environment().error(&error))?;
    let before = before.filter(|_| !anew).map_or(0, count_of);
    let count = before.saturating_add_signed(more);
    writer.put(&key, &count.to_le_bytes())
}

/// The number in such a record.
pub(super) fn count_of(record: &[u8]) -> u64 {
    record.try_into().map_or(0, u64::from_le_bytes)
}
