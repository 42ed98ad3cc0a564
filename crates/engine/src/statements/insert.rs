//! INSERT: VALUES, SET and queries as sources of rows. How rows enter a table is in
//! [`row_sink`](super::row_sink).

use std::sync::Arc;

use mayfly_exec::ExecutionContext;
use mayfly_plan::physical::QueryPlan;
use mayfly_plan::{ChangedTable, ParameterPlace, PlanOptions, ScalarNames};
use mayfly_syntax::ast::{
    Expr, GroupBy, Ident, InsertSource, InsertStatement, Query, Select, SelectItem,
    SelectModifiers, SetExpr, TableFactor, TableWithJoins,
};
use mayfly_syntax::encodings::is_default;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType};

use super::admission::Additions;
use super::offload;
use super::planned::Planned;
use super::returning;
use super::row_sink::{Insertion, RowSink, Written};
use super::row_target::{RowTarget, bind_value};
use super::select::{self, Reading, column_types};
use crate::binding::expressions::{self, Bound, columns_of};
use crate::binding::session_catalog::SessionCatalog;
use crate::cached_plan::{ComputedValue, DuplicatePlan, InsertPlan, RowSource};
use crate::catalog::BaseTable;
use crate::catalog::definition::TableDefinition;
use crate::error::refuse;
use crate::result::{Outcome, StatementResult};
use crate::session::{StatementContext, StatementTables};
use crate::statements::listed_columns::{last_part, refuse_generated};
use crate::statements::row_sink::duplicates::{DuplicateClause, NamesOfDuplicates};
use crate::statements::table_names::writable_table;

impl InsertPlan {
    /// The table that rows are added to, if it still exists.
    pub(super) fn table(&self) -> Option<Arc<BaseTable>> {
        self.table.upgrade()
    }

    /// Whether rows are added to the table as given.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.on_duplicate, DuplicatePlan::Refuse)
            && self.view.is_none()
            && self.returning.is_empty()
    }

    /// Whether it has expressions to evaluate beside those of the source query.
    fn computes(&self) -> bool {
        let computes_values =
            matches!(&self.source, RowSource::Values(computed) if !computed.is_empty());
        computes_values
            || self.view.is_some()
            || matches!(self.on_duplicate, DuplicatePlan::Update(_))
            || !self.returning.is_empty()
    }

    /// The query that is the source of the rows.
    pub(super) fn query(&self) -> Option<&Arc<QueryPlan>> {
        match &self.source {
            RowSource::Values(_) => None,
            RowSource::Query(query) => Some(query),
        }
    }
}

/// Plans the statement.
pub(super) fn plan(
    context: &StatementContext<'_>,
    insert: &InsertStatement,
    catalog: &SessionCatalog<'_>,
    options: &PlanOptions,
) -> Result<InsertPlan> {
    let planner = (catalog, options);
    let target = target(context, planner, insert)?;
    catalog.adds_rows_to(&target.table);
    let positions = target.columns(listed(insert))?;
    let returning = returning::plan(context, planner, &target.names, &insert.returning)?;
    let (source, on_duplicate) = match &insert.source {
        InsertSource::Values(rows) => {
            let clause = DuplicateClause::new(insert, &target, &positions, &[])?;
            let on_duplicate = clause.plan(context, planner, &[])?;
            check_widths(rows, positions.len(), listed(insert).is_some())?;
            let values = plan_values(context, planner, &target, &positions, rows)?;
            (RowSource::Values(values), on_duplicate)
        }
        InsertSource::Query(query) => {
            let read_table = match insert.on_duplicate_key_update.is_empty() {
                true => None,
                false => select_of_table(query),
            };
            let query = read_table.as_ref().unwrap_or(query);
            let (plan, foreign) = plan_query(insert, query, &target, planner)?;
            let types = column_types(&plan.columns);
            if types.len() != positions.len() + foreign.len() {
                return Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&1]));
            }
            for position in &positions {
                refuse_generated(&target.table.definition, *position)?;
            }
            let clause = DuplicateClause::new(insert, &target, &positions, &foreign)?;
            let on_duplicate = clause.plan(context, planner, &types[positions.len()..])?;
            (RowSource::Query(Arc::new(plan)), on_duplicate)
        }
    };
    Ok(InsertPlan {
        table: Arc::downgrade(&target.table),
        view: target.view,
        positions,
        source,
        on_duplicate,
        returning,
    })
}

/// Plans the source query; also returns the names of its extra columns.
fn plan_query(
    insert: &InsertStatement,
    query: &Query,
    target: &RowTarget,
    (catalog, options): (&SessionCatalog<'_>, &PlanOptions),
) -> Result<(QueryPlan, Vec<Expr>)> {
    let mut updates = insert.on_duplicate_key_update.iter();
    let has_groups = updates.any(|it| mayfly_plan::calls_aggregates(&it.value));
    refuse(has_groups, || codes::ER_INVALID_GROUP_FUNC_USE.error())?;
    let NamesOfDuplicates {
        own,
        foreign,
        has_subquery,
    } = DuplicateClause::names(insert, query, &target.names)?;
    for name in own {
        if gives_column(query, &name, (catalog, options)) {
            return Err(codes::ER_NON_UNIQ_ERROR.with(&[&name, &"field list"]));
        }
    }
    if let Some(extended) = extended(query, &foreign) {
        match mayfly_plan::bind_query(&extended, catalog, options) {
            Ok(plan) => return Ok((plan, foreign)),
            Err(error) if error.is(&codes::ER_NON_UNIQ_ERROR) && !has_subquery => {
                return Err(error);
            }
            // The name is none of the query: the clause itself reports the missing column.
            Err(_) => {}
        }
    }
    Ok((
        mayfly_plan::bind_query(query, catalog, options)?,
        Vec::new(),
    ))
}

/// Whether a name is a column, or a set of columns, of a query's tables that ON DUPLICATE KEY UPDATE may read: the
/// query has no groups.
fn gives_column(
    query: &Query,
    name: &Expr,
    (catalog, options): (&SessionCatalog<'_>, &PlanOptions),
) -> bool {
    let SetExpr::Select(select) = &*query.body else {
        return false;
    };
    if select.distinct
        || !select.group_by.keys.is_empty()
        || mayfly_plan::has_aggregates(&select.projection)
    {
        return false;
    }
    let asked = Query {
        body: Box::new(SetExpr::Select(Box::new(Select {
            projection: vec![SelectItem::UnnamedExpr(name.clone())],
            selection: None,
            having: None,
            named_window: Vec::new(),
            ..Select::clone(select)
        }))),
        order_by: Vec::new(),
        limit_clause: None,
        locks: Vec::new(),
        ..query.clone()
    };
    match mayfly_plan::bind_query(&asked, catalog, options) {
        Ok(_) => true,
        Err(error) => error.is(&codes::ER_NON_UNIQ_ERROR),
    }
}

/// Binds the values that are to be computed.
fn plan_values(
    context: &StatementContext<'_>,
    planner: (&SessionCatalog<'_>, &PlanOptions),
    target: &RowTarget,
    positions: &[usize],
    rows: &[Vec<Expr>],
) -> Result<Vec<ComputedValue>> {
    let collation = context.options().session.collation_connection;
    let definition = &target.table.definition;
    let no_columns = ScalarNames {
        target: Some(ChangedTable {
            alone: rows.len() == 1,
            ..target.changed()
        }),
        ..ScalarNames::default()
    };
    let mut computed = Vec::new();
    for (expr, position) in rows.iter().flat_map(|row| row.iter().zip(positions)) {
        let column = &definition.columns[*position];
        if is_default(expr) || is_ignored(context, definition, *position) {
            continue;
        }
        refuse_generated(definition, *position)?;
        if let Some(index) = parameter_index(expr) {
            context.infer_parameter(index, &column.ty, ParameterPlace::Assignment);
            continue;
        }
        if expressions::plain_literal(collation, expr).is_some() {
            continue;
        }
        let (bound, reads_row) = match bind_value(expr, no_columns, planner, &column.ty) {
            Err(error)
                if error.is(&codes::ER_BAD_FIELD_ERROR) || error.is(&codes::ER_UNKNOWN_TABLE) =>
            {
                let columns = columns_of(context, &target.names);
                let names = ScalarNames {
                    columns: &columns,
                    ..no_columns
                };
                (bind_value(expr, names, planner, &column.ty)?, true)
            }
            bound => (bound?, false),
        };
        computed.push(ComputedValue {
            expression: Arc::new(bound),
            reads_row,
        });
    }
    Ok(computed)
}

/// Runs a plan; `None` when the table has been replaced since.
pub(super) fn execute(
    context: &mut StatementContext<'_>,
    insert: &InsertStatement,
    plan: &InsertPlan,
    tables: &Arc<StatementTables>,
) -> Result<Option<Outcome>> {
    let Some(known) = plan.table() else {
        return Ok(None);
    };
    let definition = &known.definition;
    let table = writable_table(context, &definition.database, &definition.name)?;
    if table.id != known.id {
        return Ok(None);
    }
    context.target = Some(table.id);
    let first_number = std::mem::take(&mut context.session.diagnostics.insert_id);
    let parts = (insert, plan);
    let (written, batches) = match plan.query() {
        None => add_rows(context, parts, &table, tables, first_number, None)?,
        Some(query) => {
            let offloaded = offloaded_for_execution(context, insert, query)?;
            let planned = offloaded.unwrap_or_else(|| Planned::new(query, tables));
            select::read(context, &planned, |context, reading| {
                add_rows(context, parts, &table, tables, first_number, Some(reading))
            })?
        }
    };
    if let Some(first) = written.first_generated {
        context.session.diagnostics.set_last_insert_id(first);
    }
    let is_one_row = matches!(&insert.source, InsertSource::Values(rows) if rows.len() <= 1);
    let result = if is_one_row {
        written.result()
    } else {
        written.result_with_info(context)
    };
    let matched = context.session.client.counts_found_rows;
    let untouched = if matched { written.untouched } else { 0 };
    let result = StatementResult {
        columns: returning::columns(&plan.returning),
        batches,
        affected_rows: result.affected_rows + untouched,
        ..result
    };
    Ok(Some(result.into()))
}

/// The plan of a query that a secondary engine computes for the running INSERT. The rows of copies are those of a snapshot:
/// they cannot be locked until a transaction ends.
fn offloaded_for_execution(
    context: &mut StatementContext<'_>,
    insert: &InsertStatement,
    local: &QueryPlan,
) -> Result<Option<Planned>> {
    // Most statements keep the views that they have opened.
    let Some(query) = wanted_query(context, insert, local) else {
        return Ok(None);
    };
    let locks = context.locks_reads();
    if locks && context.is_in_transaction() {
        let reason = "the rows that it reads stay locked in its transaction";
        return offload::stays_here(context, reason).map(|()| None);
    }
    if locks {
        context.read_as_usual();
    }
    let planned = offload_query(context, insert, query);
    if locks {
        context.read_for_change();
    }
    planned
}

/// The plan of a query that a secondary engine computes for INSERT.
pub(super) fn offloaded(
    context: &StatementContext<'_>,
    insert: &InsertStatement,
    local: &QueryPlan,
) -> Result<Option<Planned>> {
    match wanted_query(context, insert, local) {
        Some(query) => offload_query(context, insert, query),
        None => Ok(None),
    }
}

/// The query of an INSERT that is to be offloaded; none for REPLACE, as in MySQL.
fn wanted_query<'i>(
    context: &StatementContext<'_>,
    insert: &'i InsertStatement,
    local: &QueryPlan,
) -> Option<&'i Query> {
    match &insert.source {
        InsertSource::Query(query) if !insert.replace && offload::is_wanted(context, local) => {
            Some(query)
        }
        _ => None,
    }
}

fn offload_query(
    context: &StatementContext<'_>,
    insert: &InsertStatement,
    query: &Query,
) -> Result<Option<Planned>> {
    if insert.on_duplicate_key_update.is_empty() {
        offload::plan(context, query)
    } else {
        offload::stays_here(context, "ON DUPLICATE KEY UPDATE").map(|()| None)
    }
}

/// Adds the rows of VALUES or of a query; returns the counts and the rows for RETURNING.
fn add_rows(
    context: &mut StatementContext<'_>,
    (insert, plan): (&InsertStatement, &InsertPlan),
    table: &Arc<BaseTable>,
    tables: &Arc<StatementTables>,
    first_number: u64,
    reading: Option<&mut Reading>,
) -> Result<(Written, Vec<Batch>)> {
    let parameters = Arc::clone(&context.parameters().values);
    // Most statements compute nothing.
    let new = || context.execution_context(Arc::clone(tables) as _);
    let execution = plan.computes().then(new);
    let insertion = Insertion {
        table,
        view: match (&plan.view, &execution) {
            (Some(view), Some(execution)) => Some(view.run(execution)),
            _ => None,
        },
        ignore: insert.ignore,
        positions: &plan.positions,
        on_duplicate: plan.on_duplicate.run(execution.as_ref(), &parameters)?,
        returns: !plan.returning.is_empty(),
        first_number,
    };
    let (written, rows) = match (reading, &plan.source, &insert.source) {
        (Some(reading), RowSource::Query(query), _) => {
            copy_rows(context, insertion, &column_types(&query.columns), reading)?
        }
        (_, RowSource::Values(computed), InsertSource::Values(rows)) => {
            insert_values(context, insertion, rows, (computed, execution.as_ref()))?
        }
        _ => return Err(Error::internal("a plan of another statement")),
    };
    let rows = match execution {
        Some(execution) if !plan.returning.is_empty() => {
            returning::evaluate(&plan.returning, &execution, &parameters, &rows)?
        }
        _ => Vec::new(),
    };
    Ok((written, rows))
}

/// Adds rows of VALUES.
fn insert_values(
    context: &mut StatementContext<'_>,
    insertion: Insertion<'_>,
    rows: &[Vec<Expr>],
    (computed, execution): (&[ComputedValue], Option<&Arc<ExecutionContext>>),
) -> Result<(Written, Vec<Batch>)> {
    let (table, positions) = (insertion.table, insertion.positions);
    let definition = &table.definition;
    let collation = context.options().session.collation_connection;
    let parameters = context.parameters().clone();
    let mut computed = computed.iter();
    let mut sink = RowSink::new(context, insertion)?;
    sink.rows_in_statement(rows.len() as u64);
    for row in rows {
        sink.begin_row();
        for (expr, position) in row.iter().zip(positions) {
            if is_default(expr) {
                sink.set_default(*position)?;
                continue;
            }
            if is_ignored(sink.context, definition, *position) {
                let name = &definition.columns[*position].name;
                let ignored = codes::ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
                sink.context.warn(ignored.with(&[name, &definition.name]));
                continue;
            }
            let given = parameter_index(expr).and_then(|index| parameters.get(index));
            let literal = || expressions::plain_literal(collation, expr);
            let (value, ty) = match given.or_else(literal) {
                Some(value) => value,
                None => {
                    let missing = || Error::internal("a value was not planned");
                    let (next, execution) = computed.next().zip(execution).ok_or_else(missing)?;
                    let bound = Bound::of_plan(Arc::clone(&next.expression), execution);
                    let row = if next.reads_row {
                        sink.current_row()
                    } else {
                        expressions::one_row()
                    };
                    let value = || bound.scalar(&row, &parameters.values);
                    sink.context.lending(value)?
                }
            };
            sink.set(*position, &value, &ty)?;
        }
        sink.end_row()?;
        sink.show_to_functions()?;
    }
    sink.finish_returning()
}

/// 1136 for a row of VALUES with a wrong number of values.
fn check_widths(rows: &[Vec<Expr>], columns: usize, are_listed: bool) -> Result<()> {
    // Without a list of columns `VALUES (), ()` are rows of defaults.
    let are_defaults = !are_listed && rows.first().is_some_and(Vec::is_empty);
    let width = if are_defaults { 0 } else { columns };
    match rows.iter().position(|row| row.len() != width) {
        Some(index) => Err(codes::ER_WRONG_VALUE_COUNT_ON_ROW.with(&[&(index + 1)])),
        None => Ok(()),
    }
}

/// The columns that the statement lists; `()` lists none and means all.
fn listed(insert: &InsertStatement) -> Option<&[Vec<Ident>]> {
    insert.columns.as_deref().filter(|list| !list.is_empty())
}

/// The table or view that the statement adds rows to.
pub(super) fn target(
    context: &StatementContext<'_>,
    planner: (&SessionCatalog<'_>, &PlanOptions),
    insert: &InsertStatement,
) -> Result<RowTarget> {
    let listed = listed(insert).map(|list| list.iter().map(|it| last_part(it)).collect::<Vec<_>>());
    let duplicates = insert.on_duplicate_key_update.iter();
    let updated: Vec<&str> = duplicates.map(|it| last_part(&it.column)).collect();
    let additions = Additions {
        replaces: insert.replace,
        updated: &updated,
        listed: listed.as_deref(),
        assigned: &[],
    };
    let partitions = &insert.partitions;
    RowTarget::find(context, planner, &insert.table, partitions, additions)
}

/// Whether a value for a column is ignored: one for a generated column is without strict mode, as in MariaDB, whose
/// dumps have such values.
fn is_ignored(
    context: &StatementContext<'_>,
    definition: &TableDefinition,
    position: usize,
) -> bool {
    definition.columns[position].generated.is_some()
        && !context.options().session.sql_mode.is_strict()
}

/// `TABLE t` as `SELECT * FROM t`, whose columns ON DUPLICATE KEY UPDATE may name; `None` for another query.
fn select_of_table(query: &Query) -> Option<Query> {
    let SetExpr::Table(table) = &*query.body else {
        return None;
    };
    let table = TableFactor::Table {
        name: table.to_object_name(),
        alias: None,
        partitions: Vec::new(),
        index_hints: Vec::new(),
    };
    let select = Select {
        optimizer_hints: Vec::new(),
        distinct: false,
        select_modifiers: SelectModifiers::default(),
        projection: vec![SelectItem::Wildcard],
        from: vec![TableWithJoins {
            relation: table,
            joins: Vec::new(),
        }],
        selection: None,
        group_by: GroupBy::default(),
        having: None,
        named_window: Vec::new(),
    };
    Some(Query {
        body: Box::new(SetExpr::Select(Box::new(select))),
        ..query.clone()
    })
}

/// The query with the extra columns that ON DUPLICATE KEY UPDATE reads; `None` when there are none.
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
    context: &mut StatementContext<'_>,
    insertion: Insertion<'_>,
    types: &[SqlType],
    reading: &mut Reading,
) -> Result<(Written, Vec<Batch>)> {
    if insertion.takes_any_order() && !reading.reads(insertion.table.id) {
        reading.give_in_any_order();
    }
    let mut sink = RowSink::new(context, insertion)?;
    while let Some(batch) = reading.next_batch(sink.context)? {
        sink.append(&batch, types)?;
        sink.show_to_functions()?;
    }
    sink.finish_returning()
}

/// The index of the `?` that an expression is, if it is one.
pub(super) fn parameter_index(expr: &Expr) -> Option<usize> {
    let Expr::Value(mayfly_syntax::ast::Value::Placeholder(text)) = expr else {
        return None;
    };
    let number: usize = text.get(1..)?.parse().ok()?;
    number.checked_sub(1)
}
