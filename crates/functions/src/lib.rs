//! Scalar and aggregate functions, each a row of a table.
//!
//! A row has a function's names and two Rust functions: one derives the types of a call (from a [`Binding`] its
//! [`Signature`]), one computes a whole column at once (a [`Call`]). The planner converts arguments to the types that
//! the signature requires, so that the second gets exactly the physical types that it expects.

pub mod aggregate;
mod binding;
mod block_encryption;
mod call;
mod choice;
pub mod column;
pub mod comparison;
pub mod context;
pub mod derive;
pub mod input;
pub mod logic;
#[cfg(test)]
mod names;
pub mod output;
mod reference;
pub mod repeated;
pub mod scalar;
pub mod signature;
mod stored;
#[cfg(test)]
mod testing;

pub use aggregate::{Accumulator, AggregateFunction, AggregateSignature};
pub use binding::Binding;
pub use block_encryption::BlockEncryption;
pub use call::Call;
pub use column::{Column, not_null};
pub use context::{CallStored, EvaluationContext, SessionFacts, UserVariables};
pub use mayfly_types::collation::Coercibility;
pub use reference::FunctionRef;
pub use scalar::ScalarFunction;
pub use signature::{Argument, Signature};
pub use stored::{DataAccess, StoredFunction};

/// Looks up a case-insensitive name in a table of lower-case names, without allocating.
fn lower_case_lookup<T: Copy>(
    table: &std::collections::HashMap<&'static str, T>,
    name: &str,
) -> Option<T> {
    let mut lower = [0_u8; 64];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    table.get(std::str::from_utf8(lower).ok()?).copied()
}
