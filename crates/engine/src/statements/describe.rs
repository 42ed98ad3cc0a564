//! DESCRIBE: SHOW COLUMNS under another name.

use mayfly_syntax::ast::Describe;
use mayfly_types::Result;

use super::show;
use crate::result::Outcome;
use crate::session::Session;

/// Runs the statement.
pub(super) fn run(session: &mut Session, statement: &Describe) -> Result<Outcome> {
    let (database, name) = super::qualified(session, &statement.table)?;
    let column = statement.column.as_deref();
    let text = show::columns_text(session, &database, &name, false, column)?;
    show::filtered(session, &text, None)
}
