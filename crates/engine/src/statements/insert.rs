//! INSERT: VALUES, SET and queries as sources of rows. How rows enter a table is in
//! [`row_sink`](super::row_sink).

use std::sync::Arc;

use mayfly_syntax::ast::{Expr, Ident, InsertSource, InsertStatement};
use mayfly_syntax::encodings::is_default;
use mayfly_types::error::codes;
use mayfly_types::{Level, Result, SqlType, Value};

use super::row_sink::{RowSink, Written};
use super::select::{self, Planned, Reading};
use crate::catalog::BaseTable;
use crate::catalog::definition::TableDefinition;
use crate::expressions::{self, columns_of};
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;

/// Runs the statement. `parameters` are the values of its `?`.
pub(crate) fn run(
    session: &mut Session,
    insert: &InsertStatement,
    parameters: &[(Value, SqlType)],
) -> Result<Outcome> {
    super::count(session, Counter::ComInsert);
    let table = target(session, insert)?;
    let definition = &table.definition;
    let positions = listed_columns(definition, insert.columns.as_deref())?;
    let changes_rows = insert.replace || !insert.on_duplicate_key_update.is_empty();
    if changes_rows && definition.unique_keys().next().is_some() {
        let what = if insert.replace {
            "REPLACE"
        } else {
            "INSERT ... ON DUPLICATE KEY UPDATE"
        };
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&what]));
    }
    let (written, has_info) = match &insert.source {
        InsertSource::Values(rows) => {
            let written =
                insert_values(session, &table, insert.ignore, &positions, rows, parameters)?;
            (written, rows.len() > 1)
        }
        InsertSource::Query(query) => {
            let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
            let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
            let planned = select::plan_with(session, query, &types, &values, None)?;
            if planned.plan.columns.len() != positions.len() {
                return Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&1]));
            }
            for position in &positions {
                refuse_generated(definition, *position)?;
            }
            (
                insert_query(
                    session,
                    &table,
                    insert.ignore,
                    &positions,
                    &planned,
                    &values,
                )?,
                true,
            )
        }
    };
    if let Some(first) = written.first_generated {
        session.set_last_insert_id(first);
    }
    let warnings = session.diagnostics().count();
    let info = match has_info {
        true => format!(
            "Records: {}  Duplicates: {}  Warnings: {warnings}",
            written.inserted + written.skipped,
            written.skipped
        ),
        false => String::new(),
    };
    Ok(StatementResult {
        affected_rows: written.inserted,
        last_insert_id: written.first_generated.unwrap_or(written.last_explicit),
        info,
        ..StatementResult::default()
    }
    .into())
}

/// The table that rows go to.
fn target(session: &Session, insert: &InsertStatement) -> Result<Arc<BaseTable>> {
    let (database, name) = super::qualified(session, &insert.table)?;
    super::writable_table(session, &database, &name)
}

/// The positions of the columns that the statement names; all visible ones when it names none.
pub(super) fn listed_columns(
    definition: &TableDefinition,
    list: Option<&[Vec<Ident>]>,
) -> Result<Vec<usize>> {
    let Some(list) = list else {
        let visible = |position: &usize| !definition.columns[*position].invisible;
        return Ok((0..definition.columns.len()).filter(visible).collect());
    };
    let mut positions = Vec::with_capacity(list.len());
    for name in list {
        let full = || {
            let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
            parts.join(".")
        };
        let last = name.last().map_or("", |part| part.value.as_str());
        let position = definition
            .column_position(last)
            .ok_or_else(|| codes::ER_BAD_FIELD_ERROR.with(&[&full(), &"field list"]))?;
        if positions.contains(&position) {
            return Err(codes::ER_FIELD_SPECIFIED_TWICE.with(&[&last]));
        }
        positions.push(position);
    }
    Ok(positions)
}

/// A generated column takes no value: 3105.
pub(super) fn refuse_generated(definition: &TableDefinition, position: usize) -> Result<()> {
    let column = &definition.columns[position];
    match &column.generated {
        Some(_) => {
            let error = codes::ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
            Err(error.with(&[&column.name, &definition.name]))
        }
        None => Ok(()),
    }
}

fn insert_query(
    session: &mut Session,
    table: &Arc<BaseTable>,
    ignore: bool,
    positions: &[usize],
    planned: &Planned,
    values: &[Value],
) -> Result<Written> {
    let types: Vec<SqlType> = planned
        .plan
        .columns
        .iter()
        .map(|column| column.ty.clone())
        .collect();
    let mut reading = Reading::start(session, planned, values)?;
    let written = copy_rows(session, table, ignore, positions, &types, &mut reading);
    reading.finish(session);
    written
}

/// Appends the rows of a query, whose columns have these types, to the columns at these positions.
pub(super) fn copy_rows(
    session: &Session,
    table: &Arc<BaseTable>,
    ignore: bool,
    positions: &[usize],
    types: &[SqlType],
    reading: &mut Reading,
) -> Result<Written> {
    let mut sink = RowSink::new(session, table, positions, ignore)?;
    while let Some(batch) = reading.next_batch()? {
        sink.append(&batch, types)?;
    }
    sink.finish()
}

fn insert_values(
    session: &Session,
    table: &Arc<BaseTable>,
    ignore: bool,
    positions: &[usize],
    rows: &[Vec<Expr>],
    parameters: &[(Value, SqlType)],
) -> Result<Written> {
    let definition = &table.definition;
    for (index, row) in rows.iter().enumerate() {
        // `VALUES ()` is a row of defaults.
        let is_default_row = row.is_empty();
        if row.len() != positions.len() && !is_default_row {
            return Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&(index + 1)]));
        }
    }
    let mut sink = RowSink::new(session, table, positions, ignore)?;
    sink.rows_in_statement(rows.len() as u64);
    for row in rows {
        sink.begin_row();
        for (expr, position) in row.iter().zip(positions) {
            if is_default(expr) {
                sink.set_default(*position)?;
                continue;
            }
            refuse_generated(definition, *position)?;
            let is_number = definition.columns[*position].ty.is_numeric();
            let (value, ty) = value_of(session, expr, is_number, definition, &sink, parameters)?;
            sink.set(*position, &value, &ty)?;
        }
        sink.end_row()?;
    }
    sink.finish()
}

/// The value of an expression of VALUES. It may name columns that the same row set before. For a
/// column of numbers `x'41'` is a number.
fn value_of(
    session: &Session,
    expr: &Expr,
    is_number: bool,
    definition: &TableDefinition,
    sink: &RowSink<'_>,
    parameters: &[(Value, SqlType)],
) -> Result<(Value, SqlType)> {
    if let Some(literal) = expressions::plain_literal(session, expr) {
        return Ok(literal);
    }
    let types = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    match expressions::bind_with(session, expr, &[], types) {
        Ok(mut bound) => {
            if is_number {
                bound.expression = mayfly_plan::as_number(bound.expression);
            }
            bound.scalar(&expressions::one_row(), &values)
        }
        Err(error) if error.is(&codes::ER_BAD_FIELD_ERROR) => {
            let columns = columns_of(session, definition);
            let types = parameters.iter().map(|(_, ty)| ty.clone()).collect();
            let bound = expressions::bind_with(session, expr, &columns, types)?;
            bound.scalar(&sink.current_row(), &values)
        }
        Err(error) => Err(error),
    }
}

/// What IGNORE makes of an error: a warning.
pub(super) fn warn(session: &Session, error: mayfly_types::Error) {
    session.diagnostics().push(Level::Warning, error);
}
