//! One write transaction of the data file, whose changes go into the redo log too.

use std::ops::Bound;
use std::sync::Arc;

use heed::RwTxn;
use mayfly_types::{PhysicalType, Result};

use super::environment::{DataFile, Environment, Records, TreeId, io_error, record_key};
use super::log::{Changes, Log, Redo};
use super::tree::{self, RowChange};

/// The writer of the file.
pub(super) struct FileWriter<'f> {
    environment: &'f Environment,
    file: &'f DataFile,
    txn: RwTxn<'f>,
    log: Option<LogGroup<'f>>,
    /// Of the records that were put.
    bytes: u64,
    /// Whose rows follow in the log that is made again.
    redo_tree: Option<(TreeId, Arc<[PhysicalType]>)>,
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
            redo_tree: None,
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

    fn done(&self, done: heed::Result<()>) -> Result<()> {
        done.map_err(|error| self.environment.error(&error))
    }

    fn log(&mut self, change: Redo<'_>) -> Result<()> {
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
        self.put_unlogged(key, value)?;
        self.log(Redo::Put(key, value))
    }

    /// Removes a record, if it is there.
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.remove_unlogged(key)?;
        self.log(Redo::Remove(key))
    }

    /// Removes every record of a tree.
    pub(super) fn clear(&mut self, tree: TreeId) -> Result<()> {
        let low = record_key(tree, &[]);
        let high = record_key(tree.saturating_add(1), &[]);
        self.clear_unlogged(&low, &high)?;
        self.log(Redo::Clear(&low, &high))
    }

    /// Changes rows of a tree, whose keys rise; by how many they became more.
    pub(super) fn change_rows(
        &mut self,
        tree: TreeId,
        types: &Arc<[PhysicalType]>,
        changes: &[RowChange<'_>],
    ) -> Result<i64> {
        if !changes.is_empty() && self.log.is_some() {
            self.log(Redo::Tree(tree, Arc::clone(types)))?;
            for (key, row) in changes {
                self.log(Redo::Row(key, *row))?;
            }
        }
        tree::apply(self, tree, types, changes)
    }

    /// Gives a record a value that follows from what is in the log.
    pub(super) fn put_unlogged(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let done = self.file.records.put(&mut self.txn, key, value);
        self.done(done)
    }

    /// Removes a record, which follows from what is in the log.
    pub(super) fn remove_unlogged(&mut self, key: &[u8]) -> Result<()> {
        let done = self.file.records.delete(&mut self.txn, key);
        self.done(done.map(|_| ()))
    }

    fn clear_unlogged(&mut self, low: &[u8], high: &[u8]) -> Result<()> {
        let range = (Bound::Included(low), Bound::Excluded(high));
        let done = self.file.records.delete_range(&mut self.txn, &range);
        self.done(done.map(|_| ()))
    }

    /// Makes changes of the log again.
    pub(super) fn redo(&mut self, changes: Changes<'_>) -> Result<()> {
        let mut rows = Vec::new();
        for change in changes {
            if let Redo::Row(key, row) = change {
                rows.push((key, row));
                continue;
            }
            self.redo_rows(&mut rows)?;
            match change {
                Redo::Put(key, value) => self.put_unlogged(key, value)?,
                Redo::Remove(key) => self.remove_unlogged(key)?,
                Redo::Clear(low, high) => self.clear_unlogged(low, high)?,
                Redo::Tree(tree, types) => self.redo_tree = Some((tree, types)),
                Redo::Row(..) => {}
            }
        }
        self.redo_rows(&mut rows)
    }

    fn redo_rows(&mut self, rows: &mut Vec<RowChange<'_>>) -> Result<()> {
        if let (Some((tree, types)), false) = (self.redo_tree.clone(), rows.is_empty()) {
            tree::apply(self, tree, &types, rows)?;
        }
        rows.clear();
        Ok(())
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
