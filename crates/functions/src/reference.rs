//! References to scalar functions, built in or stored.
//!
//! All that a rule of the planner or an operator asks of a called function is answered here, so that none needs to know
//! which of the two it is. Of a stored function nothing is assumed that its declaration does not promise: it has no
//! facts, and may fail.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::convert::{array_of_values, array_value};
use mayfly_types::{Result, Value};

use crate::scalar::{Fact, Parameters, Printed, ScalarFunction, Volatility};
use crate::stored::{DataAccess, StoredFunction};
use crate::{Column, EvaluationContext, Signature};

/// The function that a call calls.
#[derive(Debug, Clone)]
pub enum FunctionRef {
    /// A function or operator of this crate.
    BuiltIn(&'static ScalarFunction),
    /// A stored function.
    Stored(Arc<StoredFunction>),
}

impl FunctionRef {
    /// The built-in function, if it is one.
    pub fn built_in(&self) -> Option<&'static ScalarFunction> {
        match self {
            Self::BuiltIn(function) => Some(function),
            Self::Stored(_) => None,
        }
    }

    /// Canonical name; of a stored function without its database.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(function) => function.name(),
            Self::Stored(function) => &function.name,
        }
    }

    /// Whether a fact is on the function's row.
    pub fn has(&self, fact: Fact) -> bool {
        self.built_in().is_some_and(|function| function.has(fact))
    }

    /// Whether calls may be folded or cached.
    pub fn volatility(&self) -> Volatility {
        match self {
            Self::BuiltIn(function) => function.volatility(),
            Self::Stored(function) => stored_volatility(function),
        }
    }

    /// Whether a call runs statements in the session, which only its own thread may do, and only between the steps of
    /// other work.
    pub fn runs_statements(&self) -> bool {
        matches!(self, Self::Stored(_))
    }

    /// Whether rows must be evaluated one after another, because the next one may read what a call has changed.
    pub fn changes_state(&self) -> bool {
        self.has(Fact::SetsVariable)
            || self.runs_statements() && self.volatility() == Volatility::Volatile
    }

    /// Whether a call of that signature can neither fail nor warn.
    pub fn is_total(&self, signature: &Signature) -> bool {
        let built_in = self.built_in();
        built_in.is_some_and(|function| function.is_total(signature))
    }

    /// Types of `?` arguments.
    pub fn parameter_types(&self) -> Parameters {
        let built_in = self.built_in();
        built_in.map_or(Parameters::OfSignature, ScalarFunction::parameter_types)
    }

    /// Form in which calls are printed.
    pub fn printed_form(&self) -> Printed {
        let built_in = self.built_in();
        built_in.map_or(Printed::Call, ScalarFunction::printed_form)
    }

    /// One row of constants, if it can be computed without an array ([`ScalarFunction::value`]).
    pub fn value(&self, arguments: &[Column], signature: &Signature) -> Option<Value> {
        self.built_in()?.value(arguments, signature)
    }

    /// Computes `rows` rows. `arguments` have the types that the signature requires.
    pub fn evaluate(
        &self,
        arguments: &[Column],
        rows: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        match self {
            Self::BuiltIn(function) => function.evaluate(arguments, rows, signature, context),
            Self::Stored(function) => {
                let call = (arguments, rows, signature);
                evaluate_stored(function, call, context)
            }
        }
    }
}

impl From<&'static ScalarFunction> for FunctionRef {
    fn from(function: &'static ScalarFunction) -> Self {
        Self::BuiltIn(function)
    }
}

/// A stored function is the same only as itself: another one may have its name by now.
impl PartialEq for FunctionRef {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::BuiltIn(a), Self::BuiltIn(b)) => a == b,
            (Self::Stored(a), Self::Stored(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Whether calls of a stored function may be moved or left out: not those that give different results or change
/// tables. Even a deterministic function is not computed before its statement runs.
fn stored_volatility(function: &StoredFunction) -> Volatility {
    if function.is_deterministic && function.access != DataAccess::ModifiesSqlData {
        Volatility::Stable
    } else {
        Volatility::Volatile
    }
}

/// Computes some rows of a stored function, one after another.
fn evaluate_stored(
    function: &Arc<StoredFunction>,
    (arguments, rows, signature): (&[Column], usize, &Signature),
    context: &EvaluationContext,
) -> Result<ArrayRef> {
    let value = |row: usize| {
        let values = arguments.iter().map(|argument| match argument {
            Column::Constant(value) => value.clone(),
            Column::Array(array) => array_value(array, row),
        });
        let values: Vec<Value> = values.collect();
        let caller = &context.stored_functions;
        caller.call(function, &values, signature, context)
    };
    let values = (0..rows).map(value).collect::<Result<Vec<_>>>()?;
    Ok(array_of_values(&values, signature.result.physical()))
}
