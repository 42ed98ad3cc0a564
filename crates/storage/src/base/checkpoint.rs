//! Checkpoints: the data file is brought to disk as a whole and the redo log begins anew; and recovery of both when a
//! directory is opened.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_memory::sync::lock;
use mayfly_types::Result;

use super::data_file::{DATA_FILE, DataFile, io_error};
use super::environment::file_writer::FileWriter;
use super::environment::{DirectoryLock, Environment};
use super::format;
use super::log::{Log, Step};
use super::snapshot::Snapshot;

/// Size of the log, in bytes, that is due for a checkpoint: opening the directory has to read it.
const LONG_LOG: u64 = 32 << 20;
/// Growth of the file, in bytes, that is due for a checkpoint: until then the space of replaced blocks cannot be
/// reused.
const GROWN: u64 = 64 << 20;

/// Bytes of the log that recovery applies in one transaction of the file.
const REDONE_AT_ONCE: u64 = 4 << 20;

impl Environment {
    /// Applies the log to the file.
    pub(super) fn recover(&self) -> Result<()> {
        let Some(mut log) = self.log() else {
            return Ok(());
        };
        let file = self.file()?;
        let checkpoint = self.hold_checkpoint(&file)?;
        let is_noted = format::check(&checkpoint, self.directory())?;
        drop(checkpoint);
        self.replay(&file, &mut log)?;
        self.committed();
        if !is_noted {
            let mut writer = FileWriter::begin(self, &file)?;
            format::note(&mut writer)?;
            writer.commit()?;
            log.pass_by();
        }
        if log.wants_checkpoint() {
            self.write_checkpoint(&file, &mut log)?;
        }
        Ok(())
    }

    /// The state that a file has when it is opened is that of the last checkpoint.
    pub(super) fn hold_checkpoint(&self, file: &Arc<DataFile>) -> Result<Arc<Snapshot>> {
        let checkpoint = Arc::new(self.snapshot_of(file)?);
        self.set_checkpoint(file, Arc::clone(&checkpoint));
        Ok(checkpoint)
    }

    /// Applies the log to a file that is in the state of the last checkpoint.
    pub(super) fn replay(&self, file: &DataFile, log: &mut Log) -> Result<()> {
        let mut writer = None;
        let mut bytes = 0;
        let failed = |error: std::io::Error| io_error(&error, self.directory(), "read");
        log.replay(failed, |step| match step {
            Step::Change(change) => {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    None => writer.insert(FileWriter::begin(self, file)?),
                };
                writer.redo(change)
            }
            Step::Commit(more) => {
                bytes += more;
                if bytes < REDONE_AT_ONCE {
                    // States between two commits need not be visible.
                    return Ok(());
                }
                bytes = 0;
                writer.take().map_or(Ok(()), FileWriter::finish)
            }
        })?;
        writer.map_or(Ok(()), FileWriter::finish)
    }

    /// Brings commits that were not synced to disk.
    #[inline]
    pub(super) fn sync(&self) -> Result<()> {
        let Some(mut log) = self.log() else {
            return Ok(());
        };
        log.sync()
            .map_err(|error| io_error(&error, self.directory(), "write"))
    }

    /// Whether the log or the file has grown enough for a checkpoint.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        self.has_changed(1)
    }

    /// Whether the next writer should make the checkpoint itself, since those in the background do not keep up with
    /// the writers.
    pub(super) fn is_checkpoint_late(&self) -> bool {
        self.has_changed(4)
    }

    /// Whether the log or the file has grown by `times` the amount that is due for a checkpoint.
    fn has_changed(&self, times: u64) -> bool {
        let Some(log_bytes) = self.log().map(|log| log.bytes()) else {
            return false;
        };
        let before = self.checkpoint_bytes.load(Ordering::Relaxed);
        let has_grown = |file: Arc<DataFile>| file.bytes() > before + times * GROWN;
        log_bytes > times * LONG_LOG || self.file().is_ok_and(has_grown)
    }

    /// Makes a checkpoint: the file is on disk as a whole and the log begins anew.
    pub(super) fn checkpoint(&self) -> Result<()> {
        self.with_reserve(|| self.checkpoint_once())
    }

    fn checkpoint_once(&self) -> Result<()> {
        if !self.log().is_some_and(|log| log.wants_checkpoint()) {
            return Ok(());
        }
        self.open_for_commit()?;
        self.flush_once()?;
        let file = self.file()?;
        // Most of the sync runs while others write.
        self.sync_file(&file)?;
        drop(file);
        let mut guard = self.log_truncation_guard();
        if let Some(log) = &mut guard.log {
            let _readable = self.newest_of_file()?;
            self.write_checkpoint(&self.file()?, log)?;
        }
        drop(guard);
        self.forget_newest();
        Ok(())
    }

    /// [`Self::checkpoint`] for a caller that keeps other writers out.
    pub(super) fn write_checkpoint(&self, file: &Arc<DataFile>, log: &mut Log) -> Result<()> {
        let failed = |error: std::io::Error| io_error(&error, self.directory(), "write");
        self.flush(file)?;
        self.sync_file(file)?;
        let snapshot = Arc::new(self.snapshot_of(file)?);
        let mut pages = vec![0; file.state_bytes];
        let DirectoryLock::Data(directory) = &self.directory_lock else {
            return Ok(());
        };
        let data = directory.file(DATA_FILE).map_err(failed)?;
        data.read_at(&mut pages, 0).map_err(failed)?;
        let bytes = data.length().map_err(failed)?;
        log.restart(&pages, bytes).map_err(failed)?;
        self.set_checkpoint(file, snapshot);
        file.verified.forget();
        Ok(())
    }

    /// Writes the memtable to the file, if nothing was committed since the last call.
    pub(super) fn flush_if_idle(&self) -> Result<()> {
        let version = self.version();
        if self.seen.swap(version, Ordering::Relaxed) == version {
            self.flush_now()
        } else {
            Ok(())
        }
    }

    /// Writes the memtable to the file.
    pub(super) fn flush_now(&self) -> Result<()> {
        self.with_reserve(|| self.flush_once())
    }

    fn flush_once(&self) -> Result<()> {
        let applying = self.applying();
        // Success or failure, readers need a current state.
        let _readable = self.newest_of_file()?;
        self.flush(&*self.file()?)?;
        drop(applying);
        self.forget_newest();
        Ok(())
    }

    fn set_checkpoint(&self, file: &DataFile, snapshot: Arc<Snapshot>) {
        self.checkpoint_bytes.store(file.bytes(), Ordering::Relaxed);
        *lock(&self.checkpoint) = Some(snapshot);
    }
}
