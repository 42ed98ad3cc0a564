//! The record of a temporary table: purpose and counters.
//!
//! A table's threads update its record with relaxed atomics, once per batch or block. Everything that shows temporary
//! tables reads this record: the list of living tables, EXPLAIN ANALYZE, the status variables, the slow log,
//! performance_schema and error messages.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use mayfly_memory::Budget;
use mayfly_memory::sync::lock;
use mayfly_types::Interrupt;

use super::spec::{OperatorNumber, Purpose};

/// Memory limit of a table that overflows at once; see
/// [`TempTableOptions::force_overflow`](super::TempTableOptions::force_overflow) and
/// [`TempTableOptions::spill_after_rows`](super::TempTableOptions::spill_after_rows).
pub(crate) const FORCED_OVERFLOW_LIMIT: u64 = 64 << 10;

/// Owner of a table: session and statement.
#[derive(Debug, Clone, Default)]
pub struct StatementOwner {
    /// Connection id.
    pub session_id: u64,
    /// `user@host`
    pub user: Arc<str>,
    /// The statement's text; its digest is computed when it is shown.
    pub statement: Arc<str>,
}

/// Resource that can be ended from outside.
pub(crate) trait Killable: std::fmt::Debug + Send + Sync {
    /// Releases the resource; its users get an error from now on.
    fn kill(&self);
}

/// Numbers of an exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExchangeFigures {
    /// Rows sent.
    pub rows: u64,
    /// Bytes of these rows.
    pub bytes: u64,
    /// Bytes that the operators that make the rows wrote to temporary files.
    pub spilled: u64,
    /// Number of processes that send.
    pub executors: u64,
}

/// Way to end a table from outside.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With the statement that created the table.
    Statement(Interrupt),
    /// Without its statement.
    Alone(Weak<dyn Killable>),
    /// Not at all: others need it.
    Never,
}

/// Properties that do not change in a table's life.
#[derive(Debug)]
pub(crate) struct TableFacts {
    pub(crate) owner: StatementOwner,
    pub(crate) purpose: Purpose,
    pub(crate) cause: Arc<str>,
    /// The plan operator that created the table.
    pub(crate) operator: Option<OperatorNumber>,
    /// Access structure: NONE, HASH or ORDERED.
    pub(crate) access: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) ending: Ending,
}

/// Limit that a table had reached when it went to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitHit {
    /// The setting of the limit.
    pub setting: &'static str,
    /// The limit in bytes.
    pub bytes: u64,
}

/// Record of one living table.
#[derive(Debug)]
pub(crate) struct TempTableRecord {
    pub(crate) id: u64,
    facts: TableFacts,
    /// The engine that holds the rows now: a table of a former engine may be copied from one to another.
    engine: Mutex<&'static str>,
    created: Instant,
    /// The table's budgets of memory and of temporary space.
    pub(crate) memory: Budget,
    pub(crate) temp_space: Budget,
    rows: AtomicU64,
    /// Number of rows after which the table has no memory of its own; `u64::MAX` for no such number.
    rows_in_memory: AtomicU64,
    groups: AtomicU64,
    partitions: AtomicU64,
    bytes_written: AtomicU64,
    bytes_read: AtomicU64,
    nanoseconds_writing: AtomicU64,
    nanoseconds_reading: AtomicU64,
    bytes_exchanged: AtomicU64,
    /// Number of processes that send its rows; 0 for a table of this process.
    executors: AtomicU64,
    overflowed: AtomicBool,
    limit: OnceLock<LimitHit>,
}

impl TempTableRecord {
    pub(crate) fn new(id: u64, facts: TableFacts, memory: Budget, temp_space: Budget) -> Self {
        Self {
            id,
            engine: Mutex::new(facts.engine),
            facts,
            created: Instant::now(),
            memory,
            temp_space,
            rows: AtomicU64::new(0),
            rows_in_memory: AtomicU64::new(u64::MAX),
            groups: AtomicU64::new(0),
            partitions: AtomicU64::new(1),
            bytes_written: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            nanoseconds_writing: AtomicU64::new(0),
            nanoseconds_reading: AtomicU64::new(0),
            bytes_exchanged: AtomicU64::new(0),
            executors: AtomicU64::new(0),
            overflowed: AtomicBool::new(false),
            limit: OnceLock::new(),
        }
    }

    pub(crate) fn purpose(&self) -> Purpose {
        self.facts.purpose
    }

    /// Ends the table; returns whether that is possible.
    pub(crate) fn kill(&self) -> bool {
        match &self.facts.ending {
            Ending::Statement(interrupt) => interrupt.kill(),
            Ending::Alone(table) => match table.upgrade() {
                Some(table) => table.kill(),
                None => return false,
            },
            Ending::Never => return false,
        }
        true
    }

    /// Sets the engine that holds the rows.
    pub(crate) fn set_engine(&self, engine: &'static str) {
        *lock(&self.engine) = engine;
    }

    /// Notes that the table has gone to disk, and the limit that caused it, if any.
    pub(crate) fn overflowed_at(&self, limit: Option<LimitHit>) {
        self.overflowed.store(true, Ordering::Relaxed);
        if let Some(limit) = limit {
            let _ = self.limit.set(limit);
        }
    }

    /// Counts rows that were added to the table.
    pub(crate) fn add_rows(&self, rows: u64) {
        let before = self.rows.fetch_add(rows, Ordering::Relaxed);
        self.check_rows(before + rows);
    }

    /// Takes the table's memory away once it has more than `rows` rows.
    pub(crate) fn overflow_after(&self, rows: u64) {
        self.rows_in_memory.store(rows, Ordering::Relaxed);
        self.check_rows(self.rows());
    }

    fn check_rows(&self, rows: u64) {
        if rows > self.rows_in_memory.load(Ordering::Relaxed) {
            self.memory.set_limit(FORCED_OVERFLOW_LIMIT);
        }
    }

    /// Number of rows so far, also of writers that have not finished.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Counts rows that have left the table, or were never made part of it.
    pub(crate) fn remove_rows(&self, rows: u64) {
        self.rows.fetch_sub(rows, Ordering::Relaxed);
    }

    /// Sets the number of rows.
    pub(crate) fn set_rows(&self, rows: u64) {
        self.rows.store(rows, Ordering::Relaxed);
        self.check_rows(rows);
    }

    pub(crate) fn add_groups(&self, groups: u64) {
        self.groups.fetch_add(groups, Ordering::Relaxed);
    }

    /// Raises the number of partitions, or of sorted runs, to at least `partitions`.
    pub(crate) fn has_partitions(&self, partitions: u64) {
        self.partitions.fetch_max(partitions, Ordering::Relaxed);
    }

    pub(crate) fn add_written(&self, bytes: u64, time: Duration) {
        self.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        let nanoseconds = time.as_nanos() as u64;
        self.nanoseconds_writing
            .fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(crate) fn add_read(&self, bytes: u64, time: Duration) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        let nanoseconds = time.as_nanos() as u64;
        self.nanoseconds_reading
            .fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Sets the numbers of an exchange.
    pub(crate) fn set_exchanged(&self, figures: ExchangeFigures) {
        self.rows.store(figures.rows, Ordering::Relaxed);
        self.bytes_exchanged.store(figures.bytes, Ordering::Relaxed);
        self.bytes_written.store(figures.spilled, Ordering::Relaxed);
        self.executors.store(figures.executors, Ordering::Relaxed);
    }

    /// Notes an overflow. The first time, returns the limit that leaves the table the least room.
    pub(crate) fn overflows(&self) -> Option<Option<LimitHit>> {
        if self.overflowed.swap(true, Ordering::Relaxed) {
            return None;
        }
        let tightest = self.memory.tightest();
        Some(tightest.map(|budget| {
            *self.limit.get_or_init(|| LimitHit {
                setting: budget.setting(),
                bytes: budget.value(),
            })
        }))
    }

    pub(crate) fn has_overflowed(&self) -> bool {
        self.overflowed.load(Ordering::Relaxed)
    }

    /// A copy of the record's current state.
    pub(crate) fn snapshot(&self) -> RegistryEntry {
        let get = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let facts = &self.facts;
        RegistryEntry {
            id: self.id,
            owner: facts.owner.clone(),
            purpose: facts.purpose,
            cause: Arc::clone(&facts.cause),
            operator: facts.operator,
            access: facts.access,
            engine: *lock(&self.engine),
            tables: 1,
            rows: get(&self.rows),
            groups: get(&self.groups),
            memory_bytes: self.memory.used(),
            memory_peak: self.memory.peak(),
            disk_bytes: self.temp_space.used(),
            disk_peak: self.temp_space.peak(),
            memory_limit: self.memory.limit(),
            disk_limit: self.temp_space.limit(),
            bytes_written: get(&self.bytes_written),
            bytes_read: get(&self.bytes_read),
            time_writing: Duration::from_nanos(get(&self.nanoseconds_writing)),
            time_reading: Duration::from_nanos(get(&self.nanoseconds_reading)),
            partitions: get(&self.partitions),
            bytes_exchanged: get(&self.bytes_exchanged),
            executors: get(&self.executors),
            overflowed: u64::from(self.has_overflowed()),
            limit: self.limit.get().copied(),
            age: self.created.elapsed(),
        }
    }
}

/// Copy of a table's record; for finished tables, the sum over tables of one operator.
#[derive(Debug, Clone)]
pub struct RegistryEntry {
    /// Identifier, unique for the life of the process.
    pub id: u64,
    /// Owner of the table.
    pub owner: StatementOwner,
    /// Purpose of the table.
    pub purpose: Purpose,
    /// Reason why the statement needs it.
    pub cause: Arc<str>,
    /// The plan operator that created it; `None` for tables of the engine's own.
    pub operator: Option<OperatorNumber>,
    /// Access structure: NONE, HASH or ORDERED.
    pub access: &'static str,
    /// The engine that holds its rows: `TempTable`, or one of MySQL's former ones.
    pub engine: &'static str,
    /// Number of tables: an operator of a subquery creates one each time that it runs.
    pub tables: u64,
    /// Rows in the table, including groups while they are built in memory.
    pub rows: u64,
    /// Groups that were made of its rows, for GROUP BY and DISTINCT.
    pub groups: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Peak of `memory_bytes`.
    pub memory_peak: u64,
    /// Bytes in temporary files.
    pub disk_bytes: u64,
    /// Peak of `disk_bytes`.
    pub disk_peak: u64,
    /// Limit of its memory in bytes, by the settings of its session.
    pub memory_limit: u64,
    /// Limit of its temporary files in bytes.
    pub disk_limit: u64,
    /// Bytes written to temporary files.
    pub bytes_written: u64,
    /// Bytes read from temporary files.
    pub bytes_read: u64,
    /// Time spent writing, summed over all threads.
    pub time_writing: Duration,
    /// Time spent reading, summed over all threads.
    pub time_reading: Duration,
    /// Number of partitions or sorted runs.
    pub partitions: u64,
    /// Bytes of rows that processes of a secondary engine have sent each other.
    pub bytes_exchanged: u64,
    /// Number of the processes that send them; 0 for a table of this process.
    pub executors: u64,
    /// Number of the tables that went to disk.
    pub overflowed: u64,
    /// The limit that was reached when it went to disk.
    pub limit: Option<LimitHit>,
    /// Age of the table.
    pub age: Duration,
}

impl RegistryEntry {
    /// Whether two tables are of one operator, or were made for an equal reason.
    fn is_like(&self, other: &Self) -> bool {
        self.operator == other.operator
            && self.purpose == other.purpose
            && self.engine == other.engine
            && (self.operator.is_some() || self.cause == other.cause)
    }

    /// Adds the counters of another finished table.
    fn add(&mut self, other: &Self) {
        self.tables += other.tables;
        self.rows += other.rows;
        self.groups += other.groups;
        self.memory_peak = self.memory_peak.max(other.memory_peak);
        self.disk_peak = self.disk_peak.max(other.disk_peak);
        self.bytes_written += other.bytes_written;
        self.bytes_read += other.bytes_read;
        self.time_writing += other.time_writing;
        self.time_reading += other.time_reading;
        self.partitions = self.partitions.max(other.partitions);
        self.bytes_exchanged += other.bytes_exchanged;
        self.executors = self.executors.max(other.executors);
        self.overflowed += other.overflowed;
        self.limit = self.limit.or(other.limit);
        self.age = self.age.max(other.age);
    }

    /// Adds a finished table to those of its statement: one entry for each operator.
    pub(crate) fn add_to(self, finished: &mut Vec<Self>) {
        match finished.iter_mut().find(|known| known.is_like(&self)) {
            Some(known) => known.add(&self),
            None => finished.push(self),
        }
    }
}
