//! The rows of a base table that an index leads to.
//!
//! Which ranges are read is computed when the scan is prepared, of the values that the statement and
//! its outer rows have at the moment; so a plan is good for all of them. A scan whose order matters is
//! read by one cursor, whoever opens it first.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_plan::access::KeyRanges;
use mayfly_plan::{Expression, ExpressionKind, IndexSource, TableSource, ValueRange, physical};
use mayfly_storage::{ColumnId, IndexId, KeyBound, KeyRange, TableScan};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, Value};

use super::{Cursor, Node};
use crate::context::{RunContext, count};
use crate::expression::values::value_at;
use crate::expression::{Program, Selection, filter_batch};
use crate::state::lock;

struct IndexScan {
    table: Arc<TableSource>,
    index: usize,
    columns: Vec<ColumnId>,
    ranges: Option<KeyRanges>,
    reverse: bool,
    ordered: bool,
    predicate: Option<Program>,
    /// As many rows as the planner thinks.
    rows: u64,
    state: Mutex<State>,
    /// An ordered scan has its one cursor.
    taken: AtomicBool,
}

enum State {
    New,
    /// No range holds anything.
    Empty,
    Ready(Box<dyn TableScan>),
}

pub(super) fn build(scan: &physical::IndexScan) -> Arc<dyn Node> {
    Arc::new(IndexScan {
        table: Arc::clone(&scan.table),
        index: scan.index,
        columns: scan.columns.iter().copied().map(ColumnId).collect(),
        ranges: scan.ranges.clone(),
        reverse: scan.reverse,
        ordered: scan.ordered,
        predicate: scan.predicate.as_ref().map(Program::compile),
        rows: scan.read_rows as u64,
        state: Mutex::new(State::New),
        taken: AtomicBool::new(false),
    })
}

/// The index that a plan names, and its place in the store.
pub(super) fn index_of(table: &TableSource, index: usize) -> Result<(&IndexSource, IndexId)> {
    let found = table.indexes.get(index);
    match found.and_then(|index| Some((index, IndexId(index.id?)))) {
        Some(found) => Ok(found),
        None => Err(codes::ER_UNKNOWN_ERROR.with(&[&"a plan names an index that is not there"])),
    }
}

/// The value of an expression that reads no column.
fn constant(expression: &Expression, run: &RunContext) -> Result<Value> {
    match &expression.kind {
        ExpressionKind::Literal(value) => return Ok(value.clone()),
        ExpressionKind::Parameter(parameter) => return Ok(run.parameter(*parameter)),
        _ => {}
    }
    let program = Program::compile(expression);
    let array = program.evaluate_array(&Batch::new(Vec::new(), 1), run)?;
    Ok(value_at(&array, 0, program.physical()))
}

fn stored(range: ValueRange) -> KeyRange {
    let bound = |bound| match bound {
        Bound::Unbounded => KeyBound::Unbounded,
        Bound::Included(values) => KeyBound::Included(values),
        Bound::Excluded(values) => KeyBound::Excluded(values),
    };
    KeyRange {
        start: bound(range.start),
        end: bound(range.end),
    }
}

impl IndexScan {
    fn key_ranges(&self, run: &RunContext) -> Result<Vec<KeyRange>> {
        let Some(ranges) = &self.ranges else {
            return Ok(vec![KeyRange::ALL]);
        };
        let resolved = ranges.resolve(&mut |value| constant(value, run).map(Some))?;
        Ok(resolved.into_iter().flatten().map(stored).collect())
    }
}

impl Node for IndexScan {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        let (_, index) = index_of(&self.table, self.index)?;
        let counters = &run.statement.counters;
        let ranges = self.key_ranges(run)?;
        self.taken.store(false, Ordering::Relaxed);
        let table = run.statement.tables.open(self.table.id)?;
        match (&self.ranges, self.reverse) {
            (Some(_), _) => count(&counters.handler_read_key, ranges.len() as u64),
            (None, false) => count(&counters.handler_read_first, 1),
            (None, true) => count(&counters.handler_read_last, 1),
        }
        if ranges.is_empty() {
            *lock(&self.state) = State::Empty;
            return Ok(());
        }
        count(&run.statement.progress.rows_expected, self.rows);
        let scan = table.index_scan(index, &ranges, self.reverse, &self.columns)?;
        *lock(&self.state) = State::Ready(scan);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        match self.ordered {
            // One thread reads them.
            true => 0,
            false => self.rows,
        }
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let again = self.ordered && self.taken.swap(true, Ordering::Relaxed);
        let scan = match &*lock(&self.state) {
            State::Ready(scan) if !again => Some(scan.for_another_worker()),
            State::Ready(_) | State::Empty => None,
            State::New => {
                return Err(codes::ER_UNKNOWN_ERROR.with(&[&"a scan was not prepared"]));
            }
        };
        Ok(Box::new(IndexScanCursor { node: self, scan }))
    }
}

struct IndexScanCursor {
    node: Arc<IndexScan>,
    scan: Option<Box<dyn TableScan>>,
}

impl Cursor for IndexScanCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        let counters = &run.statement.counters;
        let (read, on_the_way) = match self.node.reverse {
            false => (
                &counters.handler_read_next,
                &run.statement.progress.rows_read,
            ),
            true => (
                &counters.handler_read_prev,
                &run.statement.progress.rows_read,
            ),
        };
        while let Some(batch) = scan.next_batch()? {
            let rows = batch.row_count() as u64;
            count(read, rows);
            count(&counters.rows_examined, rows);
            count(on_the_way, rows);
            let Some(predicate) = &self.node.predicate else {
                return Ok(Some(batch));
            };
            match predicate.select(&batch, run)? {
                Selection::All => return Ok(Some(batch)),
                Selection::None => run.statement.check_interrupt()?,
                Selection::Some(selection, count) => {
                    return Ok(Some(filter_batch(&batch, &selection, count)));
                }
            }
        }
        self.scan = None;
        Ok(None)
    }
}
