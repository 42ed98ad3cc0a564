//! Statements that change `performance_schema`: UPDATE, and INSERT and DELETE of `setup_actors`, set what is
//! instrumented, TRUNCATE resets counters, and all others are refused.

use mayfly_syntax::ast::{
    Delete, Expr, InsertSource, InsertStatement, Privilege, SelectItem, SetExpr, Statement,
    TableFactor, TableName, TableWithJoins, UpdateStatement,
};
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use super::select;
use crate::accounts::privileges::PrivilegeSet;
use crate::binding::expressions;
use crate::convert;
use crate::error::{ensure, parse_own_query, refuse};
use crate::information_schema::{self, performance};
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::qualified;

const SCHEMA: &str = "performance_schema";
const ACTORS: &str = "setup_actors";

/// Runs a statement that changes a table of performance_schema: 1142 where that is not allowed. `None` for statements
/// on other tables.
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
                Some(name) if name == ACTORS => delete_actors(context, delete).map(Some),
                Some(name) => Err(context.rights().denied_table("DELETE", &name)),
                None => Ok(None),
            }
        }
        Statement::Insert(insert) => {
            let command = if insert.replace {
                "INSERT, DELETE"
            } else {
                "INSERT"
            };
            match of_name(context, &insert.table) {
                Some(name) if name == ACTORS => insert_actors(context, insert).map(Some),
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
            Some(name) if truncate(context, &name) => Ok(Some(StatementResult::default().into())),
            Some(name) => Err(context.rights().denied_table("DROP", &name)),
            None => match qualified(context, table)? {
                (database, name) if database.eq_ignore_ascii_case(SCHEMA) => {
                    Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name]))
                }
                _ => Ok(None),
            },
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

/// UPDATE: 1142 for a table that cannot be changed, 1683 for a column that cannot.
fn update(
    context: &mut StatementContext<'_>,
    update: &UpdateStatement,
    name: &str,
) -> Result<Outcome> {
    let denied = || context.rights().denied_table("UPDATE", name);
    let change = performance::change(name).ok_or_else(denied)?;
    refuse(
        !update.order_by.is_empty() || update.limit.is_some(),
        || {
            codes::ER_NOT_SUPPORTED_YET
                .with(&[&"ORDER BY and LIMIT in UPDATE of performance_schema"])
        },
    )?;
    let source = information_schema::table(SCHEMA, name);
    let mut assigned = Vec::new();
    for assignment in &update.assignments {
        let column = assignment.column.last().map_or("", |part| &part.value);
        let is_it = |known: &&str| known.eq_ignore_ascii_case(column);
        let exists = source.iter().flat_map(|source| &source.columns);
        let exists = exists.map(|known| &*known.name).any(|known| is_it(&known));
        ensure(exists, || {
            codes::ER_BAD_FIELD_ERROR.with(&[&column, &"field list"])
        })?;
        let column = change.columns.iter().copied().find(is_it);
        let wrong = || codes::ER_WRONG_PERFSCHEMA_USAGE.error();
        assigned.push((column.ok_or_else(wrong)?, &assignment.value));
    }
    let values: Vec<&Expr> = assigned.iter().map(|(_, value)| *value).collect();
    let condition = update.selection.as_ref();
    let rows = rows_of(context, &update.tables, condition, change.key, &values)?;
    for row in &rows {
        let (key, values) = row.split_first().unwrap_or((&Value::Null, &[]));
        for ((column, _), value) in assigned.iter().zip(values) {
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

/// INSERT into `setup_actors`: applies to sessions that begin later.
fn insert_actors(context: &mut StatementContext<'_>, insert: &InsertStatement) -> Result<Outcome> {
    let wanted = PrivilegeSet::of(&[Privilege::Insert]);
    context.rights().require_on_table(SCHEMA, ACTORS, wanted)?;
    let InsertSource::Values(rows) = &insert.source else {
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"INSERT … SELECT into setup_actors"]));
    };
    let source = information_schema::table(SCHEMA, ACTORS);
    let known = source.iter().flat_map(|source| &source.columns);
    let known: Vec<String> = known.map(|column| column.name.clone()).collect();
    let named = insert.columns.iter().flatten();
    let named: Vec<String> = named
        .filter_map(|column| Some(column.last()?.value.clone()))
        .collect();
    for name in &named {
        let exists = known.iter().any(|known| known.eq_ignore_ascii_case(name));
        ensure(exists, || {
            codes::ER_BAD_FIELD_ERROR.with(&[name, &"field list"])
        })?;
    }
    let names = if named.is_empty() { known } else { named };
    for (row, number) in rows.iter().zip(1..) {
        ensure(row.is_empty() || row.len() == names.len(), || {
            codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&number])
        })?;
        let mut values = Vec::new();
        for (name, expression) in names.iter().zip(row) {
            values.push((name.clone(), expressions::evaluate(context, expression)?.0));
        }
        performance::add_actor(context, &values)?;
    }
    Ok(StatementResult::affected(rows.len() as u64).into())
}

/// DELETE from `setup_actors`.
fn delete_actors(context: &mut StatementContext<'_>, delete: &Delete) -> Result<Outcome> {
    let rows = rows_of(
        context,
        &delete.from,
        delete.selection.as_ref(),
        performance::ACTOR,
        &[],
    )?;
    performance::remove_actors(context, rows.iter().flatten());
    Ok(StatementResult::affected(rows.len() as u64).into())
}

/// The key and some values of each row for which a condition holds.
fn rows_of(
    context: &mut StatementContext<'_>,
    tables: &[TableWithJoins],
    condition: Option<&Expr>,
    key: &str,
    values: &[&Expr],
) -> Result<Vec<Vec<Value>>> {
    let mut query = parse_own_query(&format!("SELECT {key}"))?;
    if let SetExpr::Select(select) = &mut *query.body {
        select.from = tables.to_vec();
        select.selection = condition.cloned();
        let values = values.iter();
        let values = values.map(|value| SelectItem::UnnamedExpr((*value).clone()));
        select.projection.extend(values);
    }
    let planned = select::plan_here(context, &query)?;
    let mut reading = select::Reading::start(context, &planned)?;
    let mut rows = Vec::new();
    while let Some(batch) = reading.next_batch(context)? {
        let row = |row| {
            let columns = batch.columns().iter();
            columns
                .map(|column| convert::value_at(column, row))
                .collect()
        };
        rows.extend((0..batch.row_count()).map(row));
    }
    Ok(rows)
}

/// TRUNCATE: resets a table's counters; returns whether it can be truncated.
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
            sessions
                .iter()
                .for_each(|session| session.give_to_account());
        }
        "events_statements_summary_global_by_event_name"
        | "events_statements_summary_by_account_by_event_name"
        | "events_statements_summary_by_user_by_event_name"
        | "events_statements_summary_by_host_by_event_name" => {
            sessions
                .iter()
                .for_each(|session| session.statements.clear());
            instrumentation.accounts.clear_statements();
        }
        "events_stages_history" => sessions.iter().for_each(|session| session.stages.clear()),
        "events_stages_history_long" => instrumentation.stages_long.clear(),
        "events_stages_summary_global_by_event_name" => instrumentation.stages.clear(),
        ACTORS => instrumentation.actors.clear(),
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
