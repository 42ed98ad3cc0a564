//! SELECT, TABLE and VALUES.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_exec::ExecutionContext;
use mayfly_plan::physical::QueryPlan;
use mayfly_syntax::ast::Query;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result};

use crate::binding::session_catalog::SessionCatalog;
use crate::error::refuse;
use crate::result::{Outcome, ResultColumn};
use crate::session::{StatementContext, StatementTables};

/// A query that is ready to run.
pub(crate) struct Planned {
    pub(crate) plan: Arc<QueryPlan>,
    pub(crate) tables: Arc<StatementTables>,
}

impl Planned {
    /// A query whose plan is a part of another one, with the tables of that.
    pub(super) fn new(plan: &Arc<QueryPlan>, tables: &Arc<StatementTables>) -> Self {
        Self {
            plan: Arc::clone(plan),
            tables: Arc::clone(tables),
        }
    }
}

/// Plans a query that is a part of the running statement, whose `?` may be in it.
pub(crate) fn plan(context: &StatementContext<'_>, query: &Query) -> Result<Planned> {
    let parameters = context.parameters();
    let catalog = SessionCatalog::new(context, &parameters.values);
    let options = context.plan_options();
    let plan = catalog.explained(mayfly_plan::bind_query(query, &catalog, &options))?;
    Ok(Planned {
        plan: Arc::new(plan),
        tables: catalog.into_tables().0,
    })
}

/// Plans a query of the engine's own, for which nobody's rights are asked.
pub(crate) fn plan_trusted(context: &StatementContext<'_>, query: &Query) -> Result<Planned> {
    let catalog = SessionCatalog::trusting(context);
    let plan = mayfly_plan::bind_query(query, &catalog, &context.options().plan)?;
    Ok(Planned {
        plan: Arc::new(plan),
        tables: catalog.into_tables().0,
    })
}

/// Starts a planned query; its rows are read by whoever gets the outcome.
pub(super) fn execute(
    context: &StatementContext<'_>,
    planned: &Planned,
    columns: Arc<[ResultColumn]>,
) -> Result<Outcome> {
    refuse_large(context, planned)?;
    let execution = context.execution_context(Arc::clone(&planned.tables) as _);
    let values = &context.parameters().values;
    let rows = mayfly_exec::execute(&planned.plan, &execution, values)?;
    Ok(Outcome::Rows {
        columns,
        rows: Box::new(rows),
        execution,
    })
}

/// 1104 for a query that probably reads more rows than `max_join_size` says.
fn refuse_large(context: &StatementContext<'_>, planned: &Planned) -> Result<()> {
    let Some(most) = context.options().examined_rows_max else {
        return Ok(());
    };
    refuse(
        mayfly_plan::explain::examined_rows(&planned.plan) > most as f64,
        || codes::ER_TOO_BIG_SELECT.error(),
    )
}

/// The batches of a query that another statement reads. [`Reading::finish`] must be called, also
/// after an error, so that what it did is counted.
pub(crate) struct Reading {
    rows: Option<mayfly_exec::ResultStream>,
    execution: Arc<ExecutionContext>,
}

impl Reading {
    /// Starts a planned query.
    pub(crate) fn start(context: &StatementContext<'_>, planned: &Planned) -> Result<Self> {
        let execution = context.execution_context(Arc::clone(&planned.tables) as _);
        let values = &context.parameters().values;
        let rows = mayfly_exec::execute(&planned.plan, &execution, values)?;
        Ok(Self {
            rows: Some(rows),
            execution,
        })
    }

    /// The next rows.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match &mut self.rows {
            Some(rows) => rows.next_batch(),
            None => Ok(None),
        }
    }

    /// What its operators share.
    pub(crate) fn execution(&self) -> &Arc<ExecutionContext> {
        &self.execution
    }

    /// How many rows FOUND_ROWS() counts so far.
    pub(crate) fn found_rows(&self) -> u64 {
        self.execution.counters.found_rows.load(Ordering::Relaxed)
    }

    /// Frees what the query holds and counts what it did.
    pub(crate) fn finish(mut self, context: &mut StatementContext<'_>) {
        self.rows = None;
        context.account(&self.execution);
    }
}
