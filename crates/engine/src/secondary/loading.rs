//! Loading of a table into a secondary engine: the rows of one snapshot, part by part, in the order of the tree of
//! rows, which is that of the primary key.
//!
//! A load reads the store directly, as a statement of its own that locks nothing: it needs no session, so the statement
//! ALTER TABLE … SECONDARY_LOAD and the background refresh load alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mayfly_storage::{
    ChangeStorage, ColumnId, DurableStore, ReadLock, ReadView, ScanRequest, StatementOptions,
    Table, TableDefinition, TableScan, TableState,
};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Interrupt, Result};

use super::copies::{CopyPlace, LoadProgress, LoadedCopy, Part, RunningLoad};
use super::{LoadedColumn, PartToLoad, Rows, SecondaryEngine, TablePart};
use crate::kept_results::{AsOf, add};
use crate::options::Clock;

/// The next number of a part.
static NEXT_PART: AtomicU64 = AtomicU64::new(1);

/// Counters for the status variables.
#[derive(Debug, Default)]
pub(crate) struct LoadCounters {
    pub(crate) loads: AtomicU64,
    pub(crate) refreshes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// Why a load is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadCause {
    /// ALTER TABLE … SECONDARY_LOAD.
    Statement,
    /// The table has changed since it was loaded, or was loaded when the process ended.
    Refresh,
}

/// Loads a table into the place of its copy: a refresh leaves a fresh copy. `None` if the table has changed its
/// definition meanwhile.
///
/// # Errors
/// Any error of reading and of the engine, which leave the place as it was; 1317 for a killed statement.
pub(crate) fn load_into(
    place: &Arc<CopyPlace>,
    source: &Source,
    engine: &Arc<dyn SecondaryEngine>,
    interrupt: &Interrupt,
    (clock, counters): (&Arc<dyn Clock>, &LoadCounters),
    cause: LoadCause,
) -> Result<Option<Arc<LoadedCopy>>> {
    let running = place.begin(interrupt, clock.now_utc_microseconds())?;
    if cause == LoadCause::Refresh
        && let Some(fresh) = running.previous.as_ref().filter(|copy| copy.is_fresh())
    {
        return Ok(Some(Arc::clone(fresh)));
    }
    let copy = match source.load(engine, &running, interrupt, clock) {
        Ok(copy) => copy,
        Err(error) => {
            add(&counters.failures, 1);
            running.fail(&error);
            return Err(error);
        }
    };
    let count = match cause {
        LoadCause::Statement => &counters.loads,
        LoadCause::Refresh => &counters.refreshes,
    };
    add(count, 1);
    add(&counters.rows, copy.rows());
    add(&counters.bytes, copy.bytes());
    Ok(running.finish(copy))
}

/// A table that is loaded.
pub(crate) struct Source {
    pub(crate) store: DurableStore,
    pub(crate) storage: ChangeStorage,
    pub(crate) definition: Arc<TableDefinition>,
    pub(crate) database: String,
    pub(crate) table: String,
    /// The loaded columns, by their positions in the table, and what the engine learns of them.
    pub(crate) columns: Vec<usize>,
    pub(crate) described: Vec<LoadedColumn>,
    pub(crate) batch_rows: usize,
}

impl Source {
    /// Makes a copy of the newest rows.
    fn load(
        &self,
        engine: &Arc<dyn SecondaryEngine>,
        running: &RunningLoad,
        interrupt: &Interrupt,
        clock: &Arc<dyn Clock>,
    ) -> Result<LoadedCopy> {
        let progress = &running.progress;
        let transaction = self.store.session(self.storage.clone());
        let open = || {
            let statement = transaction.statement(StatementOptions {
                view: ReadView::Statement,
                lock_wait: Duration::ZERO,
                interrupt: interrupt.clone(),
                batch_rows: self.batch_rows,
                read_lock: ReadLock::None,
            });
            statement.table(&self.definition)
        };
        // The version is known before the snapshot is taken: else a commit to another table between the two would count
        // as a change of this one.
        let _known = open()?.state();
        let table = open()?;
        let state = table.state();
        let TableState::Committed { snapshot, .. } = state else {
            return Err(Error::internal("a table that is loaded has no versions"));
        };
        let rows = table.statistics().rows;
        progress.expected.store(rows, Ordering::Relaxed);
        let columns: Vec<ColumnId> = self
            .columns
            .iter()
            .map(|column| ColumnId(*column))
            .collect();
        let mut scan = Scan {
            scan: table.scan(&ScanRequest::of(&columns))?,
            next: None,
            progress: Arc::clone(progress),
        };
        progress.check()?;
        let mut parts = Vec::new();
        loop {
            parts.push(self.load_part(engine, &mut scan, snapshot, interrupt)?);
            if scan.is_at_end()? {
                break;
            }
        }
        let as_of = AsOf::after(&state);
        Ok(LoadedCopy {
            engine: Arc::clone(engine),
            columns: self.columns.clone(),
            parts,
            as_of: as_of.ok_or_else(|| Error::internal("a snapshot is of no version"))?,
            version: snapshot,
            began: running.began,
            ended: clock.now_utc_microseconds(),
        })
    }

    fn load_part(
        &self,
        engine: &Arc<dyn SecondaryEngine>,
        scan: &mut Scan,
        version: u64,
        interrupt: &Interrupt,
    ) -> Result<Arc<Part>> {
        interrupt.check()?;
        let part = PartToLoad {
            database: &self.database,
            table: &self.table,
            columns: &self.described,
            number: NEXT_PART.fetch_add(1, Ordering::Relaxed),
            version,
            interrupt,
        };
        let mut rows = PartRows {
            scan,
            given: 0,
            most: engine.part_rows(),
            is_read: false,
            interrupt,
        };
        let stored = engine.load(&part, &mut rows)?;
        let (given, is_read) = (rows.given, rows.is_read);
        let part = Part::new(engine, stored);
        let TablePart { rows, .. } = part.stored;
        if !is_read || rows != given {
            let reason = format!("The engine has kept {rows} of {given} rows or more.");
            return Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
        }
        Ok(part)
    }
}

/// The scan of a load, which knows whether there are more rows.
struct Scan {
    scan: Box<dyn TableScan>,
    next: Option<Batch>,
    progress: Arc<LoadProgress>,
}

impl Scan {
    fn is_at_end(&mut self) -> Result<bool> {
        if self.next.is_none() {
            self.next = self.scan.next_batch()?;
        }
        Ok(self.next.is_none())
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = match self.next.take() {
            Some(batch) => Some(batch),
            None => self.scan.next_batch()?,
        };
        let rows = batch.as_ref().map_or(0, |batch| batch.row_count() as u64);
        self.progress.rows.fetch_add(rows, Ordering::Relaxed);
        Ok(batch)
    }
}

/// The rows of a part.
struct PartRows<'s> {
    scan: &'s mut Scan,
    given: u64,
    most: u64,
    /// Whether the engine has read them to the end.
    is_read: bool,
    interrupt: &'s Interrupt,
}

impl Rows for PartRows<'_> {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.interrupt.check()?;
        self.scan.progress.check()?;
        let batch = if self.given < self.most {
            self.scan.next_batch()?
        } else {
            None
        };
        match &batch {
            Some(batch) => self.given += batch.row_count() as u64,
            None => self.is_read = true,
        }
        Ok(batch)
    }
}
