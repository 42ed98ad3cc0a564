//! Scalar and aggregate functions: one file a function, one table line each.
//!
//! A function says what it is called, what it makes of the types of its arguments (its
//! [`Signature`]) and how to compute a whole column at once. The planner converts arguments to the
//! types that the signature asks for, so that kernels see exactly the physical types they expect.

pub mod aggregate;
pub mod column;
pub mod context;
pub mod scalar;
pub mod signature;

pub use aggregate::{Accumulator, AggregateFunction, AggregateSignature};
pub use column::Column;
pub use context::EvaluationContext;
pub use scalar::ScalarFunction;
pub use signature::{Argument, Signature, SignatureContext};
