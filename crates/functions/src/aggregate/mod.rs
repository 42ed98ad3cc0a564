//! Aggregate functions: a value from the rows of a group.
//!
//! States live in columns indexed by group number, outside of the temporary table that finds the
//! group of a row: updating a batch is one typed loop, and a table that overflows writes states
//! out as ordinary columns. DISTINCT and ORDER BY inside an aggregate are the operator's work: it
//! feeds rows without duplicates and in order.

mod bits;
mod bytes_store;
mod count;
mod exact_sum;
mod extreme;
mod function;
mod group_concat;
mod json;
mod state;
mod sum;
#[cfg(test)]
mod tests;
mod variance;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use self::function::mismatch;
pub use self::function::{Accumulator, AggregateFunction, AggregateSignature};

/// Every aggregate function.
pub const FUNCTIONS: &[&dyn AggregateFunction] = &[
    &count::Count,
    &sum::SUM,
    &sum::AVG,
    &extreme::MIN,
    &extreme::MAX,
    &extreme::ANY_VALUE,
    &bits::BIT_AND,
    &bits::BIT_OR,
    &bits::BIT_XOR,
    &variance::VAR_POP,
    &variance::VAR_SAMP,
    &variance::STDDEV_POP,
    &variance::STDDEV_SAMP,
    &group_concat::GroupConcat,
    &json::JsonArrayAgg,
    &json::JsonObjectAgg,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static dyn AggregateFunction>> =
    LazyLock::new(|| {
        let named = |function: &&'static dyn AggregateFunction| {
            let function = *function;
            function.names().iter().map(move |name| (*name, function))
        };
        FUNCTIONS.iter().flat_map(named).collect()
    });

/// The aggregate function of a name (in any case), or `None`.
pub fn by_name(name: &str) -> Option<&'static dyn AggregateFunction> {
    crate::lower_case_lookup(&BY_NAME, name)
}
