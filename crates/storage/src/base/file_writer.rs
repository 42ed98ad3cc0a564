//! One write transaction of the data file, whose changes go into the redo log too.

use std::ops::Bound;

use heed::RwTxn;
use mayfly_types::Result;

use super::environment::{DataFile, Environment, Records, TreeId, io_error, record_key};
use super::log::{Log, Redo};

/// The writer of the file.
pub(super) struct FileWriter<'f> {
    environment: &'f Environment,
    file: &'f DataFile,
    txn: RwTxn<'f>,
    log: Option<LogGroup<'f>>,
    /// Of the records that were put.
    bytes: u64,
}

/// A group of the log, which is cancelled unless it is accepted.
struct LogGroup<'f>(&'f mut Log);

impl Drop for LogGroup<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl<'f> FileWriter<'f> {
    /// Begins; there is one writer at a time.
    pub(super) fn begin(
        environment: &'f Environment,
        file: &'f DataFile,
        log: Option<&'f mut Log>,
    ) -> Result<Self> {
        let txn = file.env.write_txn();
        let txn = txn.map_err(|error| environment.error(&error))?;
        let log = log.map(|log| {
            log.begin();
            LogGroup(log)
        });
        Ok(Self {
            environment,
            file,
            txn,
            log,
            bytes: 0,
        })
    }

    /// How many bytes were put.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the file has, with the changes that were made here.
    pub(super) fn read(&self) -> (Records, &RwTxn<'f>) {
        (self.file.records, &self.txn)
    }

    /// What is written to.
    pub(super) fn environment(&self) -> &'f Environment {
        self.environment
    }

    fn done(&mut self, done: heed::Result<()>, change: Redo<'_>) -> Result<()> {
        done.map_err(|error| self.environment.error(&error))?;
        let Some(LogGroup(log)) = &mut self.log else {
            return Ok(());
        };
        let directory = self.environment.directory();
        log.add(change)
            .map_err(|error| io_error(&error, directory, "write"))
    }

    /// Gives a record a value.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.bytes += (key.len() + value.len()) as u64;
        let done = self.file.records.put(&mut self.txn, key, value);
        self.done(done, Redo::Put(key, value))
    }

    /// Removes a record, if it is there.
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<()> {
        let done = self.file.records.delete(&mut self.txn, key).map(|_| ());
        self.done(done, Redo::Remove(key))
    }

    /// Removes every record of a tree.
    pub(super) fn clear(&mut self, tree: TreeId) -> Result<()> {
        let low = record_key(tree, &[]);
        let high = record_key(tree.saturating_add(1), &[]);
        let done = self.clear_range(&low, &high);
        self.done(done, Redo::Clear(&low, &high))
    }

    fn clear_range(&mut self, low: &[u8], high: &[u8]) -> heed::Result<()> {
        let range = (Bound::Included(low), Bound::Excluded(high));
        let removed = self.file.records.delete_range(&mut self.txn, &range);
        removed.map(|_| ())
    }

    /// Makes a change of the log again.
    pub(super) fn redo(&mut self, change: Redo<'_>) -> Result<()> {
        let done = match change {
            Redo::Put(key, value) => self.file.records.put(&mut self.txn, key, value),
            Redo::Remove(key) => {
                let removed = self.file.records.delete(&mut self.txn, key);
                removed.map(|_| ())
            }
            Redo::Clear(low, high) => self.clear_range(low, high),
        };
        done.map_err(|error| self.environment.error(&error))
    }

    /// Makes the changes visible, and durable first if `syncs`.
    pub(super) fn commit(self, syncs: bool) -> Result<()> {
        let Self {
            environment,
            file,
            txn,
            mut log,
            ..
        } = self;
        if let Some(LogGroup(log)) = &mut log {
            let directory = environment.directory();
            log.finish(syncs)
                .map_err(|error| io_error(&error, directory, "write"))?;
        }
        txn.commit().map_err(|error| {
            environment.failed(file);
            environment.error(&error)
        })?;
        if let Some(group) = log {
            group.0.accept(syncs);
        }
        environment.committed();
        Ok(())
    }
}
