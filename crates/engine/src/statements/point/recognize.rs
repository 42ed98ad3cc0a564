//! Recognition of point statements, by their form and by their plans.

use std::sync::Arc;

use mayfly_plan::physical::{IndexScan, Operator, Plan, QueryPlan, StatementLimit};
use mayfly_plan::{ChangePlan, Expression, ExpressionKind, NewValue};
use mayfly_storage::IndexId;
use mayfly_syntax::ast::{
    BinaryOperator, Expr, InsertSource, InsertStatement, Query, SetExpr, Statement, TableWithJoins,
};
use mayfly_syntax::encodings::is_default;
use mayfly_types::temporal::ZoneClock;
use mayfly_types::{SqlType, TypeKind, Value};

use crate::binding::expressions;
use crate::binding::session_catalog::SessionCatalog;
use crate::cached_plan::{
    AutoNumber, ExecutablePlan, InsertPlan, Key, PointPlan, RowAccess, Source,
};
use crate::catalog::BaseTable;
use crate::catalog::definition::{ColumnDefault, TableDefinition};
use crate::locks::table::TableUse;
use crate::result::ResultColumn;
use crate::session::StatementContext;
use crate::statements::insert::parameter_index;
use crate::storing::Storing;

/// Whether a statement is of one table, and looks values up by `=` or inserts one row. The table's keys are not
/// examined.
pub(crate) fn may_be_point(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => may_be_read(query),
        Statement::Insert(insert) => {
            let is_one_row =
                matches!(&insert.source, InsertSource::Values(rows) if rows.len() == 1);
            is_one_row && !insert.replace && insert.on_duplicate_key_update.is_empty()
        }
        Statement::Update(update) => {
            update.with.is_none() && is_key_of(&update.tables, update.selection.as_ref())
        }
        Statement::Delete(delete) => {
            delete.with.is_none()
                && delete.targets.is_empty()
                && is_key_of(&delete.from, delete.selection.as_ref())
        }
        _ => false,
    }
}

fn may_be_read(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    query.with.is_none()
        && query.locks.is_empty()
        && select.group_by.keys.is_empty()
        && !select.distinct
        && select.having.is_none()
        && is_key_of(&select.from, select.selection.as_ref())
}

fn is_key_of(tables: &[TableWithJoins], selection: Option<&Expr>) -> bool {
    let is_one = matches!(tables, [only] if only.joins.is_empty());
    is_one && selection.is_some_and(asks_for_values)
}

/// Whether a condition consists of equalities only.
fn asks_for_values(condition: &Expr) -> bool {
    match condition {
        Expr::Nested(inner) => asks_for_values(inner),
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::And => asks_for_values(left) && asks_for_values(right),
            BinaryOperator::Eq => true,
            _ => false,
        },
        _ => false,
    }
}

/// The point plan of a plan, if it is of one row.
pub(crate) fn plan(
    context: &StatementContext<'_>,
    statement: &Statement,
    plan: &ExecutablePlan,
    catalog: &SessionCatalog<'_>,
) -> Option<PointPlan> {
    let tables = catalog.base_tables();
    let types = &context.parameters().types;
    match (plan, statement) {
        (ExecutablePlan::Query(query), _) => of_query(context, query, &tables),
        (ExecutablePlan::Insert(plan), Statement::Insert(insert)) => {
            of_insert(context, insert, plan, types)
        }
        (ExecutablePlan::Change(plan), Statement::Update(update)) if !update.ignore => {
            of_change(context, &plan.change, &tables, types)
        }
        (ExecutablePlan::Change(plan), Statement::Delete(delete))
            if !delete.ignore && delete.targets.is_empty() && plan.returning.is_empty() =>
        {
            of_change(context, &plan.change, &tables, types)
        }
        _ => None,
    }
}

fn of_query(
    context: &StatementContext<'_>,
    plan: &QueryPlan,
    tables: &[Arc<BaseTable>],
) -> Option<PointPlan> {
    let (access, table) = access(context, plan, tables)?;
    let scanned = |index: usize| match access.expressions {
        None => Some(index),
        Some(expressions) => match expressions.get(index)?.kind {
            ExpressionKind::Column(index) => Some(index),
            _ => None,
        },
    };
    let column = |index: usize| {
        let column = *access.scan.columns.get(scanned(index)?)?;
        (column < table.definition.columns.len()).then_some(column)
    };
    let columns: Vec<usize> = (0..plan.columns.len()).map(column).collect::<Option<_>>()?;
    table.single_rows(TableUse::Read)?;
    let read = RowAccess::Read {
        key: access.key,
        columns,
        shown: ResultColumn::of_plan(&plan.columns),
    };
    Some(PointPlan::new(table, read, access.is_of_one_row))
}

fn of_change(
    context: &StatementContext<'_>,
    plan: &ChangePlan,
    tables: &[Arc<BaseTable>],
    parameters: &[SqlType],
) -> Option<PointPlan> {
    let ([target], true) = (plan.targets.as_slice(), plan.is_safe) else {
        return None;
    };
    if target.check.is_some() {
        return None;
    }
    let (access, table) = access(context, &plan.query, tables)?;
    table.single_rows(TableUse::Write)?;
    let definition = &table.definition;
    if target.assignments.is_empty() {
        let is_direct = access.is_of_one_row && !is_referenced(context, definition, None);
        let delete = RowAccess::Delete { key: access.key };
        return Some(PointPlan::new(table, delete, is_direct));
    }
    let (mut read, mut columns, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for assignment in &target.assignments {
        let NewValue::Column(index) = assignment.value else {
            return None;
        };
        let expression = access.expressions?.get(index)?;
        let ty = &plan.query.columns.get(index)?.ty;
        let source = source_of(expression, ty)
            .or_else(|| sum_of(expression, ty, access.scan, definition, &mut read))?;
        let column = definition.columns.get(assignment.column)?;
        if columns.contains(&assignment.column)
            || column.auto_increment
            || !is_timeless(&source, parameters, &column.ty)
        {
            return None;
        }
        columns.push(assignment.column);
        sources.push(source);
    }
    let is_direct = access.is_of_one_row
        && is_plain(definition)
        && !definition.columns.iter().any(|column| column.on_update_now)
        && !refers(definition, &columns)
        && !is_referenced(context, definition, Some(&columns));
    // Whether a sum is in its type's range is known only of a row.
    if !is_direct && !read.is_empty() {
        return None;
    }
    let update = RowAccess::Update {
        key: access.key,
        read,
        columns,
        sources,
        storing: Storing::new(context.clock(), &definition.name, false),
    };
    Some(PointPlan::new(table, update, is_direct))
}

/// The plan of an INSERT of one row of plain values.
fn of_insert(
    context: &StatementContext<'_>,
    insert: &InsertStatement,
    plan: &InsertPlan,
    types: &[SqlType],
) -> Option<PointPlan> {
    let InsertSource::Values(rows) = &insert.source else {
        return None;
    };
    let [row] = rows.as_slice() else {
        return None;
    };
    let (table, positions) = (plan.table()?, &plan.positions);
    let definition = &table.definition;
    table.single_rows(TableUse::Write)?;
    if insert.ignore
        || !definition.foreign_keys.is_empty()
        || !plan.is_plain()
        || row.len() != positions.len()
        || !is_plain(definition)
    {
        return None;
    }
    let numbered = definition.auto_increment_column();
    let number = match numbered {
        Some(column) => Some(AutoNumber::new(column, &definition.columns[column])?),
        None => None,
    };
    let source = |column: usize| {
        let given = positions.iter().position(|given| *given == column);
        let given = given.map(|index| &row[index]).filter(|it| !is_default(it));
        let source = match given {
            None if numbered == Some(column) => Some(Source::Stored(Value::Null)),
            None => default_of(context, definition, column),
            Some(expr) => value_of(context, expr),
        }?;
        let is_timeless = is_timeless(&source, types, &definition.columns[column].ty);
        is_timeless.then_some(source)
    };
    let sources = (0..definition.columns.len()).map(source);
    Some(PointPlan::new(
        &table,
        RowAccess::Insert {
            sources: sources.collect::<Option<_>>()?,
            storing: Storing::new(context.clock(), &definition.name, false),
            number,
        },
        true,
    ))
}

impl PointPlan {
    fn new(table: &Arc<BaseTable>, access: RowAccess, is_direct: bool) -> Self {
        Self {
            table: Arc::downgrade(table),
            access,
            is_direct,
        }
    }
}

/// Access to rows by a key, and the expressions computed from them.
struct Access<'p> {
    scan: &'p IndexScan,
    /// `None`: the columns of the scan unchanged.
    expressions: Option<&'p [Expression]>,
    key: Key,
    is_of_one_row: bool,
}

fn access<'p, 't>(
    context: &StatementContext<'_>,
    plan: &'p QueryPlan,
    tables: &'t [Arc<BaseTable>],
) -> Option<(Access<'p>, &'t Arc<BaseTable>)> {
    let [table] = tables else {
        return None;
    };
    let is_whole =
        |limit: &StatementLimit| limit.offset == 0 && limit.count == u64::MAX && !limit.counts_all;
    // A text that is an invalid date is an error, which the generic path reports.
    if !plan.date_operands.is_empty()
        || !plan.shared.is_empty()
        || !plan.limit.as_ref().is_none_or(is_whole)
    {
        return None;
    }
    let (scan, expressions) = match &plan.root.operator {
        Operator::Project { input, expressions } => (scan_of(input)?, Some(expressions.as_slice())),
        _ => (scan_of(&plan.root)?, None),
    };
    let index = scan.table.indexes.get(scan.index)?;
    let parts = scan.ranges.as_ref()?.point()?;
    let approximate = index.parts.iter().any(|part| part.approximate);
    if scan.table.id != table.id || scan.predicate.is_some() || approximate {
        return None;
    }
    let is_utc = || ZoneClock::new(&context.options().session.time_zone).is_utc();
    let mut parts_of_index = index.parts.iter();
    if parts_of_index.any(|part| table.timestamps.contains(&part.column)) && !is_utc() {
        return None;
    }
    let parts = parts.iter().map(|part| source_of(part, &part.ty));
    let key = Key {
        index: IndexId(index.id?),
        parts: parts.collect::<Option<_>>()?,
    };
    let access = Access {
        scan,
        expressions,
        is_of_one_row: index.unique && key.parts.len() == index.parts.len(),
        key,
    };
    Some((access, table))
}

fn scan_of(plan: &Plan) -> Option<&IndexScan> {
    match &plan.operator {
        Operator::IndexScan(scan) => Some(scan),
        _ => None,
    }
}

/// The source of an expression's value: a parameter or a literal.
fn source_of(expression: &Expression, ty: &SqlType) -> Option<Source> {
    match &expression.kind {
        ExpressionKind::Parameter(index) => Some(Source::Parameter(*index)),
        ExpressionKind::Literal(value) if ty.kind != TypeKind::Boolean => {
            Some(Source::Literal(value.clone(), ty.clone()))
        }
        _ => None,
    }
}

/// The source of a column of whole numbers plus or minus another number. Its columns are added to `read`.
fn sum_of(
    expression: &Expression,
    ty: &SqlType,
    scan: &IndexScan,
    definition: &TableDefinition,
    read: &mut Vec<usize>,
) -> Option<Source> {
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &expression.kind
    else {
        return None;
    };
    let subtracts = match function.built_in()?.names() {
        ["+"] => false,
        ["-"] => true,
        _ => return None,
    };
    let [column, other] = arguments.as_slice() else {
        return None;
    };
    let ExpressionKind::Column(index) = column.kind else {
        return None;
    };
    let column = *scan.columns.get(index)?;
    let is_whole = |ty: &SqlType| ty.is_integer();
    if !is_whole(&definition.columns.get(column)?.ty) || !is_whole(&other.ty) || !is_whole(ty) {
        return None;
    }
    let other = Box::new(source_of(other, &other.ty)?);
    let known = read.iter().position(|known| *known == column);
    let old = known.unwrap_or_else(|| {
        read.push(column);
        read.len() - 1
    });
    Some(Source::Sum {
        old,
        subtracts,
        other,
        ty: ty.clone(),
    })
}

fn value_of(context: &StatementContext<'_>, expr: &Expr) -> Option<Source> {
    match expressions::plain_literal(context.options().session.collation_connection, expr) {
        Some((value, ty)) => Some(Source::Literal(value, ty)),
        None => parameter_index(expr).map(Source::Parameter),
    }
}

/// The default of an omitted column, if it is the same for every row.
fn default_of(
    context: &StatementContext<'_>,
    definition: &TableDefinition,
    column: usize,
) -> Option<Source> {
    let column = &definition.columns[column];
    match &column.default {
        ColumnDefault::Value(_) => {
            let value = column.default_value(&context.options().session.time_zone);
            Some(Source::Stored(value.unwrap_or(Value::Null)))
        }
        ColumnDefault::Null => Some(Source::Stored(Value::Null)),
        ColumnDefault::Now => Some(Source::Now),
        ColumnDefault::None if column.nullable => Some(Source::Stored(Value::Null)),
        _ => None,
    }
}

/// Whether rows are stored as given: nothing is computed or checked.
fn is_plain(definition: &TableDefinition) -> bool {
    let (mut checks, mut columns) = (definition.checks.iter(), definition.columns.iter());
    !checks.any(|check| check.enforced) && !columns.any(|column| column.generated.is_some())
}

/// Whether the table has a foreign key on one of these columns.
fn refers(definition: &TableDefinition, columns: &[usize]) -> bool {
    let mut keys = definition.foreign_keys.iter();
    keys.any(|key| {
        let positions = definition.column_positions(&key.columns);
        positions.is_none_or(|positions| positions.iter().any(|it| columns.contains(it)))
    })
}

/// Whether rows of other tables may refer to these columns of the table, or to any column.
fn is_referenced(
    context: &StatementContext<'_>,
    definition: &TableDefinition,
    columns: Option<&[usize]>,
) -> bool {
    let catalog = context.catalog().databases();
    let mut children = catalog.children_of(definition).iter();
    children.any(|(child, key)| {
        let referenced = &child.definition.foreign_keys[*key].references.columns;
        let positions = definition.column_positions(referenced);
        match (columns, positions) {
            (Some(columns), Some(positions)) => positions.iter().any(|it| columns.contains(it)),
            _ => true,
        }
    })
}

/// Whether a value's conversion to its column's type is independent of the clock: a TIME as a date is of the
/// statement's day.
fn is_timeless(source: &Source, parameters: &[SqlType], column: &SqlType) -> bool {
    let from = match source {
        Source::Stored(_) | Source::Now => return true,
        Source::Literal(_, ty) | Source::Sum { ty, .. } => Some(ty),
        Source::Parameter(index) => parameters.get(*index),
    };
    let is_day = matches!(
        column.kind,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp
    );
    from.is_some_and(|from| !is_day || from.kind == column.kind || from.is_string())
}
