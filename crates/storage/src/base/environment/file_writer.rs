//! Changes of records: commits and redo are applied by the same code, to the file or to memory
//! ([`crate::base::memtable`]).

use std::ops::Bound;

use heed::{RoTxn, RwTxn, WithoutTls};
use mayfly_types::Result;

use crate::base::block::{Block, Checked};
use crate::base::block_key::Found;
use crate::base::data_file::DataFile;
use crate::base::environment::Environment;
use crate::base::environment::tree;
use crate::base::memtable::{Memtable, MergedRecords};
use crate::base::record_key::{LAST_TREE, META, TreeId, count_of, record_key, row_count_name};
use crate::base::redo::Redo;
use crate::user_error;

/// Destination of changes.
enum Target<'f> {
    /// The file, by a write transaction.
    File(RwTxn<'f>),
    /// The memtable, above a read transaction.
    Memory(RoTxn<'static, WithoutTls>),
}

/// The writer of records; at most one exists at a time.
pub(in crate::base) struct FileWriter<'f> {
    environment: &'f Environment,
    file: &'f DataFile,
    target: Target<'f>,
    /// The memtable's version with the changes made here.
    memtable: Memtable,
    /// Whether there was no memory for a record.
    is_out_of_memory: bool,
}

impl<'f> FileWriter<'f> {
    /// Begins to change the file itself: [`Environment::flush`] has emptied the memtable before.
    pub(in crate::base) fn begin(environment: &'f Environment, file: &'f DataFile) -> Result<Self> {
        let txn = file.env.write_txn();
        let txn = txn.map_err(|error| environment.error(&error))?;
        let target = Target::File(txn);
        Ok(Self::new(environment, file, target, Memtable::default()))
    }

    /// Begins to change the memtable.
    pub(super) fn begin_in_memory(
        environment: &'f Environment,
        file: &'f DataFile,
    ) -> Result<Self> {
        let txn = file.read().map_err(|error| environment.error(&error))?;
        let target = Target::Memory(txn);
        Ok(Self::new(environment, file, target, environment.memtable()))
    }

    fn new(
        environment: &'f Environment,
        file: &'f DataFile,
        target: Target<'f>,
        memtable: Memtable,
    ) -> Self {
        Self {
            environment,
            file,
            target,
            memtable,
            is_out_of_memory: false,
        }
    }

    /// The records with the changes made here.
    pub(in crate::base) fn read(&self) -> MergedRecords<'_> {
        MergedRecords {
            records: self.file.records,
            txn: match &self.target {
                Target::File(txn) => txn,
                Target::Memory(txn) => txn,
            },
            memtable: &self.memtable,
        }
    }

    /// The found block, after a comparison of its checksum.
    pub(in crate::base) fn block<'b>(&self, found: Found<'b>) -> Checked<Block<'b>> {
        self.file.verified.block(found.block)
    }

    /// The environment that is written to.
    pub(in crate::base) fn environment(&self) -> &'f Environment {
        self.environment
    }

    /// Whether a change has failed for lack of memory.
    pub(super) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
    }

    fn done<T>(&self, done: heed::Result<T>) -> Result<T> {
        done.map_err(|error| self.environment.error(&error))
    }

    /// Applies a change.
    pub(in crate::base) fn redo(&mut self, change: Redo<'_>) -> Result<()> {
        match change {
            Redo::Put(key, value) if key[..] == record_key(META, LAST_TREE) => {
                // Transactions need not commit in the order in which they made trees.
                let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
                if self.record(key, number)? < Some(number(value)) {
                    self.put(key, value)
                } else {
                    Ok(())
                }
            }
            Redo::Put(key, value) => self.put(key, value),
            Redo::Remove(key) => self.remove(key),
            Redo::Clear(low, high) => self.clear(low, high),
            Redo::Count { tree, more, anew } => self.count_rows(tree, more, anew),
            Redo::Rows(tree, types, rows) => {
                let more = tree::apply(self, tree, types, rows)?;
                self.count_rows(tree, more, false)
            }
        }
    }

    fn record<T>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let found = self.read().get(key);
        Ok(self.done(found)?.map(read))
    }

    /// Sets the value of a record.
    pub(in crate::base) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.set(key, Some(value))
    }

    /// Removes a record, if it exists.
    pub(in crate::base) fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.set(key, None)
    }

    /// Sets the value of a record, or removes the record.
    pub(in crate::base) fn set(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let done = match (&mut self.target, value) {
            (Target::File(txn), Some(value)) => self.file.records.put(txn, key, value),
            (Target::File(txn), None) => self.file.records.delete(txn, key).map(|_| ()),
            (Target::Memory(_), value) => {
                let memory = &self.environment.memtable_memory;
                let set = self.memtable.set(key, value, memory);
                self.is_out_of_memory |= set.is_err();
                return set.map_err(|limit| user_error(&limit.into(), "the write buffer"));
            }
        };
        self.done(done)
    }

    /// Removes the records of a key range.
    fn clear(&mut self, low: &[u8], high: &[u8]) -> Result<()> {
        if let Target::File(txn) = &mut self.target {
            let range = (Bound::Included(low), Bound::Excluded(high));
            let done = self.file.records.delete_range(txn, &range);
            return self.done(done.map(|_| ()));
        }
        let mut start = low.to_vec();
        while let Some((key, _)) = self.done(self.read().from(&start))?
            && key < high
        {
            start = key.to_vec();
            self.remove(&start)?;
        }
        Ok(())
    }

    /// Adds to a tree's row count.
    fn count_rows(&mut self, tree: TreeId, more: i64, anew: bool) -> Result<()> {
        if more == 0 && !anew {
            return Ok(());
        }
        let key = record_key(META, &row_count_name(tree));
        let before = if anew {
            0
        } else {
            self.record(&key, count_of)?.unwrap_or(0)
        };
        let count = before.saturating_add_signed(more);
        self.put(&key, &count.to_le_bytes())
    }

    /// Commits: makes the changes visible.
    pub(in crate::base) fn commit(self) -> Result<()> {
        let environment = self.environment;
        self.finish()?;
        environment.committed();
        Ok(())
    }

    /// Commits changes that no reader can see.
    pub(in crate::base) fn finish(self) -> Result<()> {
        let (environment, file) = (self.environment, self.file);
        match self.target {
            Target::File(txn) => txn.commit().map_err(|error| {
                environment.failed(file);
                environment.error(&error)
            }),
            Target::Memory(_) => {
                environment.set_memtable(self.memtable);
                Ok(())
            }
        }
    }
}
