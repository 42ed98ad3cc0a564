//! What each operator of a plan did in one statement: for EXPLAIN ANALYZE, ANALYZE and the slow log.
//!
//! Operators are measured where a statement asks for it (`operators::measured`): the clock is looked at once a
//! batch, and rows are counted. The times are MySQL's: those of an operator contain those of its inputs. Where
//! several workers share an operator's rows, its time is that of the slowest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mayfly_plan::physical::OperatorNumber;

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

    /// None for a number that is no operator's of the plan.
    fn sums(&self, operator: OperatorNumber) -> Option<&Sums> {
        self.0.get(operator as usize)
    }

    /// What an operator did so far.
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

    /// A join has looked keys up.
    pub(crate) fn add_lookups(&self, operator: OperatorNumber, keys: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.lookups.fetch_add(keys, Ordering::Relaxed);
        }
    }

    /// A scan or a lookup has read rows of its table.
    pub(crate) fn add_rows_read(&self, operator: OperatorNumber, rows: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.rows_read.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// An operator begins to run.
    pub(crate) fn begin_loop(&self, operator: OperatorNumber) {
        if let Some(sums) = self.sums(operator) {
            sums.loops.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An operator has run: so many nanoseconds until its first row, and until its last.
    pub(crate) fn end_loop(&self, operator: OperatorNumber, first_row: u64, last_row: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.first_row.fetch_add(first_row, Ordering::Relaxed);
            sums.last_row.fetch_add(last_row, Ordering::Relaxed);
        }
    }

    /// An operator has given rows.
    pub(crate) fn add_rows(&self, operator: OperatorNumber, rows: u64) {
        if let Some(sums) = self.sums(operator) {
            sums.rows.fetch_add(rows, Ordering::Relaxed);
        }
    }
}
