//! Statements that change `performance_schema`: UPDATE says what is instrumented, TRUNCATE forgets what was
//! counted, and nothing else may be done.

use mayfly_syntax::ast::{
    Expr, SelectItem, SetExpr, Statement, TableFactor, TableName, UpdateStatement,
};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use super::select;
use crate::convert;
use crate::error::{ensure, parse_own_query, refuse};
use crate::information_schema::{self, performance};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

const SCHEMA: &str = "performance_schema";

/// Does what a statement does to a table of performance_schema: 1142 where that may not be done. `None` for
/// statements on other tables.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    match statement {
        Statement::Update(update) => match update.tables.as_slice() {
            [only] if only.joins.is_empty() => match of_factor(context, &only.relation) {
                Some(name) => self::update(context, update, &name).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        },
        Statement::Delete(delete) if delete.targets.is_empty() => {
            let named = delete.from.first();
            match named.and_then(|table| of_factor(context, &table.relation)) {
                Some(name) => Err(context.rights().denied_table("DELETE", &name)),
                None => Ok(None),
            }
        }
        Statement::Insert(insert) => {
            let command = match insert.replace {
                true => "INSERT, DELETE",
                false => "INSERT",
            };
            match of_name(context, &insert.table) {
                Some(name) => Err(context.rights().denied_table(command, &name)),
                None => Ok(None),
            }
        }
        Statement::DropTable(drop) if !drop.temporary => {
            let mut tables = drop.tables.iter();
            match tables.find_map(|table| of_name(context, table)) {
                Some(name) => Err(context.rights().denied_table("DROP", &name)),
                None => Ok(None),
            }
        }
        Statement::TruncateTable(table) => match of_name(context, table) {
            Some(name) if truncate(context, &name) => {
                Ok(Some(StatementResult::default().into()))
            }
            Some(name) => Err(context.rights().denied_table("DROP", &name)),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The name of a table in performance_schema.
fn of_name(context: &StatementContext<'_>, table: &TableName) -> Option<String> {
    let (database, name) = qualified(context, table).ok()?;
    if !database.eq_ignore_ascii_case(SCHEMA) {
        return None;
    }
    Some(information_schema::table(SCHEMA, &name)?.name.clone())
}

fn of_factor(context: &StatementContext<'_>, factor: &TableFactor) -> Option<String> {
    let TableFactor::Table { name, .. } = factor else {
        return None;
    };
    of_name(context, &TableName::from_object_name(name)?)
}

/// UPDATE: 1142 for a table that may not be changed, 1683 for a column that may not.
fn update(
    context: &mut StatementContext<'_>,
    update: &UpdateStatement,
    name: &str,
) -> Result<Outcome> {
    let denied = || context.rights().denied_table("UPDATE", name);
    let change = performance::change(name).ok_or_else(denied)?;
    refuse(!update.order_by.is_empty() || update.limit.is_some(), || {
        codes::ER_NOT_SUPPORTED_YET.with(&[&"ORDER BY and LIMIT in UPDATE of performance_schema"])
    })?;
    let source = information_schema::table(SCHEMA, name);
    let mut assigned = Vec::new();
    for assignment in &update.assignments {
        let column = assignment.column.last().map_or("", |part| &part.value);
        let is_it = |known: &&str| known.eq_ignore_ascii_case(column);
        let exists = source.iter().flat_map(|source| &source.columns);
        let exists = exists.map(|known| &*known.name).any(|known| is_it(&known));
        ensure(exists, || codes::ER_BAD_FIELD_ERROR.with(&[&column, &"field list"]))?;
        let column = change.columns.iter().copied().find(is_it);
        let wrong = || codes::ER_WRONG_PERFSCHEMA_USAGE.error();
        assigned.push((column.ok_or_else(wrong)?, &assignment.value));
    }
    let rows = new_values(context, update, change.key, &assigned)?;
    for row in &rows {
        let (key, values) = row.split_first().unwrap_or((&Value::Null, &[]));
        for ((column, _), value) in assigned.iter().zip(values) {
            refuse(value.is_null(), || codes::ER_BAD_NULL_ERROR.with(&[column]))?;
            change.apply(context, key, column, value)?;
        }
    }
    let count = rows.len() as u64;
    Ok(Outcome::from(StatementResult {
        affected_rows: count,
        info: format!("Rows matched: {count}  Changed: {count}  Warnings: 0").into(),
        ..StatementResult::default()
    }))
}

/// The key and the new values of each row that an UPDATE is to change.
fn new_values(
    context: &StatementContext<'_>,
    update: &UpdateStatement,
    key: &str,
    assigned: &[(&str, &Expr)],
) -> Result<Vec<Vec<Value>>> {
    let mut query = parse_own_query(&format!("SELECT {}", quoted_identifier(key)))?;
    if let SetExpr::Select(select) = &mut *query.body {
        select.from.clone_from(&update.tables);
        select.selection.clone_from(&update.selection);
        let values = assigned.iter();
        let values = values.map(|(_, value)| SelectItem::UnnamedExpr((*value).clone()));
        select.projection.extend(values);
    }
    let planned = select::plan(context, &query)?;
    let mut reading = select::Reading::start(context, &planned)?;
    let mut rows = Vec::new();
    while let Some(batch) = reading.next_batch()? {
        let row = |row| {
            let columns = batch.columns().iter();
            columns.map(|column| convert::value_at(column, row)).collect()
        };
        rows.extend((0..batch.row_count()).map(row));
    }
    Ok(rows)
}

/// TRUNCATE: whether a table's rows may be forgotten.
fn truncate(context: &StatementContext<'_>, name: &str) -> bool {
    let database = context.database();
    let instrumentation = &database.instrumentation;
    let sessions = database.living_sessions();
    match name {
        "events_statements_current" => {
            for session in &sessions {
                session.forget_current();
            }
        }
        "events_statements_history" => {
            sessions.iter().for_each(|session| session.history.clear());
        }
        "events_statements_history_long" => instrumentation.history_long.clear(),
        "events_statements_summary_by_digest" => instrumentation.digests.clear(),
        "events_statements_histogram_by_digest" => instrumentation.digests.clear_histograms(),
        "events_statements_histogram_global" => instrumentation.digests.clear_times(),
        "events_statements_summary_by_thread_by_event_name" => {
            sessions.iter().for_each(|session| session.give_to_account());
        }
        "events_statements_summary_global_by_event_name"
        | "events_statements_summary_by_account_by_event_name"
        | "events_statements_summary_by_user_by_event_name"
        | "events_statements_summary_by_host_by_event_name" => {
            sessions.iter().for_each(|session| session.statements.clear());
            instrumentation.accounts.clear_statements();
        }
        "events_stages_history" => sessions.iter().for_each(|session| session.stages.clear()),
        "events_stages_history_long" => instrumentation.stages_long.clear(),
        "events_stages_summary_global_by_event_name" => instrumentation.stages.clear(),
        "accounts" | "users" | "hosts" => instrumentation.accounts.clear(),
        "memory_summary_global_by_event_name" => {
            let budgets = &database.budgets;
            budgets.temporary_tables.reset_peak();
            budgets.temp_space.reset_peak();
        }
        "memory_summary_by_thread_by_event_name"
        | "memory_summary_by_account_by_event_name"
        | "memory_summary_by_user_by_event_name"
        | "memory_summary_by_host_by_event_name" => {
            for session in &sessions {
                let memory = session.memory();
                memory.rows.reset_peak();
                memory.temp_space.reset_peak();
            }
        }
        _ => return false,
    }
    true
}
