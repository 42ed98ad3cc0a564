//! One write transaction of the data file: it makes changes, those of a commit and those of the redo log
//! by the same code.

use std::ops::Bound;

use heed::RwTxn;
use mayfly_types::Result;

use super::commit::LAST_TREE;
use super::environment::{DataFile, Environment, META, Records, TreeId, record_key};
use super::redo::Redo;
use super::tree;

/// The writer of the file.
pub(super) struct FileWriter<'f> {
    environment: &'f Environment,
    file: &'f DataFile,
    txn: RwTxn<'f>,
}

impl<'f> FileWriter<'f> {
    /// Begins; there is one writer at a time.
    pub(super) fn begin(environment: &'f Environment, file: &'f DataFile) -> Result<Self> {
        let txn = file.env.write_txn();
        let txn = txn.map_err(|error| environment.error(&error))?;
        Ok(Self {
            environment,
            file,
            txn,
        })
    }

    /// What the file has, with the changes that were made here.
    pub(super) fn read(&self) -> (Records, &RwTxn<'f>) {
        (self.file.records, &self.txn)
    }

    /// What is written to.
    pub(super) fn environment(&self) -> &'f Environment {
        self.environment
    }

    fn done<T>(&self, done: heed::Result<T>) -> Result<T> {
        done.map_err(|error| self.environment.error(&error))
    }

    /// Makes a change.
    pub(super) fn redo(&mut self, change: Redo<'_>) -> Result<()> {
        match change {
            Redo::Put(key, value) if key[..] == record_key(META, LAST_TREE) => {
                // Transactions need not commit in the order in which they made trees.
                let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
                match self.record(key, number)? < Some(number(value)) {
                    true => self.put(key, value),
                    false => Ok(()),
                }
            }
            Redo::Put(key, value) => self.put(key, value),
            Redo::Remove(key) => self.remove(key),
            Redo::Clear(low, high) => {
                let range = (Bound::Included(low), Bound::Excluded(high));
                let done = self.file.records.delete_range(&mut self.txn, &range);
                self.done(done.map(|_| ()))
            }
            Redo::Count { tree, more, anew } => self.count_rows(tree, more, anew),
            Redo::Rows(tree, types, rows) => {
                let more = tree::apply(self, tree, types, rows)?;
                self.count_rows(tree, more, false)
            }
        }
    }

    fn record<T>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let found = self.file.records.get(&self.txn, key);
        Ok(self.done(found)?.map(read))
    }

    /// Gives a record a value.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let done = self.file.records.put(&mut self.txn, key, value);
        self.done(done)
    }

    /// Removes a record, if it is there.
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<()> {
        let done = self.file.records.delete(&mut self.txn, key);
        self.done(done.map(|_| ()))
    }

    /// Counts a tree's rows.
    fn count_rows(&mut self, tree: TreeId, more: i64, anew: bool) -> Result<()> {
        if more == 0 && !anew {
            return Ok(());
        }
        let key = record_key(META, &row_count_name(tree));
        let before = match anew {
            true => 0,
            false => self.record(&key, count_of)?.unwrap_or(0),
        };
        let count = before.saturating_add_signed(more);
        self.put(&key, &count.to_le_bytes())
    }

    /// Makes the changes visible.
    pub(super) fn commit(self) -> Result<()> {
        let Self {
            environment,
            file,
            txn,
        } = self;
        txn.commit().map_err(|error| {
            environment.failed(file);
            environment.error(&error)
        })?;
        environment.committed();
        Ok(())
    }
}

/// The name of the record with a tree's number of rows.
pub(super) fn row_count_name(tree: TreeId) -> Vec<u8> {
    let mut name = b"\0rows".to_vec();
    name.extend_from_slice(&tree.to_be_bytes());
    name
}

/// The number in such a record.
pub(super) fn count_of(record: &[u8]) -> u64 {
    record.try_into().map_or(0, u64::from_le_bytes)
}
