//! Pipelined commit: changes are written to the redo log, synced, and then applied to the data file.
//!
//! While the changes of one group are applied, the next is already written to the log and synced. The
//! writer of the log locks the file before it unlocks the log, so that groups are applied in the order
//! of the log. A group is committed, and visible, when it is applied; its transactions wait for that. If
//! it cannot be applied, the log is truncated where it begins before any of them is acknowledged. A group that was
//! logged behind it in the meantime is logged again.
//!
//! While one thread holds both locks, the file equals what the log says ([`LogTruncationGuard`]): only then may the
//! log begin anew.

use std::sync::MutexGuard;

use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::base::data_file::{DataFile, io_error};
use crate::base::environment::Environment;
use crate::base::environment::file_writer::FileWriter;
use crate::base::log::Log;
use crate::base::record_key::TreeId;
use crate::base::redo::Redo;
use crate::base::tree_versions::TreeVersions;
use crate::tree_version::WatchedRanges;

/// A set of changes that are committed together.
pub(in crate::base) trait Changes {
    /// Calls `change` with the changes in order; every call gives equal changes.
    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()>;

    /// Whether the changes are few enough to be applied in the memtable.
    fn is_small(&self) -> bool {
        false
    }

    /// Whether the changes free space and add no row: they may use the reserve of a full disk.
    fn frees(&self) -> bool {
        let (mut removes, mut adds) = (false, false);
        let seen = self.each(&mut |change| {
            match change {
                Redo::Put(..) => {}
                Redo::Remove(_) | Redo::Clear(..) => removes = true,
                Redo::Count { more, .. } => adds |= more > 0,
                Redo::Rows(_, _, rows) => {
                    adds |= rows.iter().any(|(_, row)| row.is_some());
                    removes |= rows.iter().any(|(_, row)| row.is_none());
                }
            }
            Ok(())
        });
        seen.is_ok() && removes && !adds
    }

    /// The trees whose rows the changes change.
    fn trees(&self) -> Vec<TreeId> {
        Vec::new()
    }

    /// Counts the changes of a tree's rows in the ranges that somebody watches.
    fn note(&self, _tree: TreeId, ranges: &WatchedRanges) {
        ranges.note_all();
    }

    /// Whether the changes can be applied to a file that was reopened `replays` times: they may need what was in the
    /// file before and not in the log.
    fn can_follow(&self, _replays: u64) -> bool {
        true
    }
}

/// How much of a commit is in the log before it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::base) enum Logging {
    /// The changes are in the log, and synced.
    Synced,
    /// The changes are in the log, not synced.
    Unsynced,
    /// Nothing is logged: the commit is lost when the process ends before the next checkpoint.
    Nothing,
}

/// The state of the group that is being applied.
#[derive(Debug, Default)]
pub(in crate::base) struct Applying {
    /// Offset in the log of a group that could not be applied.
    unapplied: Option<u64>,
}

impl Applying {
    /// Truncates the log before an unapplied group; returns whether there was one.
    fn cut(&mut self, log: &mut Log) -> bool {
        let offset = self.unapplied.take();
        if let Some(offset) = offset {
            log.cut(offset);
        }
        offset.is_some()
    }
}

/// Exclusive access to log and file, while the log says nothing that the file does not: the log may begin anew.
pub(in crate::base) struct LogTruncationGuard<'e> {
    /// The locked log; `None` for an ephemeral file.
    pub(in crate::base) log: Option<MutexGuard<'e, Log>>,
    _applying: MutexGuard<'e, Applying>,
}

impl Environment {
    /// Waits until everything in the log is applied.
    pub(in crate::base) fn log_truncation_guard(&self) -> LogTruncationGuard<'_> {
        let mut log = self.log();
        let mut applying = self.applying();
        if let Some(log) = &mut log {
            applying.cut(log);
        }
        LogTruncationGuard {
            log,
            _applying: applying,
        }
    }

    /// Makes changes durable and visible. Calls `logged` as soon as other groups may write to the log.
    pub(in crate::base) fn write(
        &self,
        changes: &impl Changes,
        logging: Logging,
        logged: impl FnOnce(),
    ) -> Result<()> {
        let mut logged = Some(logged);
        let mut attempt = || {
            self.write_once(changes, logging, || {
                if let Some(logged) = logged.take() {
                    logged();
                }
            })
        };
        let is_full = |done: &Result<()>| {
            let error = done.as_ref().err();
            error.is_some_and(|error| error.is(&codes::ER_DISK_FULL))
        };
        let mut done = attempt();
        // After a checkpoint the bytes of the log and the pages freed before it can be reused.
        if is_full(&done) && self.checkpoint().is_ok() {
            done = attempt();
        }
        if is_full(&done) && changes.frees() {
            done = self.with_reserve(attempt);
            // A failed checkpoint is tried again later.
            let _ = self.checkpoint();
        }
        done
    }

    fn write_once(
        &self,
        changes: &impl Changes,
        logging: Logging,
        logged: impl FnOnce(),
    ) -> Result<()> {
        self.open_for_commit()?;
        let mut log = self.log();
        if !changes.can_follow(self.replays()) {
            return Err(codes::ER_ERROR_ON_WRITE.with(&[
                &self.directory().display(),
                &"an earlier write or sync has failed, and what was loaded before it is lost",
            ]));
        }
        let mut offset = self.append(log.as_deref_mut(), changes, logging)?;
        let mut applying = self.applying();
        if let Some(log) = log.as_deref_mut()
            && applying.cut(log)
        {
            offset = self.append(Some(log), changes, logging)?;
        }
        drop(log);
        logged();
        applying.unapplied = offset;
        let changed = self.tree_versions.begin(
            || changes.trees(),
            |tree, ranges| changes.note(tree, ranges),
        );
        let applied = self.apply(changes);
        TreeVersions::end(&changed, self.version());
        if applied.is_ok() {
            applying.unapplied = None;
        }
        drop(applying);
        if applied.is_err() {
            drop(self.log_truncation_guard());
        }
        applied
    }

    /// Writes a group to the log; returns its offset.
    fn append(
        &self,
        log: Option<&mut Log>,
        changes: &impl Changes,
        logging: Logging,
    ) -> Result<Option<u64>> {
        let Some(log) = log else {
            return Ok(None);
        };
        if logging == Logging::Nothing {
            log.pass_by();
            return Ok(None);
        }
        let failed = |error: std::io::Error| io_error(&error, self.directory(), "write");
        let offset = log.begin();
        let mut logged = changes.each(&mut |change| log.add(change).map_err(failed));
        if logged.is_ok() {
            logged = log.finish(logging == Logging::Synced).map_err(failed);
        }
        match logged {
            Ok(()) => Ok(Some(offset)),
            Err(error) => {
                log.cut(offset);
                Err(error)
            }
        }
    }

    fn apply(&self, changes: &impl Changes) -> Result<()> {
        // Success or failure, readers need a current state.
        let _readable = self.newest_of_file()?;
        let file = self.file()?;
        let is_small = changes.is_small() && !self.has_failed();
        if is_small && self.apply_in_memory(&file, changes)? {
            return Ok(());
        }
        self.flush(&file)?;
        let mut writer = FileWriter::begin(self, &file)?;
        changes.each(&mut |change| writer.redo(change))?;
        writer.commit()
    }

    /// Applies changes to the memtable alone; returns false if there was no memory for them.
    fn apply_in_memory(&self, file: &DataFile, changes: &impl Changes) -> Result<bool> {
        let mut writer = FileWriter::begin_in_memory(self, file)?;
        match changes.each(&mut |change| writer.redo(change)) {
            Ok(()) => writer.commit().map(|()| true),
            Err(_) if writer.is_out_of_memory() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
