//! How changes get into the data file: they are written to the redo log, on disk, and then applied.
//!
//! While the changes of one group are applied, the next is already written to the log and synced. The
//! writer of the log locks the file before it unlocks the log, so that groups are applied in the order
//! of the log. A group is committed, and visible, when it is applied; its transactions wait for that. If
//! it cannot be applied, the log is truncated where it begins before any of them is acknowledged. A
//! group that was logged behind it meanwhile is logged again.
//!
//! While one thread holds both locks, the file is what the log says ([`LogTruncationGuard`]): only then may
//! the log begin anew.

use std::sync::MutexGuard;

use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::base::data_file::{DataFile, io_error};
use crate::base::environment::Environment;
use crate::base::environment::file_writer::FileWriter;
use crate::base::log::Log;
use crate::base::redo::Redo;

/// Changes that are committed together.
pub(in crate::base) trait Changes {
    /// Gives them in order. They are the same each time.
    fn each(&self, change: &mut dyn FnMut(Redo<'_>) -> Result<()>) -> Result<()>;

    /// Whether they are so few that they are better applied in memory.
    fn is_small(&self) -> bool {
        false
    }

    /// Whether they give space back and add no row: they may use what is kept for a full disk.
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

    /// Whether they can be applied in a file that was opened again so many times: they may need what was
    /// in it before and not in the log.
    fn can_follow(&self, _replays: u64) -> bool {
        true
    }
}

/// What of a commit is in the log before it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::base) enum Logging {
    /// Its changes, on disk.
    Synced,
    /// Its changes.
    Unsynced,
    /// Nothing: it is lost when the process ends before the next checkpoint.
    Nothing,
}

/// The state of the group that is being applied.
#[derive(Debug, Default)]
pub(in crate::base) struct Applying {
    /// Where a group begins in the log that is not applied.
    unapplied: Option<u64>,
}

impl Applying {
    /// Truncates the log before a group that is not applied; whether there was one.
    fn cut(&mut self, log: &mut Log) -> bool {
        let offset = self.unapplied.take();
        if let Some(offset) = offset {
            log.cut(offset);
        }
        offset.is_some()
    }
}

/// The right to begin the log anew: it says nothing that the file does not.
pub(in crate::base) struct LogTruncationGuard<'e> {
    /// None of an ephemeral file.
    pub(in crate::base) log: Option<MutexGuard<'e, Log>>,
    _applying: MutexGuard<'e, Applying>,
}

impl Environment {
    /// Waits until all that is in the log is applied.
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

    /// Makes changes durable and visible. `logged` is called as soon as others may write to the log.
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
        // From a checkpoint on, the bytes of the log and the pages that were freed before it can be used again.
        if is_full(&done) && self.checkpoint().is_ok() {
            done = attempt();
        }
        if is_full(&done) && changes.frees() {
            done = self.with_reserve(attempt);
            // One that fails is tried again.
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
        let applied = self.apply(changes);
        if applied.is_ok() {
            applying.unapplied = None;
        }
        drop(applying);
        if applied.is_err() {
            drop(self.log_truncation_guard());
        }
        applied
    }

    /// Writes a group to the log; where it begins.
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
        // Whatever comes of it, there is a state to read.
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

    /// Leaves the file alone; whether there was memory for that.
    fn apply_in_memory(&self, file: &DataFile, changes: &impl Changes) -> Result<bool> {
        let mut writer = FileWriter::begin_in_memory(self, file)?;
        match changes.each(&mut |change| writer.redo(change)) {
            Ok(()) => writer.commit().map(|()| true),
            Err(_) if writer.is_out_of_memory() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
