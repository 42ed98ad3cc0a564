//! SELECT, TABLE and VALUES.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_exec::StatementContext;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::{Query, SelectItem, SetExpr};
use mayfly_syntax::encodings::{Variable, variable};
use mayfly_types::{Batch, Result, SqlType, Value};

use super::hints;
use crate::catalog::session_catalog::SessionCatalog;
use crate::result::{Outcome, ResultColumn};
use crate::session::{Session, StatementTables};
use crate::status::Counter;

/// A query that is ready to run.
pub(crate) struct Planned {
    pub(crate) plan: Arc<QueryPlan>,
    pub(crate) tables: Arc<StatementTables>,
}

/// Plans a query. `parameters` are the types of its `?`, and `values` their values.
pub(crate) fn plan_with(
    session: &Session,
    query: &Query,
    parameters: &[SqlType],
    values: &[Value],
) -> Result<Planned> {
    let catalog = SessionCatalog::new(session);
    let plan = if parameters.is_empty() {
        mayfly_plan::bind_query(query, &catalog, &session.options().plan)?
    } else {
        let mut options = session.options().plan.clone();
        options.parameters = parameters.to_vec();
        options.parameter_values = values.to_vec();
        mayfly_plan::bind_query(query, &catalog, &options)?
    };
    Ok(Planned {
        plan: Arc::new(plan),
        tables: catalog.into_tables(),
    })
}

/// Plans a query without `?`.
pub(crate) fn plan(session: &Session, query: &Query) -> Result<Planned> {
    plan_with(session, query, &[], &[])
}

/// Runs a query; its rows are read by whoever gets the outcome. `parameters` are the values of its
/// `?`.
pub(crate) fn run(
    session: &mut Session,
    query: &Query,
    parameters: &[(Value, SqlType)],
) -> Result<Outcome> {
    super::count(session, Counter::ComSelect);
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let replaced = hints::apply(session, query);
    let outcome = plan_with(session, query, &types, &values)
        .and_then(|planned| start(session, &planned, &values));
    replaced.restore(session);
    outcome
}

/// Starts a planned query.
pub(crate) fn start(session: &Session, planned: &Planned, values: &[Value]) -> Result<Outcome> {
    let tables = Arc::clone(&planned.tables);
    let context = session.statement_context(tables);
    let rows = mayfly_exec::execute(&planned.plan, &context, values)?;
    Ok(Outcome::Rows {
        columns: planned
            .plan
            .columns
            .iter()
            .map(ResultColumn::from_plan)
            .collect(),
        rows,
        context,
    })
}

/// The batches of a query that another statement reads. [`Reading::finish`] must be called, also
/// after an error, so that what it did is counted.
pub(crate) struct Reading {
    rows: Option<mayfly_exec::ResultStream>,
    context: Arc<StatementContext>,
}

impl Reading {
    /// Starts a planned query.
    pub(crate) fn start(session: &Session, planned: &Planned, values: &[Value]) -> Result<Self> {
        let context = session.statement_context(Arc::clone(&planned.tables) as _);
        let rows = mayfly_exec::execute(&planned.plan, &context, values)?;
        Ok(Self {
            rows: Some(rows),
            context,
        })
    }

    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match &mut self.rows {
            Some(rows) => rows.next_batch(),
            None => Ok(None),
        }
    }

    /// How many rows FOUND_ROWS() counts so far.
    pub(crate) fn found_rows(&self) -> u64 {
        self.context.counters.found_rows.load(Ordering::Relaxed)
    }

    /// Frees what the query holds and counts what it did.
    pub(crate) fn finish(mut self, session: &mut Session) {
        self.rows = None;
        session.account(&self.context);
    }
}

/// Whether a query reads the diagnostics of the statement before: `SELECT @@warning_count`.
pub(crate) fn reads_diagnostics(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else {
        return false;
    };
    if !select.from.is_empty() {
        return false;
    }
    select.projection.iter().any(|item| {
        let expr = match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr,
            _ => return false,
        };
        matches!(variable(expr), Some(Variable::System { name, .. })
            if name.eq_ignore_ascii_case("warning_count") || name.eq_ignore_ascii_case("error_count"))
    })
}
