//! INSERT: VALUES, SET and queries as sources of rows. How rows enter a table is in
//! [`row_sink`](super::row_sink).

use std::sync::{Arc, PoisonError};

use mayfly_plan::{ChangedTable, ScalarNames};
use mayfly_syntax::ast::{Expr, Ident, InsertSource, InsertStatement, Query, SelectItem, SetExpr};
use mayfly_syntax::encodings::is_default;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Level, Result, SqlType, Value};

use super::duplicates::DuplicateClause;
use super::locking_subqueries;
use super::point;
use super::returning::Returning;
use super::row_sink::{OnDuplicate, RowSink, Written};
use super::row_target::{Additions, RowTarget, RowView};
use super::select::{self, KeptPlan, PlanPlace, Reading};
use crate::catalog::BaseTable;
use crate::catalog::definition::TableDefinition;
use crate::expressions::{self, columns_of};
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::Session;
use crate::status::Counter;

/// Runs the statement. `parameters` are the values of its `?`.
pub(crate) fn run(
    session: &mut Session,
    insert: &InsertStatement,
    parameters: &[(Value, SqlType)],
    kept: Option<&PlanPlace<()>>,
) -> Result<Outcome> {
    super::count(session, counter(insert));
    session.read_for_change();
    let target = target(session, insert)?;
    session.writes_rows_to(&target.table);
    let positions = target.columns(listed(insert))?;
    let returning = Returning::bind(session, &target.names, &insert.returning, parameters)?;
    let ((written, rows), has_info) = match &insert.source {
        InsertSource::Values(rows) => {
            let clause = DuplicateClause::new(insert, &target, &positions, &[])?;
            let on_duplicate = clause.bind(session, parameters, &[])?;
            let insertion = Insertion {
                table: &target.table,
                view: target.view.as_ref(),
                ignore: insert.ignore,
                positions: &positions,
                on_duplicate,
                returns: !insert.returning.is_empty(),
                first_number: std::mem::take(&mut session.insert_id),
            };
            (
                insert_values(session, insertion, &target, rows, parameters)?,
                rows.len() > 1,
            )
        }
        InsertSource::Query(query) => (
            insert_query(session, insert, query, &target, &positions, parameters)?,
            true,
        ),
    };
    if let Some(first) = written.first_generated {
        session.set_last_insert_id(first);
    }
    let warnings = session.diagnostics().count();
    let info = match has_info {
        true => format!(
            "Records: {}  Duplicates: {}  Warnings: {warnings}",
            written.records(),
            written.duplicates()
        ),
        false => String::new(),
    };
    let info = info.into();
    let (columns, batches) = returning.evaluate(&rows)?;
    if let Some(kept) = kept {
        keep_point(session, insert, &target, &positions, parameters, kept);
    }
    let untouched = match session.counts_found_rows {
        true => written.untouched,
        false => 0,
    };
    Ok(StatementResult {
        columns: columns.into(),
        batches,
        affected_rows: written.affected() + untouched,
        last_insert_id: written.first_generated.unwrap_or(written.last_explicit),
        info,
        ..StatementResult::default()
    }
    .into())
}

/// Keeps what the statement comes to.
fn keep_point(
    session: &Session,
    insert: &InsertStatement,
    target: &RowTarget,
    positions: &[usize],
    parameters: &[(Value, SqlType)],
    kept: &PlanPlace<()>,
) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let is_good = |kept: &KeptPlan<()>| kept.is_for(session, parameters);
    if !kept.as_ref().is_some_and(is_good) {
        let point = match target.view {
            None => point::of_insert(session, insert, &target.table, positions, parameters),
            Some(_) => None,
        };
        *kept = Some(KeptPlan::of_point(session, parameters, point));
    }
}

/// Finds what the statement comes to, without running it.
pub(super) fn plan_only(
    session: &Session,
    insert: &InsertStatement,
    parameters: &[(Value, SqlType)],
    kept: &PlanPlace<()>,
) -> Result<()> {
    let target = target(session, insert)?;
    let positions = target.columns(listed(insert))?;
    keep_point(session, insert, &target, &positions, parameters, kept);
    Ok(())
}

/// The columns that the statement will give; what it names must be there.
pub(super) fn describe(session: &Session, insert: &InsertStatement) -> Result<Arc<[ResultColumn]>> {
    let target = target(session, insert)?;
    let positions = target.columns(listed(insert))?;
    match &insert.source {
        InsertSource::Values(rows) => {
            check_widths(rows, positions.len())?;
            for row in rows {
                for (expr, position) in row.iter().zip(&positions) {
                    if let Some(index) = parameter_index(expr) {
                        let column = &target.table.definition.columns[*position];
                        session.note_parameter(index, &column.ty);
                    }
                }
            }
            let columns = columns_of(session, &target.names);
            let names = ScalarNames {
                columns: &columns,
                target: Some(ChangedTable {
                    alone: rows.len() == 1,
                    ..target.changed()
                }),
                ..ScalarNames::default()
            };
            let is_plain = |expr: &Expr| {
                is_default(expr)
                    || parameter_index(expr).is_some()
                    || expressions::plain_literal(session, expr).is_some()
            };
            for expr in rows.iter().flatten().filter(|expr| !is_plain(expr)) {
                expressions::bind_in(session, expr, names, Vec::new())?;
            }
            let clause = DuplicateClause::new(insert, &target, &positions, &[])?;
            clause.bind(session, &[], &[])?;
        }
        InsertSource::Query(query) => {
            let planned = select::plan(session, query)?;
            if planned.plan.columns.len() != positions.len() {
                return Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&1]));
            }
        }
    }
    let returning = Returning::bind(session, &target.names, &insert.returning, &[])?;
    Ok(returning.columns().into())
}

/// 1136 for a row of VALUES that has more or fewer values than there are columns.
fn check_widths(rows: &[Vec<Expr>], columns: usize) -> Result<()> {
    // `VALUES ()` is a row of defaults.
    let is_wrong = |row: &Vec<Expr>| row.len() != columns && !row.is_empty();
    match rows.iter().position(is_wrong) {
        Some(index) => Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&(index + 1)])),
        None => Ok(()),
    }
}

/// The columns that the statement lists; `()` lists none and means all.
fn listed(insert: &InsertStatement) -> Option<&[Vec<Ident>]> {
    insert.columns.as_deref().filter(|list| !list.is_empty())
}

/// The last part of a column's name.
fn last(name: &[Ident]) -> &str {
    name.last().map_or("", |part| part.value.as_str())
}

/// Where the statement's rows go.
pub(super) fn target(session: &Session, insert: &InsertStatement) -> Result<RowTarget> {
    let listed = listed(insert).map(|list| list.iter().map(|name| last(name)).collect::<Vec<_>>());
    let duplicates = insert.on_duplicate_key_update.iter();
    let updated: Vec<&str> = duplicates.map(|it| last(&it.column)).collect();
    let additions = Additions {
        replaces: insert.replace,
        updated: &updated,
        listed: listed.as_deref(),
        assigned: &[],
    };
    RowTarget::find(session, &insert.table, &insert.partitions, additions)
}

/// What the statement counts as.
fn counter(insert: &InsertStatement) -> Counter {
    match (insert.replace, &insert.source) {
        (false, InsertSource::Values(_)) => Counter::ComInsert,
        (false, InsertSource::Query(_)) => Counter::ComInsertSelect,
        (true, InsertSource::Values(_)) => Counter::ComReplace,
        (true, InsertSource::Query(_)) => Counter::ComReplaceSelect,
    }
}

/// Where rows go and what is done with them.
pub(super) struct Insertion<'t> {
    pub(super) table: &'t Arc<BaseTable>,
    /// The view that they come through.
    pub(super) view: Option<&'t RowView>,
    pub(super) ignore: bool,
    /// The columns that are given.
    pub(super) positions: &'t [usize],
    pub(super) on_duplicate: OnDuplicate,
    /// Whether the rows are to come back.
    pub(super) returns: bool,
    /// SET insert_id, or 0.
    pub(super) first_number: u64,
}

impl<'t> Insertion<'t> {
    fn sink(self, session: &'t Session) -> Result<RowSink<'t>> {
        let sink = RowSink::new(session, self.table, self.positions, self.ignore)?;
        Ok(sink
            .through(self.view)
            .on_duplicate(self.on_duplicate)
            .keeping_rows(self.returns)
            .numbered_from(self.first_number))
    }
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

/// Without strict mode a value for a generated column is ignored, as in MariaDB, whose dumps have
/// such values: 1906. Whether it is one.
fn ignore_generated(session: &Session, definition: &TableDefinition, position: usize) -> bool {
    let column = &definition.columns[position];
    if column.generated.is_some() {
        let ignored = codes::ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
        warn(session, ignored.with(&[&column.name, &definition.name]));
    }
    column.generated.is_some()
}

fn insert_query(
    session: &mut Session,
    insert: &InsertStatement,
    query: &Query,
    target: &RowTarget,
    positions: &[usize],
    parameters: &[(Value, SqlType)],
) -> Result<(Written, Vec<Batch>)> {
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let table = &target.table;
    let without = locking_subqueries::of_query(session, query, &types, &values)?;
    if without.is_some() {
        session.read_for_change();
    }
    let query = without.as_ref().unwrap_or(query);
    let mut foreign = DuplicateClause::foreign_names(insert, query, &target.names)?;
    let mut planned = None;
    if let Some(extended) = extended(query, &foreign) {
        planned = select::plan_with(session, &extended, &types, &values, None).ok();
    }
    let planned = match planned {
        Some(planned) => planned,
        None => {
            foreign.clear();
            select::plan_with(session, query, &types, &values, None)?
        }
    };
    let columns = planned.plan.columns.len();
    if columns != positions.len() + foreign.len() {
        return Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&1]));
    }
    for position in positions {
        refuse_generated(&table.definition, *position)?;
    }
    let columns = planned.plan.columns.iter();
    let types: Vec<SqlType> = columns.map(|column| column.ty.clone()).collect();
    let clause = DuplicateClause::new(insert, target, positions, &foreign)?;
    let on_duplicate = clause.bind(session, parameters, &types[positions.len()..])?;
    let insertion = Insertion {
        table,
        view: target.view.as_ref(),
        ignore: insert.ignore,
        positions,
        on_duplicate,
        returns: !insert.returning.is_empty(),
        first_number: std::mem::take(&mut session.insert_id),
    };
    let mut reading = Reading::start(session, &planned, &values)?;
    let written = copy_rows(session, insertion, &types, &mut reading);
    reading.finish(session);
    written
}

/// The query with columns more, which ON DUPLICATE KEY UPDATE reads; `None` when there are none.
fn extended(query: &Query, names: &[Expr]) -> Option<Query> {
    if names.is_empty() {
        return None;
    }
    let mut query = query.clone();
    let SetExpr::Select(select) = &mut *query.body else {
        return None;
    };
    let items = names.iter().cloned().map(SelectItem::UnnamedExpr);
    select.projection.extend(items);
    Some(query)
}

/// Appends the rows of a query, whose columns have these types.
pub(super) fn copy_rows(
    session: &Session,
    insertion: Insertion<'_>,
    types: &[SqlType],
    reading: &mut Reading,
) -> Result<(Written, Vec<Batch>)> {
    let mut sink = insertion.sink(session)?;
    while let Some(batch) = reading.next_batch()? {
        sink.append(&batch, types)?;
    }
    sink.finish_returning()
}

fn insert_values(
    session: &Session,
    insertion: Insertion<'_>,
    target: &RowTarget,
    rows: &[Vec<Expr>],
    parameters: &[(Value, SqlType)],
) -> Result<(Written, Vec<Batch>)> {
    let (table, positions) = (insertion.table, insertion.positions);
    let definition = &table.definition;
    check_widths(rows, positions.len())?;
    let mut sink = insertion.sink(session)?;
    sink.rows_in_statement(rows.len() as u64);
    for row in rows {
        sink.begin_row();
        for (expr, position) in row.iter().zip(positions) {
            if is_default(expr) {
                sink.set_default(*position)?;
                continue;
            }
            if !session.options().sql_mode.is_strict()
                && ignore_generated(session, definition, *position)
            {
                continue;
            }
            refuse_generated(definition, *position)?;
            let is_number = definition.columns[*position].ty.is_numeric();
            let target = (target, rows.len() == 1);
            let (value, ty) = value_of(session, expr, is_number, target, &sink, parameters)?;
            sink.set(*position, &value, &ty)?;
        }
        sink.end_row()?;
    }
    sink.finish_returning()
}

/// The value of an expression of VALUES. It may name columns that the same row set before. For a
/// column of numbers `x'41'` is a number.
fn value_of(
    session: &Session,
    expr: &Expr,
    is_number: bool,
    (target, alone): (&RowTarget, bool),
    sink: &RowSink<'_>,
    parameters: &[(Value, SqlType)],
) -> Result<(Value, SqlType)> {
    if let Some(literal) = expressions::plain_literal(session, expr) {
        return Ok(literal);
    }
    if let Some(value) = plain_parameter(expr, parameters) {
        return Ok(value);
    }
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let no_columns = ScalarNames {
        target: Some(ChangedTable {
            alone,
            ..target.changed()
        }),
        ..ScalarNames::default()
    };
    match expressions::bind_in(session, expr, no_columns, types.clone()) {
        Ok(mut bound) => {
            if is_number {
                bound.expression = mayfly_plan::as_number(bound.expression);
            }
            bound.scalar(&expressions::one_row(), &values)
        }
        Err(error) if error.is(&codes::ER_BAD_FIELD_ERROR) => {
            let columns = columns_of(session, &target.names);
            let names = ScalarNames {
                columns: &columns,
                ..no_columns
            };
            let bound = expressions::bind_in(session, expr, names, types)?;
            bound.scalar(&sink.current_row(), &values)
        }
        Err(error) => Err(error),
    }
}

/// The value of a `?`, which needs no binding.
fn plain_parameter(expr: &Expr, parameters: &[(Value, SqlType)]) -> Option<(Value, SqlType)> {
    parameters.get(parameter_index(expr)?).cloned()
}

/// Which `?` an expression is, if it is one.
pub(super) fn parameter_index(expr: &Expr) -> Option<usize> {
    let Expr::Value(value) = expr else {
        return None;
    };
    let mayfly_syntax::ast::Value::Placeholder(text) = &value.value else {
        return None;
    };
    let number: usize = text.get(1..)?.parse().ok()?;
    number.checked_sub(1)
}

/// What IGNORE makes of an error: a warning.
pub(super) fn warn(session: &Session, error: mayfly_types::Error) {
    session.diagnostics().push(Level::Warning, error);
}
