//! The temporary tables that are alive, and what a statement's tables have done.
//!
//! One record a table, updated with relaxed atomics as the table lives, read by SHOW TEMPORARY
//! TABLES, EXPLAIN ANALYZE, the slow log and error messages. A record leaves the registry when its
//! table is dropped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mayfly_memory::Budget;
use mayfly_memory::sync::lock;

use super::reclaim::Holders;
use super::spec::Purpose;

/// Whose statement a table belongs to.
#[derive(Debug, Clone, Default)]
pub struct StatementOwner {
    /// The connection.
    pub session_id: u64,
    /// `user@host`
    pub user: Arc<str>,
    /// The statement's text, of which its digest is made when it is shown.
    pub statement: Arc<str>,
}

/// Counters of one statement, added to the session's and global status when it ends.
#[derive(Debug, Default)]
pub struct StatementCounters {
    /// `Created_tmp_tables`
    pub created_tmp_tables: AtomicU64,
    /// `Created_tmp_disk_tables`: once for each table that overflowed.
    pub created_tmp_disk_tables: AtomicU64,
    /// `Count_hit_tmp_table_size`: those of them that had as much memory as one table may have.
    pub hit_tmp_table_size: AtomicU64,
    /// `TempTable_count_hit_max_ram`: those of them that went to disk because all temporary tables together had as
    /// much memory as they may have.
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

/// How many of a statement's finished tables keep their record: a subquery may make thousands.
const FINISHED_RECORDS_MAX: usize = 64;

impl StatementCounters {
    pub(crate) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    /// The last records of the statement's first tables that are gone, in the order in which they
    /// went.
    pub fn finished_tables(&self) -> Vec<RegistryEntry> {
        lock(&self.finished).clone()
    }

    fn finish(&self, record: &TempTableRecord) {
        let mut finished = lock(&self.finished);
        if finished.len() < FINISHED_RECORDS_MAX {
            finished.push(record.snapshot());
        }
    }
}

/// The record of one table.
#[derive(Debug)]
pub(crate) struct TempTableRecord {
    id: u64,
    owner: StatementOwner,
    purpose: Purpose,
    cause: String,
    access: &'static str,
    created: Instant,
    pub(crate) rows: AtomicU64,
    pub(crate) partitions: AtomicU64,
    /// The table's nodes of memory and of temporary space.
    budgets: (Budget, Budget),
}

/// A table as it was when the registry was read.
#[derive(Debug, Clone)]
pub struct RegistryEntry {
    /// Distinct for the life of the process.
    pub id: u64,
    /// Whose it is.
    pub owner: StatementOwner,
    /// What it is for.
    pub purpose: Purpose,
    /// Why the statement needs it.
    pub cause: String,
    /// NONE, HASH or ORDERED.
    pub access: &'static str,
    /// Rows in it.
    pub rows: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// The most bytes in memory.
    pub memory_peak: u64,
    /// Bytes in temporary files.
    pub disk_bytes: u64,
    /// The most bytes in temporary files.
    pub disk_peak: u64,
    /// Partitions or sorted runs.
    pub partitions: u64,
    /// How long it lives.
    pub age: Duration,
}

impl TempTableRecord {
    /// What the record says now.
    pub(crate) fn snapshot(&self) -> RegistryEntry {
        let get = |value: &AtomicU64| value.load(Ordering::Relaxed);
        RegistryEntry {
            id: self.id,
            owner: self.owner.clone(),
            purpose: self.purpose,
            cause: self.cause.clone(),
            access: self.access,
            rows: get(&self.rows),
            memory_bytes: self.budgets.0.used(),
            memory_peak: self.budgets.0.peak(),
            disk_bytes: self.budgets.1.used(),
            disk_peak: self.budgets.1.peak(),
            partitions: get(&self.partitions),
            age: self.created.elapsed(),
        }
    }
}

#[derive(Debug, Default)]
struct Tables {
    next_id: u64,
    alive: BTreeMap<u64, Arc<TempTableRecord>>,
}

/// All temporary tables of a database that are alive. Cloning gives another handle.
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

    /// How many tables are alive.
    pub fn len(&self) -> usize {
        lock(&self.tables).alive.len()
    }

    /// Whether no table is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn register(
        &self,
        owner: StatementOwner,
        purpose: Purpose,
        cause: String,
        access: &'static str,
        counters: Option<Arc<StatementCounters>>,
        budgets: (Budget, Budget),
    ) -> Registration {
        let mut tables = lock(&self.tables);
        let id = tables.next_id;
        tables.next_id += 1;
        let record = Arc::new(TempTableRecord {
            id,
            owner,
            purpose,
            cause,
            access,
            created: Instant::now(),
            rows: AtomicU64::new(0),
            partitions: AtomicU64::new(1),
            budgets,
        });
        tables.alive.insert(id, Arc::clone(&record));
        Registration {
            registry: self.clone(),
            counters,
            record,
        }
    }
}

/// A table's entry in the registry, left when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    registry: Registry,
    counters: Option<Arc<StatementCounters>>,
    pub(crate) record: Arc<TempTableRecord>,
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
