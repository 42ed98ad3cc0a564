//! Scalar and aggregate functions: one file a function, one table line each.
//!
//! A function says what it is called, what it makes of the types of its arguments (its
//! [`Signature`]) and how to compute a whole column at once. The planner converts arguments to the
//! types that the signature asks for, so that kernels see exactly the physical types they expect.

pub mod aggregate;
mod block_encryption;
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
pub mod scalar;
pub mod signature;
#[cfg(test)]
mod testing;

pub use aggregate::{Accumulator, AggregateFunction, AggregateSignature};
pub use block_encryption::BlockEncryption;
pub use column::Column;
pub use context::{EvaluationContext, SessionFacts, UserVariables};
pub use mayfly_types::collation::Coercibility;
pub use scalar::{ScalarFunction, ScalarKernel};
pub use signature::{Argument, Signature, SignatureContext};

/// Finds a name, given in any case, in a table of lower-case names, without allocating.
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
