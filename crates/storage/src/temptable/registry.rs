//! Registry of living temporary tables, and counters of a statement's tables.
//!
//! A table's [record](super::record) is in the registry from its creation until it is dropped, and then among the
//! finished ones of its statement.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_memory::Budget;
use mayfly_memory::sync::lock;

use super::reclaim::{Holders, Reclaim};
use super::record::{RegistryEntry, TableFacts, TempTableRecord};

/// Counters of one statement, added to the session's and global status when it ends.
#[derive(Debug, Default)]
pub struct StatementCounters {
    /// `Created_tmp_tables`
    pub created_tmp_tables: AtomicU64,
    /// `Created_tmp_disk_tables`: counts each table that has overflowed.
    pub created_tmp_disk_tables: AtomicU64,
    /// `Count_hit_tmp_table_size`: of these, tables that had reached the limit of one table.
    pub hit_tmp_table_size: AtomicU64,
    /// `TempTable_count_hit_max_ram`: of these, tables that went to disk because all temporary tables together had
    /// reached their limit.
    pub hit_max_ram: AtomicU64,
    /// `Sort_merge_passes`
    pub sort_merge_passes: AtomicU64,
    /// Rows appended to temporary tables (`Handler_tmp_write`).
    pub rows_written: AtomicU64,
    /// Rows read from temporary tables.
    pub rows_read: AtomicU64,
    /// Bytes written to temporary files.
    pub bytes_overflowed: AtomicU64,
    finished: Mutex<Vec<RegistryEntry>>,
}

impl StatementCounters {
    pub(crate) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    /// The final records of the statement's finished tables, one for each operator, in the order in which its first
    /// table finished.
    pub fn finished_tables(&self) -> Vec<RegistryEntry> {
        lock(&self.finished).clone()
    }

    fn finish(&self, record: &TempTableRecord) {
        record.snapshot().add_to(&mut lock(&self.finished));
    }
}

#[derive(Debug, Default)]
struct Tables {
    next_id: u64,
    alive: BTreeMap<u64, Arc<TempTableRecord>>,
}

/// Registry of a database's living temporary tables. Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tables: Arc<Mutex<Tables>>,
    /// The holders that may be asked for memory.
    pub(crate) holders: Holders,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every living table, oldest first.
    pub fn entries(&self) -> Vec<RegistryEntry> {
        let tables = lock(&self.tables);
        tables
            .alive
            .values()
            .map(|record| record.snapshot())
            .collect()
    }

    /// A living table, by its number.
    pub fn entry(&self, id: u64) -> Option<RegistryEntry> {
        let tables = lock(&self.tables);
        tables.alive.get(&id).map(|record| record.snapshot())
    }

    /// Ends a table, and with it the statement that created it for itself; false when there is no table of this
    /// number, or it cannot be ended alone.
    pub fn kill(&self, id: u64) -> bool {
        let record = lock(&self.tables).alive.get(&id).cloned();
        record.is_some_and(|record| record.kill())
    }

    /// Adds a holder of memory that may be asked for it, for as long as it lives.
    pub fn add_holder(&self, holder: std::sync::Weak<dyn Reclaim>) {
        self.holders.add(holder);
    }

    /// Number of living tables.
    pub fn len(&self) -> usize {
        lock(&self.tables).alive.len()
    }

    /// Whether there are no living tables.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Registers a table with these budgets of memory and of temporary space. When it is dropped, its record is added
    /// to the statement of `counters`.
    pub(crate) fn register(
        &self,
        facts: TableFacts,
        counters: Option<Arc<StatementCounters>>,
        memory: Budget,
        temp_space: Budget,
    ) -> Arc<Registration> {
        let mut tables = lock(&self.tables);
        let id = tables.next_id;
        tables.next_id += 1;
        let record = Arc::new(TempTableRecord::new(id, facts, memory, temp_space));
        tables.alive.insert(id, Arc::clone(&record));
        Arc::new(Registration {
            registry: self.clone(),
            counters,
            record,
        })
    }
}

/// Entry of a table in the registry, removed when this is dropped. Every holder of a part of the table's rows shares
/// it.
#[derive(Debug)]
pub(crate) struct Registration {
    registry: Registry,
    counters: Option<Arc<StatementCounters>>,
    record: Arc<TempTableRecord>,
}

impl std::ops::Deref for Registration {
    type Target = TempTableRecord;

    fn deref(&self) -> &TempTableRecord {
        &self.record
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut tables = lock(&self.registry.tables);
        tables.alive.remove(&self.record.id);
        drop(tables);
        if let Some(counters) = &self.counters {
            counters.finish(&self.record);
        }
    }
}
