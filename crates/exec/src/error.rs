//! Failures of the libraries below, as a user sees them.

use mayfly_types::Error;
use mayfly_types::error::codes;

/// A kernel of the array library refused its input: memory that cannot be had, or offsets beyond
/// what an array can hold.
pub(crate) fn arrow(error: arrow_schema::ArrowError) -> Error {
    codes::ER_OUT_OF_MEMORY.with(&[&error])
}
