//! From the errors of the lower crates to rows of the table of errors: one exhaustive function for
//! each of them.

use mayfly_syntax::{SyntaxError, SyntaxErrorKind};
use mayfly_types::Error;
use mayfly_types::error::codes;

/// The error of a text that is no statement.
pub(crate) fn from_syntax(error: &SyntaxError) -> Error {
    match error.kind {
        SyntaxErrorKind::Unexpected => codes::ER_PARSE_ERROR.with(&[&error.near, &error.line]),
        SyntaxErrorKind::Empty => codes::ER_EMPTY_QUERY.error(),
        SyntaxErrorKind::TooDeep { .. }
        | SyntaxErrorKind::TooLong { .. }
        | SyntaxErrorKind::TooLarge { .. } => codes::ER_UNKNOWN_ERROR.with(&[error]),
    }
}
