//! DESCRIBE: SHOW COLUMNS under another name.

use mayfly_syntax::ast::Describe;
use mayfly_types::Result;

use super::show;
use crate::result::Outcome;
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &Describe) -> Result<Outcome> {
    let (database, name) = qualified(context, &statement.table)?;
    let column = statement.column.as_deref();
    let text = show::columns_text(context, &database, &name, false, column)?;
    show::filtered(context, &text, None)
}
