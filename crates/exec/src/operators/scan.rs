//! Table scans, with a predicate applied during the scan.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{OperatorNumber, PushedTerm};
use mayfly_plan::{Expression, TableSource};
use mayfly_storage::{ColumnId, ScanRequest, TableScan};
use mayfly_types::{Batch, Error, OrderColumn, Result};

use super::first_rows::{FirstRows, passed};
use super::pushed_terms::PushedTerms;
use super::scan_filter::{ScanFilter, Terms};
use crate::context::{Cursor, Node, RunContext, count};
use crate::expression::{Program, rows_of};
use crate::key_filter::GivenFilter;
use crate::state::lock;

struct Scan {
    number: OperatorNumber,
    table: Arc<TableSource>,
    columns: Vec<ColumnId>,
    predicate: Option<Program>,
    /// The predicate as terms.
    terms: Arc<Terms>,
    /// The part of the whole condition that is pushed down to the table.
    pushed: PushedTerms,
    /// Order in which the table gives the rows; one cursor, the first that is opened, reads them. Empty: any order.
    order: Vec<OrderColumn>,
    /// Whether an ordered scan has its one cursor.
    taken: AtomicBool,
    rows: AtomicU64,
    wanted: FirstRows,
    ended: AtomicBool,
    /// Filters on columns, pushed down by joins and sorts.
    filters: Mutex<Vec<(usize, GivenFilter)>>,
    /// Columns whose strings may come as codes.
    codes: Mutex<Vec<usize>>,
    scan: Mutex<Option<Box<dyn TableScan>>>,
}

pub(super) fn build(
    table: &Arc<TableSource>,
    columns: &[usize],
    predicate: Option<&Expression>,
    (pushed, order): (&[PushedTerm], &[OrderColumn]),
    number: OperatorNumber,
) -> Result<Arc<dyn Node>> {
    let rest = predicate.filter(|_| table.scans.is_some());
    Ok(Arc::new(Scan {
        number,
        table: Arc::clone(table),
        columns: columns.iter().copied().map(ColumnId).collect(),
        predicate: predicate.map(Program::compile),
        terms: Arc::new(Terms::compile(predicate)),
        pushed: PushedTerms::compile(pushed, rest)?,
        order: order.to_vec(),
        taken: AtomicBool::new(false),
        rows: AtomicU64::new(0),
        wanted: FirstRows::all(),
        ended: AtomicBool::new(false),
        filters: Mutex::default(),
        codes: Mutex::default(),
        scan: Mutex::new(None),
    }))
}

impl Node for Scan {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let table = run.statement.tables.open(self.table.id)?;
        let rows = table.statistics().rows;
        self.rows.store(rows, Ordering::Relaxed);
        let wanted = self.wanted.get();
        *lock(&self.scan) = Some(match self.pushed.now(run)? {
            None => Box::new(NoRows),
            Some(terms) => table.scan(&ScanRequest {
                columns: &self.columns,
                terms: &terms,
                predicate: Some(&self.pushed.predicate(&self.columns, run)),
                limit: (self.predicate.is_none() && wanted != u64::MAX).then_some(wanted),
                order: &self.order,
            })?,
        });
        self.ended.store(false, Ordering::Relaxed);
        self.taken.store(false, Ordering::Relaxed);
        // The first row is found by a key lookup.
        count(&run.statement.counters.handler_read_first, 1);
        count(&run.statement.counters.handler_read_key, 1);
        count(&run.statement.progress.rows_expected, rows);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        if !self.order.is_empty() {
            return 0;
        }
        rows_of(&self.predicate, self.rows.load(Ordering::Relaxed))
    }

    fn first_rows(&self, rows: u64) {
        self.wanted.set(rows);
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let again = !self.order.is_empty() && self.taken.swap(true, Ordering::Relaxed);
        let mut scan = match lock(&self.scan).as_ref() {
            Some(_) if again => Box::new(NoRows),
            Some(scan) => scan.for_another_worker(),
            None => return Err(Error::internal("a scan was not prepared")),
        };
        let wanted = self.wanted.get();
        if self.predicate.is_none() {
            scan.first_rows(wanted);
        }
        let filter = self.filter(wanted);
        // A predicate over whole batches needs the strings.
        if filter.is_some() || self.predicate.is_none() {
            scan.give_codes(&lock(&self.codes));
        }
        Ok(Box::new(ScanCursor {
            node: self,
            filter,
            scan,
            wanted,
        }))
    }

    fn is_unordered(&self) -> bool {
        self.order.is_empty() && !self.predicate.as_ref().is_some_and(Program::is_volatile)
    }

    fn takes_filter(&self, _column: usize) -> bool {
        self.predicate
            .as_ref()
            .is_none_or(Program::takes_whole_columns)
    }

    fn give_codes(&self, columns: &[usize]) {
        columns.clone_into(&mut lock(&self.codes));
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        let mut filters = lock(&self.filters);
        filters.retain(|(_, known)| known.maker != filter.maker);
        if filter.filter.is_some() {
            filters.push((column, filter.clone()));
        }
    }
}

impl Scan {
    /// Filter of a worker, evaluated before all columns of a row are read; `None` where only the first rows are wanted,
    /// which are counted one by one.
    fn filter(&self, wanted: u64) -> Option<ScanFilter> {
        let predicate = self.predicate.as_ref();
        if wanted != u64::MAX || !predicate.is_none_or(Program::takes_whole_columns) {
            return None;
        }
        let filters = lock(&self.filters);
        let given = filters.iter();
        let given = given.filter_map(|(column, given)| Some((*column, given.filter.clone()?)));
        Some(ScanFilter::new(&self.terms, given)).filter(|filter| !filter.is_empty())
    }
}

/// A scan that gives no row.
struct NoRows;

impl TableScan for NoRows {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(None)
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self)
    }
}

struct ScanCursor {
    node: Arc<Scan>,
    filter: Option<ScanFilter>,
    scan: Box<dyn TableScan>,
    /// Number of rows still wanted.
    wanted: u64,
}

impl ScanCursor {
    /// (rows that passed, if any; number of rows read for them).
    fn read(&mut self, run: &RunContext) -> Result<Option<(Option<Batch>, usize)>> {
        let predicate = self.node.predicate.as_ref();
        let Some(filter) = &mut self.filter else {
            let batch = self.scan.next_batch()?;
            let passed = batch.map(|batch| passed(batch, predicate, self.wanted, run));
            return passed.transpose();
        };
        let filtered = self.scan.next_filtered(&mut filter.asked(run))?;
        Ok(filtered.map(|filtered| (filtered.batch, filtered.rows_read)))
    }
}

impl Cursor for ScanCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        if self.wanted == 0 {
            return Ok(None);
        }
        while let Some((found, used)) = self.read(run)? {
            count(&run.statement.counters.handler_read_rnd_next, used as u64);
            count(&run.statement.progress.rows_read, used as u64);
            run.statement.examined(self.node.number, used as u64);
            let Some(found) = found else {
                run.statement.check_interrupt()?;
                continue;
            };
            self.wanted = self.wanted.saturating_sub(found.row_count() as u64);
            return Ok(Some(found));
        }
        // MySQL counts the attempt to read behind the last row too.
        if !self.node.ended.swap(true, Ordering::Relaxed) {
            count(&run.statement.counters.handler_read_rnd_next, 1);
        }
        Ok(None)
    }
}
