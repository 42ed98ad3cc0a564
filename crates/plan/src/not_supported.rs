//! The error of what does not exist yet.

use mayfly_types::Error;
use mayfly_types::error::codes;

/// What this planner does not do yet: error 1235.
pub(crate) fn not_supported(what: &str) -> Error {
    codes::ER_NOT_SUPPORTED_YET.with(&[&what])
}
