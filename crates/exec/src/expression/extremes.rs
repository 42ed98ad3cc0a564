//! Least and greatest value of a subquery, against which `<`, `<=`, `>`, `>=`, `= ALL` and `<> ANY` are decided: a
//! comparison with the extremes decides the one with some row, or with all.

use arrow_array::Array;
use mayfly_plan::Comparison;
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, Value};

use super::compare::Comparer;

/// Summary of the subquery's rows.
#[derive(Debug)]
pub(super) struct Extremes {
    comparer: Comparer,
    /// Least and greatest value that is not NULL.
    ends: Option<[Value; 2]>,
    has_nulls: bool,
}

impl Extremes {
    /// Extremes of no rows.
    pub(super) fn new(comparer: Comparer) -> Self {
        Self {
            comparer,
            ends: None,
            has_nulls: false,
        }
    }

    /// Adds the rows of a one-column batch.
    pub(super) fn learn(&mut self, batch: &Batch) {
        let Some(column) = batch.columns().first() else {
            return;
        };
        self.has_nulls |= column.null_count() > 0;
        for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
            let value = array_value(column, row);
            let Some([least, greatest]) = &mut self.ends else {
                self.ends = Some([value.clone(), value]);
                continue;
            };
            if self.comparer.order_values(&value, least).is_lt() {
                *least = value;
            } else if self.comparer.order_values(&value, greatest).is_gt() {
                *greatest = value;
            }
        }
    }

    /// Whether a comparison of a value with some row (or with all rows) is true; `None` is unknown.
    pub(super) fn decide(&self, comparison: Comparison, all: bool, value: &Value) -> Option<bool> {
        if self.ends.is_none() && !self.has_nulls {
            return Some(all);
        }
        if value.is_null() {
            return None;
        }
        let holds = |end: &Value| comparison.holds(self.comparer.order_values(value, end));
        let is_decided = self.ends.as_ref().is_some_and(|ends| {
            if all {
                !ends.iter().all(holds)
            } else {
                ends.iter().any(holds)
            }
        });
        match (is_decided, self.has_nulls) {
            (true, _) => Some(!all),
            (false, true) => None,
            (false, false) => Some(all),
        }
    }

    /// Values held.
    pub(super) fn values(&self) -> &[Value] {
        self.ends.as_ref().map_or(&[], |ends| ends)
    }
}
