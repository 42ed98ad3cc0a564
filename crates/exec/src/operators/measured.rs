//! Measured operators: a node around the operator reads the clock and counts rows, a batch at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use mayfly_plan::physical::OperatorNumber;
use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::key_filter::GivenFilter;
use crate::measure::Measures;

/// The operator with a measuring node around it, if its statement is measured.
pub(super) fn measured(
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

/// An operator and its clock. A run counts as one loop, which ends when the node is dropped or prepared again.
struct MeasuredNode {
    node: Arc<dyn Node>,
    operator: OperatorNumber,
    measures: Arc<Measures>,
    /// Nanoseconds of preparation.
    prepared: AtomicU64,
    /// Nanoseconds of the worker that had the first row first; then of the one that was busy longest.
    first_row: AtomicU64,
    last_row: AtomicU64,
}

impl MeasuredNode {
    fn end_loop(&self) {
        let prepared = self.prepared.swap(0, Ordering::Relaxed);
        let first = self.first_row.swap(u64::MAX, Ordering::Relaxed);
        let last = self.last_row.swap(0, Ordering::Relaxed);
        let first = if first == u64::MAX { last } else { first };
        self.measures
            .end_loop(self.operator, prepared + first, prepared + last);
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
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.end_loop();
        self.measures.begin_loop(self.operator);
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

    fn is_unordered(&self) -> bool {
        self.node.is_unordered()
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.node.takes_filter(column)
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.node.give_filter(column, filter);
    }

    fn give_codes(&self, columns: &[usize]) {
        self.node.give_codes(columns);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
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
    // Declared before `node`, so that it is dropped first: it holds references to the operator.
    cursor: Box<dyn Cursor>,
    /// Nanoseconds spent.
    spent: u64,
    rows: u64,
    node: Arc<MeasuredNode>,
}

impl Cursor for MeasuredCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
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
        let node = &self.node;
        node.measures.add_rows(node.operator, self.rows);
    }
}
