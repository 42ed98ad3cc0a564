//! Index scans: rows of a base table that an index leads to.
//!
//! The ranges are computed when the scan is prepared, from the current values of the statement and its outer rows; so a
//! plan is valid for all values. A scan whose order matters is read by one cursor, the first that is opened.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_plan::physical::OperatorNumber;
use mayfly_plan::{
    Expression, ExpressionKind, GroupRows, IndexSource, KeyRanges, TableSource, ValueRange,
    physical,
};
use mayfly_storage::{ColumnId, IndexId, KeyBound, KeyRange, ScanRequest, Table, TableScan};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, Error, Result, Value};

use super::first_rows::{FirstRows, passed};
use crate::context::{Cursor, Node, RunContext, count};
use crate::expression::Program;
use crate::rows::joined_batches;
use crate::state::lock;

struct IndexScan {
    number: OperatorNumber,
    table: Arc<TableSource>,
    index: usize,
    columns: Vec<ColumnId>,
    ranges: Option<KeyRanges>,
    reverse: bool,
    ordered: bool,
    groups: Option<GroupRows>,
    predicate: Option<Program>,
    /// Rows estimated by the planner.
    rows: u64,
    wanted: FirstRows,
    /// Whether no range holds more than one row, so that nothing is read after it.
    single: AtomicBool,
    state: Mutex<State>,
    /// Whether an ordered scan has its one cursor.
    taken: AtomicBool,
}

enum State {
    New,
    /// All ranges are empty.
    Empty,
    Ready(Box<dyn TableScan>),
    /// The first and last rows of groups are read in these ranges.
    Groups(GroupRows, Vec<KeyRange>),
}

pub(super) fn build(scan: &physical::IndexScan, number: OperatorNumber) -> Arc<dyn Node> {
    Arc::new(IndexScan {
        number,
        table: Arc::clone(&scan.table),
        index: scan.index,
        columns: scan.columns.iter().copied().map(ColumnId).collect(),
        ranges: scan.ranges.clone(),
        reverse: scan.reverse,
        ordered: scan.ordered,
        groups: scan.groups,
        predicate: scan.predicate.as_ref().map(Program::compile),
        rows: scan.read_rows as u64,
        wanted: FirstRows::all(),
        single: AtomicBool::new(false),
        state: Mutex::new(State::New),
        taken: AtomicBool::new(false),
    })
}

/// The index that a plan names, and its id in the store.
pub(super) fn index_of(table: &TableSource, index: usize) -> Result<(&IndexSource, IndexId)> {
    let found = table.indexes.get(index);
    match found.and_then(|index| Some((index, IndexId(index.id?)))) {
        Some(found) => Ok(found),
        None => Err(Error::internal("a plan names an index that is not there")),
    }
}

/// Value of an expression that reads no column.
fn constant(expression: &Expression, run: &RunContext) -> Result<Value> {
    match &expression.kind {
        ExpressionKind::Literal(value) => return Ok(value.clone()),
        ExpressionKind::Parameter(parameter) => return Ok(run.parameter(*parameter)),
        _ => {}
    }
    let program = Program::compile(expression);
    let array = program.evaluate_array(&Batch::new(Vec::new(), 1), run)?;
    Ok(array_value(&array, 0))
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

/// Whether a range is that of one whole key without NULL.
fn is_one_key(range: &KeyRange, parts: usize) -> bool {
    match (&range.start, &range.end) {
        (KeyBound::Included(start), KeyBound::Included(end)) => {
            start.len() == parts && start == end && !start.iter().any(Value::is_null)
        }
        _ => false,
    }
}

impl IndexScan {
    /// The ranges to read; `None` if the index does not find all rows, and the table must be read: the scan's
    /// conditions are checked in any case.
    fn key_ranges(&self, run: &RunContext) -> Result<Option<Vec<KeyRange>>> {
        let Some(ranges) = &self.ranges else {
            return Ok(Some(vec![KeyRange::ALL]));
        };
        let resolved = ranges.resolve(&mut |value| constant(value, run).map(Some))?;
        Ok(resolved.map(|ranges| ranges.into_iter().map(stored).collect()))
    }
}

impl Node for IndexScan {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let (source, index) = index_of(&self.table, self.index)?;
        let counters = &run.statement.counters;
        let ranges = self.key_ranges(run)?;
        self.taken.store(false, Ordering::Relaxed);
        let table = run.statement.tables.open(self.table.id)?;
        let Some(ranges) = ranges else {
            let scan = table.scan(&ScanRequest::of(&self.columns))?;
            self.single.store(false, Ordering::Relaxed);
            *lock(&self.state) = State::Ready(scan);
            return Ok(());
        };
        // The end of an index is found by a key lookup.
        count(&counters.handler_read_key, ranges.len() as u64);
        let first = source.parts.first();
        let first = first.and_then(|part| self.table.columns.get(part.column));
        let has_null = first.is_none_or(|column| column.nullable);
        let at_end = |bound: &KeyBound| match bound {
            KeyBound::Unbounded => true,
            // The column has no NULL: no row is before the values.
            KeyBound::Excluded(values) => !has_null && values.as_slice() == [Value::Null],
            KeyBound::Included(_) => false,
        };
        if self.reverse {
            if ranges.iter().any(|range| at_end(&range.end)) {
                count(&counters.handler_read_last, 1);
            }
        } else if ranges.iter().any(|range| at_end(&range.start)) {
            count(&counters.handler_read_first, 1);
        }
        let parts = source.parts.len();
        let single = source.unique && ranges.iter().all(|range| is_one_key(range, parts));
        self.single.store(single, Ordering::Relaxed);
        if ranges.is_empty() {
            *lock(&self.state) = State::Empty;
            return Ok(());
        }
        count(&run.statement.progress.rows_expected, self.rows);
        if let Some(groups) = self.groups {
            *lock(&self.state) = State::Groups(groups, ranges);
            return Ok(());
        }
        let scan = table.index_scan(index, &ranges, self.reverse, &self.columns)?;
        *lock(&self.state) = State::Ready(scan);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        // An ordered scan is read by one thread.
        if self.ordered { 0 } else { self.rows }
    }

    fn first_rows(&self, rows: u64) {
        self.wanted.set(rows);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let alone = self.ordered || self.groups.is_some();
        let again = alone && self.taken.swap(true, Ordering::Relaxed);
        let mut scan = match &*lock(&self.state) {
            State::Ready(scan) if !again => Some(scan.for_another_worker()),
            State::Groups(groups, ranges) if !again => {
                let cursor = GroupCursor::new(Arc::clone(&self), *groups, ranges.clone(), run)?;
                return Ok(Box::new(cursor));
            }
            State::Ready(_) | State::Groups(..) | State::Empty => None,
            State::New => {
                return Err(Error::internal("a scan was not prepared"));
            }
        };
        let wanted = self.wanted.get();
        if let (Some(scan), None) = (&mut scan, &self.predicate) {
            scan.first_rows(wanted);
        }
        Ok(Box::new(IndexScanCursor {
            node: self,
            scan,
            wanted,
        }))
    }
}

struct IndexScanCursor {
    node: Arc<IndexScan>,
    scan: Option<Box<dyn TableScan>>,
    /// Number of rows still wanted.
    wanted: u64,
}

impl Cursor for IndexScanCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        let counters = &run.statement.counters;
        let read = if self.node.reverse {
            &counters.handler_read_prev
        } else {
            &counters.handler_read_next
        };
        while self.wanted > 0
            && let Some(batch) = scan.next_batch()?
        {
            let predicate = self.node.predicate.as_ref();
            let (found, used) = passed(batch, predicate, self.wanted, run)?;
            let used = used as u64;
            if let Some(found) = &found {
                self.wanted -= found.row_count() as u64;
            }
            // The first row of a range is found by its key; the read behind the last row counts.
            let steps = match self.wanted {
                _ if self.node.single.load(Ordering::Relaxed) => 0,
                0 => used.saturating_sub(1),
                _ => used,
            };
            count(read, steps);
            run.statement.examined(self.node.number, used);
            count(&run.statement.progress.rows_read, used);
            match found {
                Some(found) => return Ok(Some(found)),
                None => run.statement.check_interrupt()?,
            }
        }
        self.scan = None;
        Ok(None)
    }
}

/// Reads the ends of each group (loose index scan): of the rows that have the same values in the first parts of the
/// index. The next group is sought behind all keys that begin with them.
struct GroupCursor {
    node: Arc<IndexScan>,
    table: Arc<dyn Table>,
    index: IndexId,
    groups: GroupRows,
    /// Columns to read: the node's, and behind them the others that make a group.
    columns: Vec<ColumnId>,
    /// Positions in a row of the values of the first parts.
    positions: Vec<usize>,
    /// (position, descending) of the part behind those that make a group.
    next_part: Option<(usize, bool)>,
    /// Ranges still to be read, the next one last.
    ranges: Vec<KeyRange>,
    /// Number of groups still wanted.
    wanted: u64,
}

impl GroupCursor {
    fn new(
        node: Arc<IndexScan>,
        groups: GroupRows,
        mut ranges: Vec<KeyRange>,
        run: &RunContext,
    ) -> Result<Self> {
        let (source, index) = index_of(&node.table, node.index)?;
        let mut columns = node.columns.clone();
        let mut position_of = |column: usize| {
            let known = columns.iter().position(|known| known.0 == column);
            known.unwrap_or_else(|| {
                columns.push(ColumnId(column));
                columns.len() - 1
            })
        };
        let parts = source.parts.iter().take(groups.parts);
        let positions = parts.map(|part| position_of(part.column)).collect();
        let next = source.parts.get(groups.parts);
        let next = next.filter(|_| groups.least || groups.greatest);
        let next_part = next.map(|part| (position_of(part.column), part.descending));
        if !node.reverse {
            ranges.reverse();
        }
        Ok(Self {
            table: run.statement.tables.open(node.table.id)?,
            wanted: node.wanted.get(),
            node,
            index,
            groups,
            columns,
            positions,
            next_part,
            ranges,
        })
    }

    /// First row of a range.
    fn first(&self, range: &KeyRange, reverse: bool) -> Result<Option<Batch>> {
        let ranges = std::slice::from_ref(range);
        let mut scan = self
            .table
            .index_scan(self.index, ranges, reverse, &self.columns)?;
        scan.first_rows(1);
        Ok(scan.next_batch()?.map(|batch| batch.slice(0, 1)))
    }

    fn value(row: &Batch, position: usize) -> Value {
        let column = row.columns().get(position);
        column.map_or(Value::Null, |array| array_value(array, 0))
    }

    /// A row of the next group, and the values of the group.
    fn group(&mut self) -> Result<Option<(Batch, Vec<Value>)>> {
        let reverse = self.node.reverse;
        while let Some(range) = self.ranges.last() {
            let Some(row) = self.first(range, reverse)? else {
                self.ranges.pop();
                continue;
            };
            let positions = self.positions.iter();
            let values: Vec<Value> = positions
                .map(|position| Self::value(&row, *position))
                .collect();
            if let Some(range) = self.ranges.last_mut() {
                let behind = KeyBound::Excluded(values.clone());
                if reverse {
                    range.end = behind;
                } else {
                    range.start = behind;
                }
            }
            return Ok(Some((row, values)));
        }
        Ok(None)
    }

    /// The rows of a group that are wanted besides the one that was found first.
    fn other_ends(&self, found: &Batch, values: &[Value]) -> Result<Vec<Batch>> {
        let Some((position, descending)) = self.next_part else {
            return Ok(Vec::new());
        };
        let all = || KeyBound::Included(values.to_vec());
        // The end of the index at which the row was found.
        let is_least = self.node.reverse == descending;
        let mut rows = Vec::new();
        if self.groups.greatest && is_least {
            let (start, end) = (all(), all());
            let range = KeyRange { start, end };
            rows.extend(self.first(&range, !descending)?);
        }
        if self.groups.least && (!is_least || Self::value(found, position).is_null()) {
            // NULL comes before all values.
            let nulls = || {
                let null = values.iter().cloned().chain([Value::Null]);
                KeyBound::Excluded(null.collect())
            };
            let (start, end) = if descending {
                (all(), nulls())
            } else {
                (nulls(), all())
            };
            let range = KeyRange { start, end };
            rows.extend(self.first(&range, descending)?);
        }
        Ok(rows)
    }
}

impl Cursor for GroupCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let counters = &run.statement.counters;
        let shown = self.node.columns.len();
        while self.wanted > 0
            && let Some((row, values)) = self.group()?
        {
            let mut rows = self.other_ends(&row, &values)?;
            rows.insert(0, row);
            count(&counters.handler_read_key, rows.len() as u64);
            run.statement.examined(self.node.number, rows.len() as u64);
            let rows = joined_batches(&rows, shown)?;
            let predicate = self.node.predicate.as_ref();
            match passed(rows, predicate, u64::MAX, run)? {
                (Some(rows), _) => {
                    self.wanted -= 1;
                    return Ok(Some(rows));
                }
                (None, _) => run.statement.check_interrupt()?,
            }
        }
        Ok(None)
    }
}
