//! Error for features that are not supported.

use mayfly_types::Error;
use mayfly_types::error::codes;

/// Error 1235 for a feature that the planner does not support.
pub(crate) fn not_supported(what: &str) -> Error {
    codes::ER_NOT_SUPPORTED_YET.with(&[&what])
}
