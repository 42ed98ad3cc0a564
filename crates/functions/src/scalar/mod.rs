//! Scalar functions: a value from the values of one row.

pub(crate) mod control_flow;
pub(crate) mod dates;
pub(crate) mod information;
pub(crate) mod json;
pub(crate) mod numbers;
pub(crate) mod operators;
pub(crate) mod regexp;
pub(crate) mod strings;
mod xml;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext};

/// How the planner may treat a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    /// Depends on nothing but its arguments: folded when they are constant.
    Immutable,
    /// Constant for the length of a statement (NOW(), DATABASE()).
    Stable,
    /// May differ from row to row (RAND(), UUID(), SLEEP(), `@a := …`).
    Volatile,
}

/// A scalar function or operator. Implementations are unit structs, listed in their family's table.
pub trait ScalarFunction: Send + Sync {
    /// Its names in lower case, the canonical one first. Operators are named by their symbol.
    fn names(&self) -> &'static [&'static str];

    /// The fewest and the most arguments that it takes.
    fn arity(&self) -> std::ops::RangeInclusive<usize>;

    /// Whether calls may be folded or cached.
    fn volatility(&self) -> Volatility {
        Volatility::Immutable
    }

    /// The types of a call. Arity has been checked.
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature>;

    /// Computes `row_count` rows. `arguments` have the types that the signature asked for, and the
    /// result is an array of the physical type of `signature.result`. `signature` is the one that
    /// [`ScalarFunction::signature`] gave for this call.
    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef>;
}

impl fmt::Debug for dyn ScalarFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names()[0])
    }
}

/// Every family's table.
const FAMILIES: &[&[&dyn ScalarFunction]] = &[
    control_flow::FUNCTIONS,
    dates::FUNCTIONS,
    information::FUNCTIONS,
    json::FUNCTIONS,
    numbers::FUNCTIONS,
    operators::FUNCTIONS,
    regexp::FUNCTIONS,
    strings::FUNCTIONS,
    xml::FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static dyn ScalarFunction>> =
    LazyLock::new(|| {
        all()
            .flat_map(|function| function.names().iter().map(move |name| (*name, function)))
            .collect()
    });

/// Every function, family by family.
pub fn all() -> impl Iterator<Item = &'static dyn ScalarFunction> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// The function of a name (in any case), or `None`.
pub fn by_name(name: &str) -> Option<&'static dyn ScalarFunction> {
    crate::lower_case_lookup(&BY_NAME, name)
}
