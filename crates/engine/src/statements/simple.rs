//! Short statements: DO, FLUSH, SHUTDOWN and HELP.

use std::sync::Arc;

use mayfly_functions::derive;
use mayfly_plan::{has_aggregates, has_window_functions};
use mayfly_syntax::ast::{Expr, Flush, FlushTarget, LockMode, SelectItem, SetExpr, TableLock};
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, Value};

use super::locking_subqueries;
use crate::binding::expressions;
use crate::error::{ensure, parse_own_query};
use crate::locks::table::TableUse;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

/// DO. Aggregate and window functions have one row to read, as in a SELECT without FROM.
pub(super) fn do_expressions(
    context: &mut StatementContext<'_>,
    expressions: &[Expr],
) -> Result<()> {
    for expression in expressions {
        let expression = locking_subqueries::of_expression(context, expression)?;
        if has_aggregates(&*expression) || has_window_functions(&*expression) {
            let mut query = parse_own_query("SELECT NULL")?;
            if let SetExpr::Select(select) = &mut *query.body {
                select.projection = vec![SelectItem::UnnamedExpr(expression.into_owned())];
            }
            expressions::evaluate(context, &Expr::Subquery(query))?;
        } else {
            expressions::evaluate(context, &expression)?;
        }
    }
    Ok(())
}

/// FLUSH
pub(super) fn flush(context: &mut StatementContext<'_>, statement: &Flush) -> Result<()> {
    if statement.targets.contains(&FlushTarget::Status) {
        context.session.flush_status();
    }
    let accounts = Arc::clone(&context.database().accounts);
    for target in &statement.targets {
        match target {
            FlushTarget::Other(name) if name == "PRIVILEGES" => accounts.flush(),
            FlushTarget::Other(name) if name == "USER_RESOURCES" => accounts.flush_usage(),
            FlushTarget::Other(name) if name == "LOGS" => context.database().flush_logs()?,
            FlushTarget::Other(name) if name == "SLOW LOGS" => {
                context.database().logs.reopen_slow()?;
            }
            FlushTarget::Other(name) if name == "GENERAL LOGS" => {
                context.database().logs.reopen_general()?;
            }
            FlushTarget::Tables {
                tables,
                read_lock: true,
                ..
            } if !tables.is_empty() => {
                let tables = tables.iter().map(|table| TableLock {
                    table: table.clone(),
                    alias: None,
                    mode: LockMode::Read,
                });
                return super::lock_tables::lock(context, &tables.collect::<Vec<_>>());
            }
            FlushTarget::Tables {
                read_lock: true, ..
            } => context.take_read_lock()?,
            FlushTarget::Tables { tables, .. } if tables.is_empty() => {
                context.session.transaction.refuse_read_locks()?;
            }
            FlushTarget::Tables { tables, .. } => {
                for table in tables {
                    let (database, name) = qualified(context, table)?;
                    // Waits for sessions that have it locked by LOCK TABLES.
                    context.hold_table(&database, &name, TableUse::Write)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// SHUTDOWN ends the program that serves the engine. An embedded engine ends with its host program.
pub(super) fn shutdown(context: &StatementContext<'_>) -> Result<()> {
    ensure(context.database().connections.ask_for_shutdown(), || {
        codes::ER_NOT_SUPPORTED_YET.with(&[&"SHUTDOWN of an embedded server"])
    })
}

/// HELP: there are no help texts, so every topic is unknown.
pub(super) fn help() -> Outcome {
    text_rows(&[("name", NAME), ("is_it_category", 1)], &[])
        .never_null(|_| true)
        .into()
}

/// The longest name of a table or database, or part of an account's name, in characters.
pub(super) const NAME: u32 = 64;

/// The least width of a column with a statement's text.
pub(super) const STATEMENT: u32 = 1024;

/// A result of text columns, each with the least length in characters.
pub(super) fn text_rows<const N: usize>(
    columns: &[(&str, u32); N],
    rows: &[[String; N]],
) -> StatementResult {
    let longest = |index: usize| rows.iter().map(move |row| row[index].chars().count()).max();
    let columns: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(index, (name, room))| {
            let characters = u64::from(*room).max(longest(index).unwrap_or(0) as u64);
            let collation = CollationId::UTF8MB4_0900_AI_CI;
            (*name, derive::string_type(characters, collation))
        })
        .collect();
    let values = |row: &[String; N]| row.each_ref().map(|text| Value::from(text.as_str()));
    let rows: Vec<[Value; N]> = rows.iter().map(values).collect();
    StatementResult::of_rows(&columns, &rows)
}

/// 1235: a statement that the engine does not support.
pub(super) fn unsupported(what: &str) -> Result<()> {
    Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]))
}
