//! The rows of a base table, with a predicate applied on the way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::ArrayRef;
use mayfly_plan::physical::OperatorNumber;
use mayfly_plan::{Expression, TableSource};
use mayfly_storage::{ColumnId, RowFilter, TableScan};
use mayfly_types::{Batch, Error, Result, Selection};

use super::first_rows::{FirstRows, passed};
use crate::context::{Cursor, Node, RunContext, count};
use crate::expression::{Program, rows_of};
use crate::key_filter::{GivenFilter, KeyFilter};
use crate::state::lock;

struct Scan {
    number: OperatorNumber,
    table: Arc<TableSource>,
    columns: Vec<ColumnId>,
    predicate: Option<Program>,
    rows: AtomicU64,
    wanted: FirstRows,
    ended: AtomicBool,
    /// Filters of its columns.
    filters: Mutex<Vec<(usize, GivenFilter)>>,
    scan: Mutex<Option<Box<dyn TableScan>>>,
}

pub(super) fn build(
    table: &Arc<TableSource>,
    columns: &[usize],
    predicate: Option<&Expression>,
    number: OperatorNumber,
) -> Arc<dyn Node> {
    Arc::new(Scan {
        number,
        table: Arc::clone(table),
        columns: columns.iter().copied().map(ColumnId).collect(),
        predicate: predicate.map(Program::compile),
        rows: AtomicU64::new(0),
        wanted: FirstRows::all(),
        ended: AtomicBool::new(false),
        filters: Mutex::default(),
        scan: Mutex::new(None),
    })
}

impl Node for Scan {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        let table = run.statement.tables.open(self.table.id)?;
        let rows = table.statistics().rows;
        self.rows.store(rows, Ordering::Relaxed);
        *lock(&self.scan) = Some(table.scan(&self.columns)?);
        self.ended.store(false, Ordering::Relaxed);
        // The first row is found as a key is.
        count(&run.statement.counters.handler_read_first, 1);
        count(&run.statement.counters.handler_read_key, 1);
        count(&run.statement.progress.rows_expected, rows);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        rows_of(&self.predicate, self.rows.load(Ordering::Relaxed))
    }

    fn first_rows(&self, rows: u64) {
        self.wanted.set(rows);
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let mut scan = match lock(&self.scan).as_ref() {
            Some(scan) => scan.for_another_worker(),
            None => return Err(Error::internal("a scan was not prepared")),
        };
        let wanted = self.wanted.get();
        if self.predicate.is_none() {
            scan.first_rows(wanted);
        }
        let filter = self.filter(wanted);
        Ok(Box::new(ScanCursor {
            node: self,
            filter,
            scan,
            wanted,
        }))
    }

    fn is_unordered(&self) -> bool {
        !self.predicate.as_ref().is_some_and(Program::is_volatile)
    }

    fn takes_filter(&self, _column: usize) -> bool {
        self.predicate
            .as_ref()
            .is_none_or(Program::takes_whole_columns)
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
    /// What a worker asks its rows before it reads all of their columns: where nobody asks for the first
    /// rows alone, which are counted one by one.
    fn filter(&self, wanted: u64) -> Option<ScanFilter> {
        let keys: Vec<ScanKey> = lock(&self.filters)
            .iter()
            .filter_map(|(column, given)| Some(ScanKey::new(*column, given.filter.clone()?)))
            .collect();
        let predicate = self.predicate.as_ref();
        let is_asked = predicate.is_some() || !keys.is_empty();
        if !is_asked || wanted != u64::MAX || !predicate.is_none_or(Program::takes_whole_columns) {
            return None;
        }
        let read = predicate.into_iter().flat_map(Program::columns);
        let mut columns: Vec<usize> = read.chain(keys.iter().map(|key| key.column)).collect();
        columns.sort_unstable();
        columns.dedup();
        Some(ScanFilter { columns, keys })
    }
}

/// A filter of one column, and how many rows it was asked about and has kept.
struct ScanKey {
    column: usize,
    filter: Arc<KeyFilter>,
    asked: usize,
    kept: usize,
}

/// Rows after which it is known whether a filter refuses enough of them.
const TRIED_ROWS: usize = 64 << 10;

impl ScanKey {
    fn new(column: usize, filter: Arc<KeyFilter>) -> Self {
        Self {
            column,
            filter,
            asked: 0,
            kept: 0,
        }
    }

    /// Whether it refuses so many rows that it is worth asking.
    fn pays(&self) -> bool {
        self.asked < TRIED_ROWS || self.kept < self.asked / 8 * 7
    }
}

/// The predicate of a scan and the filters that joins have given it, for one worker.
struct ScanFilter {
    columns: Vec<usize>,
    keys: Vec<ScanKey>,
}

struct Asked<'a> {
    filter: &'a mut ScanFilter,
    predicate: Option<&'a Program>,
    run: &'a RunContext,
}

impl RowFilter for Asked<'_> {
    fn columns(&self) -> &[usize] {
        &self.filter.columns
    }

    fn select(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Selection> {
        let mut selection = match self.predicate {
            None => Selection::All,
            Some(predicate) => predicate.select_of(columns, rows, self.run)?,
        };
        for key in self.filter.keys.iter_mut().filter(|key| key.pays()) {
            let asked = selection.count_of(rows);
            if asked == 0 {
                break;
            }
            selection = selection.and(&key.filter.kept(&columns[key.column]));
            key.asked += asked;
            key.kept += selection.count_of(rows);
        }
        Ok(selection)
    }
}

struct ScanCursor {
    node: Arc<Scan>,
    filter: Option<ScanFilter>,
    scan: Box<dyn TableScan>,
    /// So many more rows.
    wanted: u64,
}

impl ScanCursor {
    /// Rows that passed, if any did, and how many were read for them.
    fn read(&mut self, run: &RunContext) -> Result<Option<(Option<Batch>, usize)>> {
        let predicate = self.node.predicate.as_ref();
        let Some(filter) = &mut self.filter else {
            let batch = self.scan.next_batch()?;
            let passed = batch.map(|batch| passed(batch, predicate, self.wanted, run));
            return passed.transpose();
        };
        let filtered = self.scan.next_filtered(&mut Asked {
            filter,
            predicate,
            run,
        })?;
        Ok(filtered.map(|filtered| (filtered.batch, filtered.rows_read)))
    }
}

impl Cursor for ScanCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
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
