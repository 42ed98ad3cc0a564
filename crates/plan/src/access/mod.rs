//! Access paths: the index by which a table is read, and its ranges (the manual, "Optimization and Indexes").
//!
//! [`analysis`] finds the ranges of an index that conditions leave, [`key_ranges`] computes them when the
//! plan runs, [`path`] compares the access paths of one table, and [`lookup`] the index lookup joins into it. The rules
//! `access_paths` and `index_orders` put the choice into the logical plan.

pub(crate) mod analysis;
pub(crate) mod constant;
pub(crate) mod interval;
pub(crate) mod key_ranges;
pub(crate) mod lookup;
pub(crate) mod path;
#[cfg(test)]
mod tests;

use mayfly_types::{PhysicalType, Value};

/// Converts a value to the physical type of a column that it is compared with; NULL if no value of the column is equal
/// to it.
pub fn key_value(value: &Value, column: PhysicalType) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    match interval::fit(value, column) {
        interval::Fit::Exact(value) => value,
        _ => Value::Null,
    }
}
