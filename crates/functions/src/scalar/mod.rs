//! Scalar functions: one value from the values of one row.

pub(crate) mod control_flow;
pub(crate) mod dates;
mod facts;
mod function;
mod geometry;
pub(crate) mod information;
pub(crate) mod json;
pub(crate) mod numbers;
pub(crate) mod operators;
pub(crate) mod regexp;
pub(crate) mod strings;
mod vectors;
mod xml;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use self::control_flow::is_distance;
pub use self::facts::{Fact, ParameterType, Parameters, Printed};
pub(crate) use self::function::ScalarFunction as Row;
pub use self::function::{
    Bind, ComputeValue, Evaluate, IsTotal, Needs, ScalarFunction, Volatility,
};

/// The tables of every family.
const FAMILIES: &[&[&[ScalarFunction]]] = &[
    control_flow::FUNCTIONS,
    dates::FUNCTIONS,
    geometry::FUNCTIONS,
    information::FUNCTIONS,
    json::FUNCTIONS,
    numbers::FUNCTIONS,
    operators::FUNCTIONS,
    regexp::FUNCTIONS,
    strings::FUNCTIONS,
    &[vectors::FUNCTIONS],
    &[xml::FUNCTIONS],
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static ScalarFunction>> = LazyLock::new(|| {
    all()
        .flat_map(|function| function.names().iter().map(move |name| (*name, function)))
        .collect()
});

/// Every function, family by family.
pub fn all() -> impl Iterator<Item = &'static ScalarFunction> {
    FAMILIES.iter().copied().flatten().copied().flatten()
}

/// The function with a case-insensitive name, or `None`.
pub fn by_name(name: &str) -> Option<&'static ScalarFunction> {
    crate::lower_case_lookup(&BY_NAME, name)
}
