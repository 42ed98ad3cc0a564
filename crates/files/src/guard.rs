//! Errors of files, with their paths.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mayfly_engine::{Error, Result, codes, shown_path};

/// 1105: an error in the content of a file.
pub(crate) fn damaged(path: &str, why: impl Display) -> Error {
    codes::ER_UNKNOWN_ERROR.with(&[&format!("file '{}': {why}", shown_path(path))])
}

/// Runs a library's reader of untrusted bytes: a panic in it is an error of the file.
pub(crate) fn guarded<T>(path: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(damaged(path, "its content is damaged")))
}
