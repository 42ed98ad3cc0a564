//! Statements in a frame: they run as a client's do, in the transaction of the statement around them, and are neither
//! logged nor counted as statements of the client.

use std::sync::Arc;

use mayfly_types::{Result, SqlType, Value};

use super::{execute, prepared, transaction_work};
use crate::catalog::inner_statements::{Environment, InnerStatements};
use crate::result::{Outcome, StatementResult};
use crate::session::{Frame, StatementContext};
use crate::spool::{KEPT_FOR_CLIENT, SpoolBuilder, physical_types};
use crate::stream::ResultStream;

impl InnerStatements for Frame<'_> {
    fn run(&mut self, text: &str, parameters: &[(Value, SqlType)]) -> Result<StatementResult> {
        let statement = prepared::parse(self.session, text)?;
        transaction_work::note(self.session, statement.statement());
        let context = self.begin(statement.keeps_diagnostics());
        let stream =
            ResultStream::run(context, |context| execute(context, &statement, parameters))?;
        stream.into_result()
    }
}

/// Runs all statements of a text inside a statement, whose results are theirs.
pub(super) fn run_text(context: &mut StatementContext<'_>, text: &str) -> Result<Outcome> {
    let kept = context.cursor_context();
    let environment = Environment {
        database: context.current_database().map(Arc::from),
        ..Environment::default()
    };
    let mut frame = context.frame(&environment, std::iter::empty())?;
    let mut sets = Vec::new();
    let mut last = StatementResult::default();
    let mut rest = text;
    while frame.session.has_statement(rest) {
        let mut reader = frame.session.statements_of(rest);
        let end = reader.next().and_then(|parsed| Some(parsed.ok()?.end));
        let (first, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let result = frame.run(first, &[])?;
        if result.has_rows() {
            let types: Vec<SqlType> = result.columns.iter().map(|it| it.ty.clone()).collect();
            let mut rows = SpoolBuilder::new(&kept, physical_types(&types), KEPT_FOR_CLIENT);
            result
                .batches
                .into_iter()
                .try_for_each(|batch| rows.add(batch))?;
            sets.push((result.columns, rows.finish()?));
        } else {
            last = result;
        }
        rest = behind;
    }
    Ok(Outcome::Several { sets, last })
}
