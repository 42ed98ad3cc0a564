//! Measurements of each operator of a plan in one statement: for EXPLAIN ANALYZE, ANALYZE and the slow log.
//!
//! Operators are measured where a statement asks for it (`operators::measured`): the clock is read once a batch, and
//! rows are counted. The times are MySQL's: those of an operator contain those of its inputs. Where several workers
//! share an operator's rows, its time is that of the slowest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mayfly_plan::physical::OperatorNumber;

/// Counters of one operator.
#[derive(Debug, Default)]
struct Sums {
    loops: AtomicU64,
    rows: AtomicU64,
    rows_read: AtomicU64,
    lookups: AtomicU64,
    /// Nanoseconds until the first row, summed over all loops; then until the last.
    first_row: AtomicU64,
    last_row: AtomicU64,
}

/// Measurements of the operators of one statement's plan, by operator number.
#[derive(Debug)]
pub struct Measures(Box<[Sums]>);

/// Measurements of an operator, as [`Measures::of`] gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// Number of runs (loops); 0: never.
    pub loops: u64,
    /// Rows given, over all loops.
    pub rows: u64,
    /// Rows read by a scan or lookup, before its conditions.
    pub rows_read: u64,
    /// Keys that a join has looked up in its right table: the loops of that table.
    pub lookups: u64,
    /// Time until the first row, over all loops.
    pub first_row: Duration,
    /// Time until the last row, over all loops.
    pub last_row: Duration,
}

impl Measures {
    /// Measurements of a plan of `operator_count` operators, none of which has run.
    pub fn new(operator_count: usize) -> Self {
        Self((0..operator_count).map(|_| Sums::default()).collect())
    }

    /// Counters of an operator; `None` if the plan has no operator of that number.
    fn sums(&self, operator: OperatorNumber) -> Option<&Sums> {
        self.0.get(operator as usize)
    }

    /// Measurements of an operator so far.
    pub fn of(&self, operator: OperatorNumber) -> Measure {
        let Some(sums) = self.sums(operator) else {
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

    /// Adds keys that a join has looked up.
    pub(crate) fn add_lookups(&self, operator: OperatorNumber, keys: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.lookups.fetch_add(keys, Ordering::Relaxed);
        }
    }

    /// Adds rows that a scan or a lookup has read from its table.
    pub(crate) fn add_rows_read(&self, operator: OperatorNumber, rows: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.rows_read.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// Begins a loop of an operator.
    pub(crate) fn begin_loop(&self, operator: OperatorNumber) {
        if let Some(sums) = self.sums(operator) {
            sums.loops.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends a loop of an operator: nanoseconds until its first row, and until its last.
    pub(crate) fn end_loop(&self, operator: OperatorNumber, first_row: u64, last_row: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.first_row.fetch_add(first_row, Ordering::Relaxed);
            sums.last_row.fetch_add(last_row, Ordering::Relaxed);
        }
    }

    /// Adds rows that an operator has given.
    pub(crate) fn add_rows(&self, operator: OperatorNumber, rows: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.rows.fetch_add(rows, Ordering::Relaxed);
        }
    }
}
