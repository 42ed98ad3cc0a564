//! SELECT, TABLE and VALUES.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_exec::ExecutionContext;
use mayfly_plan::TableId;
use mayfly_plan::physical::{OutputColumn, QueryPlan};
use mayfly_syntax::ast::Query;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, SqlType};

use crate::binding::session_catalog::SessionCatalog;
use crate::catalog::table_functions::TypeSampling;
use crate::error::refuse;
use crate::result::{Outcome, ResultColumn};
use crate::session::{StatementContext, StatementTables};
use crate::statements::offload;
use crate::statements::planned::Planned;

/// Plans a query that is a part of the running statement and may contain its `?`. A secondary engine may compute a part
/// of it.
pub(crate) fn plan(context: &StatementContext<'_>, query: &Query) -> Result<Planned> {
    let planned = plan_here(context, query)?;
    if !offload::is_wanted(context, &planned.plan) {
        return Ok(planned);
    }
    let explanation = context.explanation.take();
    let offloaded = offload::plan(context, query)?;
    if offloaded.is_none() {
        context.explanation.replace(explanation);
    }
    Ok(offloaded.unwrap_or(planned))
}

/// Plans a query that this process computes.
pub(crate) fn plan_here(context: &StatementContext<'_>, query: &Query) -> Result<Planned> {
    let parameters = context.parameters();
    let catalog = SessionCatalog::new(context, &parameters.values);
    let options = context.plan_options();
    let plan = catalog.explained(mayfly_plan::bind_query(query, &catalog, &options))?;
    let tables = catalog.into_tables().0;
    Ok(Planned::new(&Arc::new(plan), &tables))
}

/// Plans a query that is only to be described.
pub(super) fn plan_described(context: &StatementContext<'_>, query: &Query) -> Result<QueryPlan> {
    let catalog = SessionCatalog::describing(context);
    mayfly_plan::bind_query(query, &catalog, &context.plan_options())
}

/// Plans a query that is only to be described, without privilege checks.
pub(super) fn plan_trusted_description(
    context: &StatementContext<'_>,
    query: &Query,
) -> Result<QueryPlan> {
    let catalog = SessionCatalog::describing(context).trusted();
    mayfly_plan::bind_query(query, &catalog, &context.options().plan)
}

/// Plans a query of the engine itself, without privilege checks.
pub(crate) fn plan_trusted(context: &StatementContext<'_>, query: &Query) -> Result<Planned> {
    let catalog = SessionCatalog::trusting(context);
    let plan = mayfly_plan::bind_query(query, &catalog, &context.options().plan)?;
    let tables = catalog.into_tables().0;
    Ok(Planned::new(&Arc::new(plan), &tables))
}

/// The types of a query's columns.
pub(super) fn column_types(columns: &[OutputColumn]) -> Vec<SqlType> {
    columns.iter().map(|column| column.ty.clone()).collect()
}

/// Starts a planned query, whose rows are read from the outcome.
pub(super) fn execute(
    context: &mut StatementContext<'_>,
    planned: &Planned,
    columns: Arc<[ResultColumn]>,
) -> Result<Outcome> {
    refuse_large(context, planned)?;
    context.refuse_sampled_types_of_functions()?;
    let mut reading = Reading::start(context, planned)?;
    reading.give_in_any_order();
    if context.sampling.was_used() {
        let rows = &mut reading.rows;
        let is_proven = context.lending(|| rows.read_ahead(ROWS_AHEAD));
        refuse(!is_proven?, TypeSampling::refuted)?;
    }
    let Reading {
        rows, execution, ..
    } = reading;
    Ok(Outcome::Rows {
        columns,
        rows: Box::new(rows),
        execution,
    })
}

/// Most rows that are read ahead to prove sampled types.
const ROWS_AHEAD: usize = 4096;

/// 1104 for a query that probably examines more rows than `max_join_size`.
fn refuse_large(context: &StatementContext<'_>, planned: &Planned) -> Result<()> {
    let Some(most) = context.options().examined_rows_max else {
        return Ok(());
    };
    refuse(
        mayfly_plan::explain::examined_rows(&planned.plan) > most as f64,
        || codes::ER_TOO_BIG_SELECT.error(),
    )
}

/// Runs a query whose rows another statement reads. Its counters are added up, also after an error.
pub(super) fn read<T>(
    context: &mut StatementContext<'_>,
    planned: &Planned,
    read: impl FnOnce(&mut StatementContext<'_>, &mut Reading) -> Result<T>,
) -> Result<T> {
    context.refuse_sampled_types_of_functions()?;
    let mut reading = Reading::start(context, planned)?;
    let done = read(context, &mut reading);
    let Reading {
        rows, execution, ..
    } = reading;
    drop(rows);
    context.account(&execution);
    done
}

/// A query whose rows another statement reads.
pub(super) struct Reading {
    rows: mayfly_exec::ResultStream,
    tables: Arc<StatementTables>,
    /// The execution context that the query's operators share.
    pub(super) execution: Arc<ExecutionContext>,
}

impl Reading {
    /// Starts a planned query without counting its work.
    pub(super) fn start(context: &mut StatementContext<'_>, planned: &Planned) -> Result<Self> {
        context.tables = Arc::downgrade(&planned.tables);
        let execution = context.execution_context(Arc::clone(&planned.tables) as _);
        let values = Arc::clone(&context.parameters().values);
        let execute = || mayfly_exec::execute(&planned.plan, &execution, &values);
        let rows = context.lending(execute)?;
        let tables = Arc::clone(&planned.tables);
        Ok(Self {
            rows,
            tables,
            execution,
        })
    }

    /// Whether the query reads a table.
    pub(super) fn reads(&self, table: TableId) -> bool {
        self.tables.get(table).is_some()
    }

    /// Allows the rows in any order, where SQL leaves the order open.
    pub(super) fn give_in_any_order(&mut self) {
        self.rows.give_in_any_order();
    }

    /// The next rows.
    pub(super) fn next_batch(
        &mut self,
        context: &mut StatementContext<'_>,
    ) -> Result<Option<Batch>> {
        context.lending(|| self.rows.next_batch())
    }

    /// The number of rows for FOUND_ROWS() so far.
    pub(super) fn found_rows(&self) -> u64 {
        self.execution.counters.found_rows.load(Ordering::Relaxed)
    }
}
