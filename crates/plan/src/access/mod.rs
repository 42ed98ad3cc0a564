//! Access paths: which index of a table is read, and where (the manual, "Optimization and Indexes").
//!
//! [`analysis`] finds what conditions say about the keys of an index, [`crate::tree::key_ranges`] makes ranges of
//! that when the plan runs, [`path`] compares the ways to read one table, and [`lookup`] the ways to follow
//! a join into it. The rules `access_paths` and `index_orders` put the choice into the logical plan.

pub(crate) mod analysis;
pub(crate) mod constant;
pub(crate) mod interval;
pub(crate) mod lookup;
pub(crate) mod path;
#[cfg(test)]
mod tests;

use mayfly_types::{PhysicalType, Value};

/// A value in the physical type of a column that it is compared with; NULL when no value of the
/// column is equal to it.
pub fn key_value(value: &Value, column: PhysicalType) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    match interval::fit(value, column) {
        interval::Fit::Exact(value) => value,
        _ => Value::Null,
    }
}
