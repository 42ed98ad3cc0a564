//! What each operator of a plan did in one statement: for EXPLAIN ANALYZE, ANALYZE and the slow log.
//!
//! Operators are measured where a statement asks for it: [`measured`] puts a node around each of them that
//! looks at the clock once a batch and counts rows. The times are MySQL's: those of an operator contain
//! those of its inputs, and are averages over the times that it ran (its loops). Where several workers share
//! an operator's rows, its time is that of the slowest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mayfly_plan::physical::OperatorNumber;
use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};

/// What one operator did.
#[derive(Debug, Default)]
struct Sums {
    loops: AtomicU64,
    rows: AtomicU64,
    rows_read: AtomicU64,
    lookups: AtomicU64,
    /// Nanoseconds of all loops until their first row, and until their last.
    first_row: AtomicU64,
    last_row: AtomicU64,
}

/// What the operators of one statement's plan did, by their numbers.
#[derive(Debug)]
pub struct Measures(Box<[Sums]>);

/// What an operator did, as [`Measures::of`] tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// How often it ran; 0: never.
    pub loops: u64,
    /// Rows that it gave, of all loops.
    pub rows: u64,
    /// Rows that a scan or a lookup read for them, before its conditions.
    pub rows_read: u64,
    /// Keys that a join has looked up in its right table: the loops of that.
    pub lookups: u64,
    /// Until its first row, of all loops together.
    pub first_row: Duration,
    /// Until its last row, of all loops together.
    pub last_row: Duration,
}

impl Measures {
    /// Of a plan that has so many operators, none of which has run.
    pub fn new(operator_count: usize) -> Self {
        Self((0..operator_count).map(|_| Sums::default()).collect())
    }

    /// What an operator did so far.
    pub fn of(&self, operator: OperatorNumber) -> Measure {
        let Some(sums) = self.0.get(operator as usize) else {
            return Measure::default();
        };
        let get = |value: &AtomicU64| value.load(Ordering::Relaxed);
        Measure {
            loops: get(&sums.loops),
            rows: get(&sums.rows),
            rows_read: get(&sums.rows_read),
            lookups: get(&sums.lookups),
            first_row: Duration::from_nanos(get(&sums.first_row)),
            last_row: Duration::from_nanos(get(&sums.last_row)),
        }
    }

    /// A join has looked keys up.
    pub(crate) fn add_lookups(&self, operator: OperatorNumber, keys: u64) {
        if let Some(sums) = self.0.get(operator as usize) {
            sums.lookups.fetch_add(keys, Ordering::Relaxed);
        }
    }

    /// A scan or a lookup has read rows of its table.
    pub(crate) fn add_rows_read(&self, operator: OperatorNumber, rows: u64) {
        if let Some(sums) = self.0.get(operator as usize) {
            sums.rows_read.fetch_add(rows, Ordering::Relaxed);
        }
    }
}

/// The same operator, measured if its statement asks for it.
pub(crate) fn measured(
    node: Arc<dyn Node>,
    operator: OperatorNumber,
    run: &RunContext,
) -> Arc<dyn Node> {
    match &run.statement.measures {
        None => node,
        Some(measures) => Arc::new(MeasuredNode {
            node,
            operator,
            measures: Arc::clone(measures),
            prepared: AtomicU64::new(0),
            first_row: AtomicU64::new(u64::MAX),
            last_row: AtomicU64::new(0),
        }),
    }
}

/// An operator and its clock. It counts as one loop, that ends when it is dropped or prepared anew.
struct MeasuredNode {
    node: Arc<dyn Node>,
    operator: OperatorNumber,
    measures: Arc<Measures>,
    /// Nanoseconds that preparing took.
    prepared: AtomicU64,
    /// Nanoseconds of the worker that had the first row first, and of the one that was busy longest.
    first_row: AtomicU64,
    last_row: AtomicU64,
}

impl MeasuredNode {
    fn sums(&self) -> Option<&Sums> {
        self.measures.0.get(self.operator as usize)
    }

    fn end_loop(&self) {
        let prepared = self.prepared.swap(0, Ordering::Relaxed);
        let first = self.first_row.swap(u64::MAX, Ordering::Relaxed);
        let last = self.last_row.swap(0, Ordering::Relaxed);
        let first = if first == u64::MAX { last } else { first };
        if let Some(sums) = self.sums() {
            sums.first_row
                .fetch_add(prepared + first, Ordering::Relaxed);
            sums.last_row.fetch_add(prepared + last, Ordering::Relaxed);
        }
    }
}

impl Drop for MeasuredNode {
    fn drop(&mut self) {
        self.end_loop();
    }
}

fn nanoseconds_since(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl Node for MeasuredNode {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.end_loop();
        if let Some(sums) = self.sums() {
            sums.loops.fetch_add(1, Ordering::Relaxed);
        }
        let begin = Instant::now();
        let result = self.node.prepare(run);
        self.prepared
            .store(nanoseconds_since(begin), Ordering::Relaxed);
        result
    }

    fn rows_hint(&self) -> u64 {
        self.node.rows_hint()
    }

    fn first_rows(&self, rows: u64) {
        self.node.first_rows(rows);
    }

    fn open(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let begin = Instant::now();
        let cursor = Arc::clone(&self.node).open(run)?;
        Ok(Box::new(MeasuredCursor {
            spent: nanoseconds_since(begin),
            rows: 0,
            cursor,
            node: self,
        }))
    }
}

struct MeasuredCursor {
    // Before `node`: what it holds of the operator goes first.
    cursor: Box<dyn Cursor>,
    /// Nanoseconds.
    spent: u64,
    rows: u64,
    node: Arc<MeasuredNode>,
}

impl Cursor for MeasuredCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let begin = Instant::now();
        let result = self.cursor.next(run);
        self.spent += nanoseconds_since(begin);
        if let Ok(Some(batch)) = &result {
            if self.rows == 0 && !batch.is_empty() {
                self.node.first_row.fetch_min(self.spent, Ordering::Relaxed);
            }
            self.rows += batch.row_count() as u64;
        }
        result
    }
}

impl Drop for MeasuredCursor {
    fn drop(&mut self) {
        self.node.last_row.fetch_max(self.spent, Ordering::Relaxed);
        if let Some(sums) = self.node.sums() {
            sums.rows.fetch_add(self.rows, Ordering::Relaxed);
        }
    }
}
