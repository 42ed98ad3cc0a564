//! Errors of the libraries below, as a user sees them.

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

/// Maps an error of an Arrow kernel: no memory, or offsets beyond the limits of an array.
pub(crate) fn arrow(error: arrow_schema::ArrowError) -> Error {
    codes::ER_OUT_OF_MEMORY.with(&[&error])
}

/// Runs part of a statement and contains a panic in it, which is a bug: only that statement ends.
pub(crate) fn contain<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // State left half done by a panic belongs to the statement and is dropped with it.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref())))
}
