//! Scalar functions: rows of their family's table, with the properties that the planner needs, and the functions that
//! derive a call's types and compute it.

use std::fmt;
use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use mayfly_types::{Result, SessionParameters, Value};

use super::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Argument, Binding, Call, Column, EvaluationContext, Signature, not_null};

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

/// Derives the types of a call. Arity has been checked.
pub type Bind = fn(&Binding<'_>) -> Result<Signature>;

/// Computes all rows of a call: an array of the physical type of the signature's result.
pub type Evaluate = fn(&Call<'_>) -> Result<ArrayRef>;

/// Whether a call of a signature can neither fail nor warn, for any arguments.
pub type IsTotal = fn(&Signature) -> bool;

/// Computes one row of constants, where that is simpler than an array.
pub type ComputeValue = fn(&[Column], &Signature) -> Option<Value>;

/// The rows of a call that need its next argument, given the arguments before it.
pub type Needs = fn(&Call<'_>) -> Result<BooleanBuffer>;

/// A scalar function or operator.
pub struct ScalarFunction {
    names: &'static [&'static str],
    arity: RangeInclusive<usize>,
    volatility: Volatility,
    is_total: IsTotal,
    needs: Option<Needs>,
    value: Option<ComputeValue>,
    facts: &'static [Fact],
    parameters: Parameters,
    distinct_values: Option<u16>,
    printed: Printed,
    bind: Bind,
    evaluate: Evaluate,
}

impl ScalarFunction {
    /// A function with these names in lower case, the canonical one first (operators are named by their symbol), and
    /// this number of arguments, that depends on its arguments alone.
    pub const fn new(
        names: &'static [&'static str],
        arity: RangeInclusive<usize>,
        bind: Bind,
        evaluate: Evaluate,
    ) -> Self {
        Self {
            names,
            arity,
            volatility: Volatility::Immutable,
            is_total: |_| false,
            needs: None,
            value: None,
            facts: &[],
            parameters: Parameters::OfSignature,
            distinct_values: None,
            printed: Printed::Call,
            bind,
            evaluate,
        }
    }

    /// Marks a function that is constant within a statement.
    #[must_use]
    pub const fn stable(mut self) -> Self {
        self.volatility = Volatility::Stable;
        self
    }

    /// Marks a function that may differ from row to row.
    #[must_use]
    pub const fn volatile(mut self) -> Self {
        self.volatility = Volatility::Volatile;
        self
    }

    /// Marks a function that can neither fail nor warn for some types.
    #[must_use]
    pub(crate) const fn total_where(mut self, is_total: IsTotal) -> Self {
        self.is_total = is_total;
        self
    }

    /// Marks a function that evaluates its arguments one after another, and only those that it needs.
    #[must_use]
    pub const fn lazy(mut self, needs: Needs) -> Self {
        self.needs = Some(needs);
        self
    }

    /// Marks a function that can compute a row of constants without arrays.
    #[must_use]
    pub(crate) const fn by_value(mut self, value: ComputeValue) -> Self {
        self.value = Some(value);
        self
    }

    /// Says which facts hold.
    #[must_use]
    pub const fn with(mut self, facts: &'static [Fact]) -> Self {
        self.facts = facts;
        self
    }

    /// Says which types `?` arguments get.
    #[must_use]
    pub const fn parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// Says that the function is strict and its first argument a byte string.
    #[must_use]
    pub(crate) const fn strict_of_bytes(self) -> Self {
        self.with(&[Fact::Strict])
            .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)]))
    }

    /// Says the maximum number of distinct results.
    #[must_use]
    pub(crate) const fn distinct_values(mut self, count: u16) -> Self {
        self.distinct_values = Some(count);
        self
    }

    /// Says how a call is printed.
    #[must_use]
    pub const fn printed(mut self, printed: Printed) -> Self {
        self.printed = printed;
        self
    }

    /// Canonical name in lower case.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Whether a fact is on the function's row.
    pub fn has(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }

    /// Number of first arguments where a hexadecimal or bit literal is an integer.
    pub fn integers_read(&self) -> usize {
        let count = |fact: &Fact| match fact {
            Fact::ReadsIntegers(count) => Some(*count),
            _ => None,
        };
        self.facts.iter().find_map(count).unwrap_or(0)
    }

    /// Positions of the arguments on whose values the type of the result depends.
    pub fn typed_by(&self) -> &'static [usize] {
        let positions = |fact: &Fact| match fact {
            Fact::TypedByConstants(positions) => Some(*positions),
            _ => None,
        };
        self.facts.iter().find_map(positions).unwrap_or_default()
    }

    /// Types of `?` arguments.
    pub fn parameter_types(&self) -> Parameters {
        self.parameters
    }

    /// Maximum number of distinct results, if it is small.
    pub fn distinct_values_max(&self) -> Option<u16> {
        self.distinct_values
    }

    /// Form in which calls are printed.
    pub fn printed_form(&self) -> Printed {
        self.printed
    }

    /// Its names in lower case, the canonical one first.
    pub fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// The fewest and the most arguments that it takes.
    pub fn arity(&self) -> RangeInclusive<usize> {
        self.arity.clone()
    }

    /// Whether calls may be folded or cached.
    pub fn volatility(&self) -> Volatility {
        self.volatility
    }

    /// Whether a call of that signature can neither fail nor warn.
    pub fn is_total(&self, signature: &Signature) -> bool {
        (self.is_total)(signature)
    }

    /// Whether it chooses which arguments it needs ([`ScalarFunction::needs`]), and not by NULLs alone.
    pub fn is_lazy(&self) -> bool {
        self.needs.is_some()
    }

    /// The places of `count` arguments in the order in which they are evaluated, if later ones may not be needed.
    pub fn evaluation_order(&self, count: usize) -> Option<Vec<usize>> {
        let order = |fact: &Fact| match fact {
            Fact::StopsAtNull => Some((0..count).collect()),
            Fact::StopsAtNullIn(order) => {
                let given = order.iter().copied().filter(|place| *place < count);
                Some(given.chain(order.len()..count).collect())
            }
            _ => None,
        };
        let order = self.facts.iter().find_map(order);
        order.or_else(|| self.is_lazy().then(|| (0..count).collect()))
    }

    /// The rows that need the argument after the given ones, which are in the order of evaluation; the rest of the call
    /// is as for [`ScalarFunction::evaluate`].
    pub fn needs(
        &self,
        known: &[Column],
        rows: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<BooleanBuffer> {
        match self.needs {
            None => Ok(not_null(known, rows)),
            Some(needs) => needs(&Call {
                name: self.names[0],
                arguments: known,
                rows,
                signature,
                context,
            }),
        }
    }

    /// One row of constants, if it can be computed without an array; equal to the result of
    /// [`ScalarFunction::evaluate`].
    pub fn value(&self, arguments: &[Column], signature: &Signature) -> Option<Value> {
        self.value.and_then(|value| value(arguments, signature))
    }

    /// The types of a call. Arity has been checked.
    pub fn signature(
        &self,
        arguments: &[Argument<'_>],
        session: &SessionParameters,
    ) -> Result<Signature> {
        (self.bind)(&Binding {
            name: self.names[0],
            arguments,
            session,
        })
    }

    /// Computes `rows` rows. `arguments` have the types that the signature requires, `signature` is the result of
    /// [`ScalarFunction::signature`] for this call.
    pub fn evaluate(
        &self,
        arguments: &[Column],
        rows: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        (self.evaluate)(&Call {
            name: self.names[0],
            arguments,
            rows,
            signature,
            context,
        })
    }
}

impl PartialEq for ScalarFunction {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl fmt::Debug for ScalarFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names[0])
    }
}
