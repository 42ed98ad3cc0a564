//! A panic inside a statement is a bug, and ends that statement only.

use std::any::Any;

use mayfly_types::Error;
use mayfly_types::error::codes;

/// The error that the user sees for a panic.
pub(crate) fn error(payload: &(dyn Any + Send)) -> Error {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    codes::ER_UNKNOWN_ERROR.with(&[&format!(
        "internal error, please report it as a bug of Mayfly: {text}"
    )])
}
