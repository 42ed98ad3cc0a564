//! Conversion of the lower crates' errors to MySQL errors: one exhaustive function per type.

use mayfly_syntax::ast::{Query, Statement};
use mayfly_syntax::{ParseOptions, SyntaxError, SyntaxErrorKind};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

/// The error of a text with a syntax error.
pub(crate) fn from_syntax(error: &SyntaxError) -> Error {
    match error.kind {
        SyntaxErrorKind::Unexpected => codes::ER_PARSE_ERROR.with(&[&error.near, &error.line]),
        SyntaxErrorKind::Unsupported { feature } => codes::ER_NOT_SUPPORTED_YET.with(&[&feature]),
        SyntaxErrorKind::Empty => codes::ER_EMPTY_QUERY.error(),
        SyntaxErrorKind::TooDeep { .. }
        | SyntaxErrorKind::TooLong { .. }
        | SyntaxErrorKind::TooLarge { .. } => codes::ER_UNKNOWN_ERROR.with(&[error]),
    }
}

/// Returns the error unless `holds`.
#[inline]
pub(crate) fn ensure(holds: bool, error: impl FnOnce() -> Error) -> Result<()> {
    if holds { Ok(()) } else { Err(error()) }
}

/// Returns the error if `is_so`.
#[inline]
pub(crate) fn refuse(is_so: bool, error: impl FnOnce() -> Error) -> Result<()> {
    ensure(!is_so, error)
}

/// Parses a statement written by the engine itself.
pub(crate) fn parse_own(text: &str) -> Result<Statement> {
    let parsed = mayfly_syntax::parse_one(text, &ParseOptions::MYSQL_DEFAULT);
    Ok(parsed.map_err(|error| from_syntax(&error))?.statement)
}

/// Parses a query written by the engine itself.
pub(crate) fn parse_own_query(text: &str) -> Result<Box<Query>> {
    match parse_own(text)? {
        Statement::Query(query) => Ok(query),
        _ => Err(Error::internal(format_args!("{text} is no query"))),
    }
}
