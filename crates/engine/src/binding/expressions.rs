//! Expressions outside of queries: values of SET and INSERT, defaults, generated columns, checks.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_exec::{ExecutionContext, RunContext};
use mayfly_functions::scalar::{self, Fact};
use mayfly_plan::{DefaultSource, Expression, PlanOptions, ScalarColumn, ScalarNames, bind_scalar};
use mayfly_syntax::ast::{
    Expr, FunctionArg, FunctionArguments, SelectItem, UnaryOperator, Value as Literal,
};
use mayfly_types::error::codes;
use mayfly_types::{
    Batch, CollationId, Error, Result, SessionParameters, SqlMode, SqlType, TypeKind, Value,
};

use crate::binding::session_catalog::SessionCatalog;
use crate::catalog::definition::{ColumnDefault, TableDefinition};
use crate::convert;
use crate::session::StatementContext;

/// A bound expression, which can be evaluated any number of times in one statement.
#[derive(Clone)]
pub(crate) struct Bound {
    /// The expression.
    expression: Arc<Expression>,
    execution: Arc<ExecutionContext>,
}

impl Bound {
    /// An expression of the statement's plan.
    pub(crate) fn of_plan(expression: Arc<Expression>, execution: &Arc<ExecutionContext>) -> Self {
        Self {
            expression,
            execution: Arc::clone(execution),
        }
    }

    /// Its values for the rows of a batch.
    pub(crate) fn evaluate(&self, batch: &Batch) -> Result<ArrayRef> {
        self.evaluate_with(batch, &[])
    }

    /// Its values for the rows of a batch. `parameters` are the values of `?`.
    pub(crate) fn evaluate_with(&self, batch: &Batch, parameters: &[Value]) -> Result<ArrayRef> {
        let run = RunContext::for_expressions(Arc::clone(&self.execution), parameters);
        mayfly_exec::evaluate(&self.expression, batch, &run)
    }

    /// Its value for a batch of one row, with its type. `parameters` are the values of `?`.
    pub(crate) fn scalar(&self, batch: &Batch, parameters: &[Value]) -> Result<(Value, SqlType)> {
        let array = self.evaluate_with(batch, parameters)?;
        let ty = match self.expression.ty.kind {
            // The value of a predicate is stored as an integer.
            TypeKind::Boolean => SqlType::bigint(),
            _ => self.expression.ty.clone(),
        };
        Ok((convert::value_at(&array, 0), ty))
    }

    /// The type of its values.
    pub(crate) fn ty(&self) -> &SqlType {
        &self.expression.ty
    }
}

/// A batch of one row without columns.
pub(crate) fn one_row() -> Batch {
    Batch::new(Vec::new(), 1)
}

/// Binds an expression over the columns of a table, by their positions.
pub(crate) fn bind(
    context: &StatementContext<'_>,
    expr: &Expr,
    columns: &[ScalarColumn<'_>],
) -> Result<Bound> {
    bind_with(context, expr, columns, &context.options().plan)
}

/// Binds the expression of a table's generated column, over the columns of the table; `None` for another column.
pub(crate) fn bind_generated(
    context: &StatementContext<'_>,
    definition: &TableDefinition,
    position: usize,
    columns: &[ScalarColumn<'_>],
) -> Option<Result<Bound>> {
    let generated = definition.columns[position].generated.as_ref()?;
    let key = definition.key_over(position);
    let names = ScalarNames {
        columns,
        key_part_of: key.map(|key| key.name.as_str()),
        ..ScalarNames::default()
    };
    let options = &context.options().plan;
    Some(bind_names(context, &generated.expression, names, options))
}

fn bind_with(
    context: &StatementContext<'_>,
    expr: &Expr,
    columns: &[ScalarColumn<'_>],
    options: &PlanOptions,
) -> Result<Bound> {
    let names = ScalarNames {
        columns,
        ..ScalarNames::default()
    };
    bind_names(context, expr, names, options)
}

fn bind_names(
    context: &StatementContext<'_>,
    expr: &Expr,
    names: ScalarNames<'_>,
    options: &PlanOptions,
) -> Result<Bound> {
    let catalog = SessionCatalog::new(context, &[]);
    let expression = bind_scalar(expr, names, &catalog, options)?;
    Ok(Bound {
        expression: Arc::new(expression),
        execution: context.execution_context(catalog.into_tables().0),
    })
}

/// The type of a key part over a table's columns, under an `sql_mode`.
pub(crate) fn key_part_type(
    context: &StatementContext<'_>,
    expr: &Expr,
    definition: &TableDefinition,
    sql_mode: SqlMode,
) -> Result<SqlType> {
    let columns = own_columns_of(context, definition);
    in_mode(context, &columns, sql_mode, |names, catalog, options| {
        let names = ScalarNames {
            key_part_of: Some(""),
            ..names
        };
        Ok(bind_scalar(expr, names, catalog, options)?.ty)
    })
}

/// Binds with columns under an `sql_mode` other than the session's.
fn in_mode<T>(
    context: &StatementContext<'_>,
    columns: &[ScalarColumn<'_>],
    sql_mode: SqlMode,
    bind: impl FnOnce(ScalarNames<'_>, &SessionCatalog<'_>, &PlanOptions) -> Result<T>,
) -> Result<T> {
    let names = ScalarNames {
        columns,
        ..ScalarNames::default()
    };
    let session = SessionParameters {
        sql_mode,
        ..SessionParameters::clone(&context.options().session)
    };
    let options = PlanOptions {
        session: Arc::new(session),
        ..context.options().plan.clone()
    };
    bind(names, &SessionCatalog::new(context, &[]), &options)
}

/// Whether an expression over a table's columns may be NULL, as for a column of a SELECT. NOT NULL columns are taken
/// as such, as is true of stored rows.
pub(crate) fn may_be_null(
    context: &StatementContext<'_>,
    expr: &Expr,
    definition: &TableDefinition,
    sql_mode: SqlMode,
) -> Result<bool> {
    let mut columns = own_columns_of(context, definition);
    for (column, stored) in columns.iter_mut().zip(&definition.columns) {
        column.nullable = stored.nullable;
    }
    let items = [SelectItem::UnnamedExpr(expr.clone())];
    in_mode(context, &columns, sql_mode, |names, catalog, options| {
        let bound = mayfly_plan::bind_returning(&items, names, catalog, options)?;
        Ok(bound.iter().any(|(column, _)| column.nullable))
    })
}

/// The columns of a table, for [`bind`]: naming one needs the privilege to read it.
pub(crate) fn columns_of<'d>(
    context: &StatementContext<'_>,
    definition: &'d TableDefinition,
) -> Vec<ScalarColumn<'d>> {
    let database = (!definition.is_temporary()).then_some(definition.database.as_str());
    columns_in(context, definition, database)
}

/// The columns of a table for expressions of its own definition, which need no privilege.
pub(crate) fn own_columns_of<'d>(
    context: &StatementContext<'_>,
    definition: &'d TableDefinition,
) -> Vec<ScalarColumn<'d>> {
    columns_in(context, definition, None)
}

fn columns_in<'d>(
    context: &StatementContext<'_>,
    definition: &'d TableDefinition,
    database: Option<&'d str>,
) -> Vec<ScalarColumn<'d>> {
    let zone = &context.options().session.time_zone;
    let columns = definition.columns.iter().map(|column| ScalarColumn {
        database,
        table: &definition.name,
        name: &column.name,
        ty: &column.ty,
        nullable: true,
        default: column.default_source(zone),
    });
    columns.collect()
}

/// A column outside of tables: its name needs no privilege, and it has no default.
pub(crate) fn value_column<'n>(table: &'n str, name: &'n str, ty: &'n SqlType) -> ScalarColumn<'n> {
    ScalarColumn {
        database: None,
        table,
        name,
        ty,
        nullable: true,
        default: DefaultSource::None,
    }
}

/// The value and type of an expression of a definition, without columns or stored functions.
pub(crate) fn evaluate_in_definition(
    context: &StatementContext<'_>,
    expr: &Expr,
) -> Result<(Value, SqlType)> {
    let bound = bind_with(context, expr, &[], &context.plan_options())?;
    bound.scalar(&one_row(), &context.parameters().values)
}

/// The value and type of an expression of a statement, without columns.
pub(crate) fn evaluate(
    context: &mut StatementContext<'_>,
    expr: &Expr,
) -> Result<(Value, SqlType)> {
    if let Some(literal) = plain_literal(context.options().session.collation_connection, expr) {
        return Ok(literal);
    }
    let catalog = SessionCatalog::new(context, &[]);
    let options = context.plan_options();
    let expression = bind_scalar(expr, ScalarNames::default(), &catalog, &options)?;
    let tables = catalog.into_tables().0;
    drop(options);
    context.tables = Arc::downgrade(&tables);
    let bound = Bound {
        expression: Arc::new(expression),
        execution: context.execution_context(tables),
    };
    let parameters = Arc::clone(&context.parameters().values);
    context.lending(|| bound.scalar(&one_row(), &parameters))
}

/// The value of a string or small integer without binding: most values of an INSERT are such.
pub(crate) fn plain_literal(collation: CollationId, expr: &Expr) -> Option<(Value, SqlType)> {
    let (negative, inner) = match expr {
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => (true, &**expr),
        other => (false, other),
    };
    let Expr::Value(value) = inner else {
        return None;
    };
    match value {
        Literal::Null if !negative => Some((Value::Null, SqlType::null())),
        Literal::SingleQuotedString(text) if !negative => Some(string_literal(collation, text)),
        Literal::Number(digits) => {
            let number: i64 = digits.parse().ok()?;
            let number = if negative { -number } else { number };
            Some(integer_literal(number))
        }
        _ => None,
    }
}

/// The value and type of a quoted string.
pub(crate) fn string_literal(collation: CollationId, text: &str) -> (Value, SqlType) {
    let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let ty = SqlType::varchar(length, collation);
    (Value::from(text), ty)
}

/// The value and type of an integer.
pub(crate) fn integer_literal(number: i64) -> (Value, SqlType) {
    (Value::Int(number), SqlType::bigint())
}

/// The fractional digits of CURRENT_TIMESTAMP in any of its spellings.
pub(crate) fn now_digits(expr: &Expr) -> Option<u8> {
    let Expr::Function(function) = expr else {
        return None;
    };
    let [name] = function.name.0.as_slice() else {
        return None;
    };
    scalar::by_name(&name.value).filter(|known| known.has(Fact::StatementTime))?;
    match &function.args {
        FunctionArguments::None => Some(0),
        FunctionArguments::List(list) => match list.args.as_slice() {
            [] => Some(0),
            [FunctionArg::Expr(Expr::Value(Literal::Number(digits)))] => digits.parse().ok(),
            _ => None,
        },
    }
}

/// Binds every expression of a definition, to find errors before any row has them.
pub(crate) fn check_definition(
    context: &StatementContext<'_>,
    definition: &TableDefinition,
) -> Result<()> {
    let columns = own_columns_of(context, definition);
    let check = |expression: &Expr, clause: &str| {
        let bound = bind(context, expression, &columns);
        bound.map(drop).map_err(|error| in_clause(error, clause))
    };
    for (position, column) in definition.columns.iter().enumerate() {
        if let Some(bound) = bind_generated(context, definition, position, &columns) {
            bound.map_err(|error| in_clause(error, "generated column function"))?;
        }
        if let ColumnDefault::Expression { expression, .. } = &column.default {
            check(expression, "default value expression")?;
        }
    }
    for check in &definition.checks {
        bind(context, &check.expression, &columns).map_err(|error| {
            match unknown_column(&error) {
                Some(column) => {
                    codes::ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN.with(&[&check.name, &column])
                }
                None => error,
            }
        })?;
    }
    Ok(())
}

/// The column that error 1054 names.
fn unknown_column(error: &Error) -> Option<&str> {
    let named = error.is(&codes::ER_BAD_FIELD_ERROR);
    named.then(|| error.message().split('\'').nth(1))?
}

/// Error 1054 with the clause of a column's definition.
pub(crate) fn in_clause(error: Error, clause: &str) -> Error {
    match unknown_column(&error) {
        Some(column) => codes::ER_BAD_FIELD_ERROR.with(&[&column, &clause]),
        None => error,
    }
}
