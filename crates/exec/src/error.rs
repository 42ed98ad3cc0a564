//! Failures of the libraries below, as a user sees them.

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

/// A kernel of the array library refused its input: memory that cannot be had, or offsets beyond
/// what an array can hold.
pub(crate) fn arrow(error: arrow_schema::ArrowError) -> Error {
    codes::ER_OUT_OF_MEMORY.with(&[&error])
}

/// Runs part of a statement; a panic in it, which is a bug, ends that statement and nothing else.
pub(crate) fn contain<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // What a panic leaves half done belongs to the statement and is dropped with it.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref())))
}
