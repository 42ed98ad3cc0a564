//! Statements, one file each.

use mayfly_syntax::ParsedStatement;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::result::ResultStream;
use crate::session::Session;

/// Runs a statement.
pub(crate) fn run<'s>(
    _session: &'s mut Session,
    statement: &ParsedStatement<'_>,
) -> Result<ResultStream<'s>> {
    Err(codes::ER_NOT_SUPPORTED_YET.with(&[&statement.text]))
}
