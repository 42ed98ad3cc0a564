//! Aggregate functions: one value from the rows of a group.
//!
//! States live in columns indexed by group number, outside of the temporary table that finds the
//! group of a row: updating a batch is one typed loop, and a table that overflows writes states
//! out as ordinary columns. DISTINCT and ORDER BY inside an aggregate are the operator's work: it
//! feeds rows without duplicates and in order.

mod bit_operation;
mod bit_strings;
mod bits;
mod bytes_store;
mod count;
mod exact_sum;
mod extreme;
mod function;
mod group_concat;
mod growth;
mod json;
mod merged;
mod small_sums;
mod state;
mod sum;
#[cfg(test)]
mod tests;
mod variance;
mod window;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use self::bit_strings::LENGTH_MAX as BIT_STRING_LENGTH_MAX;
use self::extreme::Keeps;
use self::function::AggregateFunction as Row;
pub(crate) use self::function::mismatch;
pub use self::function::{
    Accumulator, AggregateFunction, AggregateSignature, BindAggregate, Kind, MakeAccumulator,
};
pub use self::merged::merging;
pub use self::window::{Block, Frame, FrameAggregate, frame_aggregate};

/// Every aggregate function.
pub const FUNCTIONS: &[AggregateFunction] = &[
    Row::new(
        Kind::Count,
        &["count"],
        0..=usize::MAX,
        count::signature,
        |_, _| Ok(Box::new(count::Counts::default())),
    ),
    Row::new(
        Kind::Sum,
        &["sum"],
        1..=1,
        sum::signature::<false>,
        |signature, _| sum::states(signature, false),
    )
    .sharing_states("sum"),
    Row::new(
        Kind::Avg,
        &["avg"],
        1..=1,
        sum::signature::<true>,
        |signature, _| sum::states(signature, true),
    )
    .sharing_states("sum"),
    Row::new(
        Kind::Min,
        &["min"],
        1..=1,
        extreme::signature,
        |signature, _| extreme::states(signature, Keeps::Smallest),
    )
    .ignoring_duplicates(),
    Row::new(
        Kind::Max,
        &["max"],
        1..=1,
        extreme::signature,
        |signature, _| extreme::states(signature, Keeps::Largest),
    )
    .ignoring_duplicates(),
    // The first value, NULL or not: for columns that are not grouped by.
    Row::new(
        Kind::AnyValue,
        &["any_value", "first_value"],
        1..=1,
        extreme::any_signature,
        |signature, _| extreme::states(signature, Keeps::First),
    ),
    Row::new(
        Kind::BitAnd,
        &["bit_and"],
        1..=1,
        bits::signature,
        |signature, _| bits::states(signature, bit_operation::Operation::And),
    )
    .ignoring_duplicates(),
    Row::new(
        Kind::BitOr,
        &["bit_or"],
        1..=1,
        bits::signature,
        |signature, _| bits::states(signature, bit_operation::Operation::Or),
    )
    .ignoring_duplicates(),
    Row::new(
        Kind::BitXor,
        &["bit_xor"],
        1..=1,
        bits::signature,
        |signature, _| bits::states(signature, bit_operation::Operation::Xor),
    ),
    Row::new(
        Kind::VarPop,
        &["var_pop", "variance"],
        1..=1,
        variance::signature,
        |_, _| variance::states(false, false),
    )
    .sharing_states("variance"),
    Row::new(
        Kind::VarSamp,
        &["var_samp"],
        1..=1,
        variance::signature,
        |_, _| variance::states(true, false),
    )
    .sharing_states("variance"),
    Row::new(
        Kind::StddevPop,
        &["stddev_pop", "stddev", "std"],
        1..=1,
        variance::signature,
        |_, _| variance::states(false, true),
    )
    .sharing_states("variance"),
    Row::new(
        Kind::StddevSamp,
        &["stddev_samp"],
        1..=1,
        variance::signature,
        |_, _| variance::states(true, true),
    )
    .sharing_states("variance"),
    Row::new(
        Kind::GroupConcat,
        &["group_concat"],
        1..=usize::MAX,
        group_concat::signature,
        group_concat::states,
    )
    .order_sensitive(),
    Row::new(
        Kind::JsonArrayAgg,
        &["json_arrayagg"],
        1..=1,
        json::array_signature,
        |signature, _| json::arrays(signature),
    )
    .order_sensitive(),
    // The last of equal keys wins.
    Row::new(
        Kind::JsonObjectAgg,
        &["json_objectagg"],
        2..=2,
        json::object_signature,
        |signature, _| json::objects(signature),
    )
    .order_sensitive(),
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static AggregateFunction>> = LazyLock::new(|| {
    FUNCTIONS
        .iter()
        .flat_map(|function| function.names().iter().map(move |name| (*name, function)))
        .collect()
});

/// The aggregate function with a case-insensitive name, or `None`.
pub fn by_name(name: &str) -> Option<&'static AggregateFunction> {
    crate::lower_case_lookup(&BY_NAME, name)
}
