//! Interface of other engines of internal temporary tables than [`TempTable`](super::TempTable).
//!
//! A statement whose settings select such an engine has an [`InternalTableEngine`] beside its [`TempTableContext`].
//! Operators call TempTable directly, and these engines through trait objects, once a batch. An engine offers a table
//! that is appended to and scanned, or one whose rows are found by a unique key and changed in place; everything else
//! (sorts, joins, partitions) is TempTable's. Its tables are seen and counted as TempTable's are, through an
//! [`InternalTableRecord`].

use std::fmt;
use std::sync::Arc;

use mayfly_memory::Budget;
use mayfly_types::{Batch, Result, SqlType};

use super::context::TempTableContext;
use super::record::{Ending, LimitHit, RegistryEntry, TableFacts};
use super::registry::Registration;
use super::spec::{KeyMode, OperatorNumber, Purpose};

/// Engine of internal temporary tables, with the settings of one statement.
pub trait InternalTableEngine: fmt::Debug + Send + Sync {
    /// Creates an empty table.
    fn create(
        &self,
        context: &TempTableContext,
        spec: InternalTableSpec,
    ) -> Result<Box<dyn InternalTable>>;
}

/// Specification of a table, fixed when it is created. `Column` declares one of its columns.
#[derive(Debug, Clone)]
pub struct InternalTableSpec<Column = SqlType> {
    /// Purpose of the table.
    pub purpose: Purpose,
    /// Reason why the statement needs it, in words.
    pub cause: Arc<str>,
    /// The plan operator that creates it.
    pub operator: Option<OperatorNumber>,
    /// The columns, the key's first.
    pub columns: Vec<Column>,
    /// Comparison modes of the unique key's columns, one for each; NULL is equal to NULL. Empty for a table that is
    /// only appended to.
    pub key: Vec<KeyMode>,
}

/// Internal temporary table of another engine.
///
/// A table has one writer. Without a key it is appended to; with one, rows are found by their key or inserted, and the
/// columns behind the key are changed. A position is valid until the next call that inserts.
pub trait InternalTable: fmt::Debug + Send + Sync {
    /// Number of rows.
    fn row_count(&self) -> u64;

    /// Appends the rows of a batch to a table without a key.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    /// Finds the rows that have the keys of `rows`, and inserts those that are missing.
    ///
    /// `rows` has the columns of the key, and all others or none: the others of new rows are NULL then. `positions`
    /// becomes the position of each row, `is_new` whether it was inserted.
    fn find_or_insert(
        &mut self,
        rows: &Batch,
        positions: &mut Vec<u64>,
        is_new: &mut Vec<bool>,
    ) -> Result<()>;

    /// Reads the columns behind the key of the rows at some positions, all different, and writes the result of
    /// `change`, which is called once: columns of the same types and number of rows.
    fn modify(
        &mut self,
        positions: &[u64],
        change: &mut dyn FnMut(Batch) -> Result<Batch>,
    ) -> Result<()>;

    /// A scan of all rows in insertion order.
    fn scan(self: Arc<Self>) -> Result<Box<dyn InternalScan>>;
}

/// Scan of an [`InternalTable`].
pub trait InternalScan: Send {
    /// The next rows; `None` at the end. Never an empty batch.
    fn next_batch(&mut self) -> Result<Option<Batch>>;
}

/// Record of a table of another engine: its entry in the registry, and its statement's counters.
#[derive(Debug)]
pub struct InternalTableRecord {
    registration: Arc<Registration>,
    context: TempTableContext,
}

impl InternalTableRecord {
    /// Waits for the statement's turn where statements queue, and registers a table in `engine` with these budgets.
    pub fn new<Column>(
        context: &TempTableContext,
        spec: &InternalTableSpec<Column>,
        engine: &'static str,
        memory: &Budget,
        temp_space: &Budget,
    ) -> Result<Self> {
        context.enter_queue()?;
        let shared = context.shared();
        let facts = TableFacts {
            owner: shared.owner.clone(),
            purpose: spec.purpose,
            cause: Arc::clone(&spec.cause),
            operator: spec.operator,
            access: if spec.key.is_empty() { "NONE" } else { "HASH" },
            engine,
            ending: Ending::Statement(shared.interrupt.clone()),
        };
        let counters = Some(Arc::clone(&shared.counters));
        let registry = &shared.resources.registry;
        Ok(Self {
            registration: registry.register(facts, counters, memory.clone(), temp_space.clone()),
            context: context.clone(),
        })
    }

    /// Context of the table's statement.
    pub fn context(&self) -> &TempTableContext {
        &self.context
    }

    /// The current entry in the registry.
    pub fn entry(&self) -> RegistryEntry {
        self.registration.snapshot()
    }

    fn is_counted(&self) -> bool {
        self.registration.purpose().is_counted()
    }

    /// Counts the table as created in `engine`, in memory or on disk.
    pub fn created(&self, engine: &'static str, is_on_disk: bool) {
        self.set_engine(engine);
        if self.is_counted() {
            self.context
                .count(|counters| &counters.created_tmp_tables, 1);
            if is_on_disk {
                self.context.count_overflow(None);
            }
        }
    }

    /// Sets the engine that holds the rows now.
    pub fn set_engine(&self, engine: &'static str) {
        self.registration.set_engine(engine);
    }

    /// Counts the table as gone from memory to disk, with the limit that caused it.
    pub fn overflowed(&self, limit: Option<LimitHit>) {
        if self.is_counted() {
            self.registration.overflowed_at(limit);
            self.context.count_overflow(limit);
        }
    }

    /// Counts written rows; `all` is the number of rows in the table.
    pub fn count_written(&self, written: u64, all: u64) {
        self.registration.set_rows(all);
        self.context
            .count(|counters| &counters.rows_written, written);
    }

    /// Counts read rows.
    pub fn count_read(&self, rows: u64) {
        self.context.count(|counters| &counters.rows_read, rows);
    }
}
