//! Scalar functions: a value from the values of one row.

use std::fmt;

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

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
    /// result is an array of `result`'s physical type.
    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        result: &SqlType,
        context: &EvaluationContext,
    ) -> Result<ArrayRef>;
}

impl fmt::Debug for dyn ScalarFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names()[0])
    }
}

/// Every family's table.
const FAMILIES: &[&[&dyn ScalarFunction]] = &[];

/// The function of a name (in any case), or `None`.
pub fn by_name(name: &str) -> Option<&'static dyn ScalarFunction> {
    let same = |function: &&&'static dyn ScalarFunction| {
        function
            .names()
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    FAMILIES
        .iter()
        .flat_map(|family| family.iter())
        .find(same)
        .copied()
}
