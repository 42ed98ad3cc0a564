//! Statements that the secondary engine computes: whether a SELECT is offloaded, and its plan then.
//!
//! A query is planned as always; if it costs enough, it is planned once more as if its tables had no indexes, and that plan
//! is distributed (`mayfly_offload::distribute`). The rest of the plan reads the rows of the job. MySQL prepares a
//! statement for a secondary engine a second time, too (the manual, "secondary_engine_cost_threshold").

use std::sync::Arc;

use mayfly_exec::RunContext;
use mayfly_offload::distribute::{Copies, distribute, settle};
use mayfly_offload::{CopyPart, JobSettings, Refused, TableCopy};
use mayfly_plan::explain::examined_rows;
use mayfly_plan::physical::QueryPlan;
use mayfly_plan::{TableId, TableSource};
use mayfly_syntax::VariableUse;
use mayfly_syntax::ast::Query;
use mayfly_types::convert::array_value;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result};

use crate::binding::session_catalog::SessionCatalog;
use crate::catalog::BaseTable;
use crate::secondary::SecondaryEngine;
use crate::secondary::copies::LoadedCopy;
use crate::secondary::jobs::JobTable;
use crate::secondary::loading::LoadCause;
use crate::session::{StatementContext, StatementTables};
use crate::statement_options::SecondaryEngineUse;
use crate::statements::planned::{OffloadedPart, Planned};

/// Table by which the rest of a plan names the rows of its job.
const JOB: TableId = TableId(u64::MAX);

/// Cost of a row that is examined, as of MySQL's `row_evaluate_cost`.
const ROW_COST: f64 = 0.1;

/// Cost of a plan.
pub(crate) fn cost(plan: &QueryPlan) -> f64 {
    examined_rows(plan) * ROW_COST
}

/// Tells EXPLAIN why a statement stays here.
fn note(context: &StatementContext<'_>, reason: &str) {
    if context.explains {
        let text = format!("Not offloaded to the secondary engine: {reason}");
        context.note(codes::ER_YES.with(&[&text]));
    }
}

/// Whether a statement with this plan is to be offloaded, as far as its cost and the session's settings tell.
pub(super) fn is_wanted(context: &StatementContext<'_>, plan: &QueryPlan) -> bool {
    let how = context.options().use_secondary_engine;
    // Without an engine, MySQL too refuses what is forced.
    let is_possible =
        context.database().any_secondary_engine().is_some() || how == SecondaryEngineUse::Forced;
    // Variables are set in the order of rows.
    let sets_variables = context.variables != VariableUse::NotSet;
    if plan.tables.is_empty() || sets_variables || !is_possible {
        return false;
    }
    match how {
        SecondaryEngineUse::Off => false,
        _ if context.database().options.offloads_all => true,
        SecondaryEngineUse::On => {
            let threshold = context.options().secondary_engine_cost_threshold;
            let costs_enough = cost(plan) > threshold;
            if !costs_enough && is_for_any(context, plan) {
                let reason = format!(
                    "its cost of {:.0} is not above secondary_engine_cost_threshold, {threshold}",
                    cost(plan)
                );
                note(context, &reason);
            }
            costs_enough && is_for_any(context, plan)
        }
        SecondaryEngineUse::Forced => true,
    }
}

/// Whether a table of the plan has been loaded into the secondary engine, or may be of files.
fn is_for_any(context: &StatementContext<'_>, plan: &QueryPlan) -> bool {
    plan.tables.iter().any(|source| {
        let table = context.find_table(&source.database, &source.name);
        let is_loaded = table.is_some_and(|table| table.copy.is_used());
        is_loaded || source.scans.is_some()
    })
}

/// Plans a query for the secondary engine. `None` where it stays here.
///
/// # Errors
/// 3889 with `use_secondary_engine = FORCED` for a query that is not offloaded, with the reason.
pub(super) fn plan(context: &StatementContext<'_>, query: &Query) -> Result<Option<Planned>> {
    match offloaded(context, query)? {
        Ok(offloaded) => Ok(Some(offloaded)),
        Err(refused) => stays_here(context, &refused.0).map(|()| None),
    }
}

/// Tells why a statement is not offloaded.
///
/// # Errors
/// 3889 with `use_secondary_engine = FORCED`, with the reason.
pub(super) fn stays_here(context: &StatementContext<'_>, reason: &str) -> Result<()> {
    if context.options().use_secondary_engine == SecondaryEngineUse::Forced {
        let reason = format!("Reason: \"{reason}\".");
        return Err(codes::ER_SECONDARY_ENGINE.with(&[&reason]));
    }
    note(context, reason);
    Ok(())
}

/// The plan of an offloaded query, or the reason why it stays here.
///
/// # Errors
/// Those of planning.
pub(super) fn offloaded(
    context: &StatementContext<'_>,
    query: &Query,
) -> Result<Result<Planned, Refused>> {
    let Some(engine) = context.database().any_secondary_engine() else {
        return without_engine(context, query).map(Err);
    };
    let parameters = context.parameters();
    let catalog = SessionCatalog::new(context, &parameters.values);
    let catalog = catalog.for_secondary_engine(engine.name());
    let options = context.plan_options();
    let mut plan = catalog.explained(mayfly_plan::bind_query(query, &catalog, &options))?;
    settle_values(context, &mut plan)?;
    let copies = match StatementCopies::of(context, &catalog, &engine)? {
        Ok(copies) => copies,
        Err(refused) => return Ok(Err(refused)),
    };
    let settings = settings(context, &plan);
    let distributed = distribute(&plan, &copies, engine.partitions(), &settings, JOB);
    let distributed = match distributed {
        Ok(distributed) => distributed,
        Err(refused) => return Ok(Err(refused)),
    };
    if !context.explains {
        let now = context.now();
        for table in catalog.base_tables().iter() {
            table.copy.note_query(now);
        }
    }
    let temp = context.temp_table_context().clone();
    let diagnostics = Arc::clone(context.diagnostics());
    let copies = copies.copies;
    let shown = context
        .explains
        .then(|| Arc::new(distributed.shown(engine.partitions())));
    let job = Arc::new(JobTable::new(
        engine,
        distributed.job,
        copies,
        temp,
        diagnostics,
    ));
    let (tables, _) = catalog.into_tables();
    let mut all = tables.tables.clone();
    all.push((JOB, Arc::clone(&job) as _));
    let tables = Arc::new(StatementTables {
        stored: tables.stored,
        tables: all,
    });
    Ok(Ok(Planned {
        plan: Arc::new(distributed.rest),
        tables,
        offloaded: shown.map(|shown| OffloadedPart { shown, job }),
    }))
}

/// Computes what depends on the session alone.
fn settle_values(context: &StatementContext<'_>, plan: &mut QueryPlan) -> Result<()> {
    let execution = context.execution_context(Arc::<StatementTables>::default());
    let values = Arc::clone(&context.parameters().values);
    let run = RunContext::for_expressions(execution, &values);
    settle(plan, values.len(), &mut |expression| {
        let computed = mayfly_exec::evaluate(expression, &Batch::new(Vec::new(), 1), &run)?;
        Ok(array_value(&computed, 0))
    })
}

/// The reason why a query stays here where no secondary engine is plugged in, in MySQL's words.
fn without_engine(context: &StatementContext<'_>, query: &Query) -> Result<Refused> {
    let parameters = context.parameters();
    let catalog = SessionCatalog::new(context, &parameters.values);
    let plan = catalog.explained(mayfly_plan::bind_query(
        query,
        &catalog,
        &context.plan_options(),
    ))?;
    let known = catalog.base_tables();
    let is_defined = |table: &&Arc<TableSource>| {
        let mut known = known.iter();
        let found = known.find(|known| known.id == table.id);
        found.is_some_and(|table| table.definition.secondary_engine().is_some())
    };
    let undefined = plan.tables.iter().find(|table| !is_defined(table));
    Ok(match undefined {
        Some(table) => undefined_engine(&table.database, &table.name),
        None => Refused("All plans were rejected by the secondary storage engine".to_owned()),
    })
}

/// MySQL's reason for a table whose definition names no secondary engine.
fn undefined_engine(database: &str, table: &str) -> Refused {
    Refused(format!(
        "You have not defined the secondary engine for at least one of the query tables [{database}.{table}]."
    ))
}

/// Settings of the statement, as its expressions read them.
fn settings(context: &StatementContext<'_>, plan: &QueryPlan) -> JobSettings {
    let (conditions_max, notes) = context.diagnostics().limits();
    JobSettings {
        session: context.options().session.as_ref().clone(),
        now_utc_microseconds: context.now(),
        parameters: context.parameters().values.to_vec(),
        operator_count: plan.operator_count,
        parameter_count: plan.parameter_count,
        conditions_max,
        notes,
        refusal: context.diagnostics().refusal(),
    }
}

/// The copies of a statement's tables.
struct StatementCopies {
    copies: Vec<Arc<LoadedCopy>>,
    tables: Vec<CopiedTable>,
}

/// A table, its copy, and the column of the copy for each of its columns.
type CopiedTable = (TableId, TableCopy, Vec<Option<usize>>);

impl StatementCopies {
    /// The copies of all tables that were looked up, or the reason why one has none that the statement may read.
    fn of(
        context: &StatementContext<'_>,
        catalog: &SessionCatalog<'_>,
        engine: &Arc<dyn SecondaryEngine>,
    ) -> Result<Result<Self, Refused>> {
        let mut copies = Vec::new();
        let mut tables = Vec::new();
        for table in catalog.base_tables().iter() {
            let name = format!("{}.{}", table.definition.database, table.definition.name);
            let columns = &table.definition.columns;
            if let Some(of_files) = of_files(table, engine) {
                tables.push(of_files);
                continue;
            }
            let is_undefined = table.definition.secondary_engine().is_none();
            if is_undefined && !context.database().options.offloads_all {
                let definition = &table.definition;
                let refused = undefined_engine(&definition.database, &definition.name);
                return Ok(Err(refused));
            }
            let copy = match copy_of(context, table, engine)? {
                Ok(copy) => copy,
                Err(what) => return Ok(Err(Refused(format!("table {name} {what}")))),
            };
            let reader = catalog.opened(table.id).map(|table| table.state());
            let serves = reader.is_some_and(|state| copy.serves(&state));
            if !serves && !context.options().reads_stale_copies {
                return Ok(Err(Refused(format!(
                    "table {name} has changed since it was loaded"
                ))));
            }
            let place = |column| copy.columns.iter().position(|own| *own == column);
            let places = (0..columns.len()).map(place).collect();
            let types = copy
                .columns
                .iter()
                .map(|column| columns[*column].ty.clone());
            let parts = copy.parts.iter().map(|part| CopyPart {
                location: part.stored.location.clone(),
                rows: part.stored.rows,
            });
            let of_job = TableCopy {
                table: name,
                parts: parts.collect(),
                call: None,
                types: types.collect(),
            };
            tables.push((table.id, of_job, places));
            copies.push(copy);
        }
        for table in catalog.calls().iter() {
            let Some(of_files) = of_files(table, engine) else {
                let name = &table.definition.name;
                let reason = format!("the members of the engine do not read the files of {name}");
                return Ok(Err(Refused(reason)));
            };
            tables.push(of_files);
        }
        if tables.is_empty() {
            return Ok(Err(Refused("it reads no base table".to_owned())));
        }
        Ok(Ok(Self { copies, tables }))
    }
}

/// A table of files that members of the engine read by themselves.
fn of_files(table: &BaseTable, engine: &Arc<dyn SecondaryEngine>) -> Option<CopiedTable> {
    let call = engine.call(table.call()?)?;
    let columns = &table.definition.columns;
    let copy = TableCopy {
        table: table.definition.name.clone(),
        parts: Vec::new(),
        call: Some(call),
        types: columns.iter().map(|column| column.ty.clone()).collect(),
    };
    Some((table.id, copy, (0..columns.len()).map(Some).collect()))
}

/// The copy of a table, or the reason why it has none.
fn copy_of(
    context: &StatementContext<'_>,
    table: &BaseTable,
    engine: &Arc<dyn SecondaryEngine>,
) -> Result<Result<Arc<LoadedCopy>, &'static str>> {
    let database = context.database();
    if database.options.offloads_all {
        if table.definition.is_temporary() || table.durable().is_none() {
            return Ok(Err("is in no durable store"));
        }
        let interrupt = context.temp_table_context().interrupt();
        let loaded = database.load_copy(table, engine, interrupt, LoadCause::Refresh)?;
        return Ok(loaded.ok_or("has changed its definition"));
    }
    let is_named = |own: &str| own.eq_ignore_ascii_case(engine.name());
    if !table.definition.secondary_engine().is_some_and(is_named) {
        return Ok(Err("has another SECONDARY_ENGINE"));
    }
    let copy = table.copy.copy();
    let is_stale = copy.as_ref().is_none_or(|copy| !copy.is_fresh());
    let is_forced = context.options().use_secondary_engine == SecondaryEngineUse::Forced;
    if is_forced && is_stale && table.copy.is_used() {
        // The copy has the rows of the statement's snapshot unless the table changes right now.
        let interrupt = context.temp_table_context().interrupt();
        let loaded = database.load_copy(table, engine, interrupt, LoadCause::Refresh)?;
        return Ok(loaded.ok_or("has changed its definition"));
    }
    Ok(copy.ok_or("is not loaded"))
}

impl Copies for StatementCopies {
    fn copy(&self, table: &TableSource) -> Result<(TableCopy, Vec<Option<usize>>), Refused> {
        let mut tables = self.tables.iter();
        let found = tables.find(|(id, ..)| *id == table.id);
        let missing = || Refused(format!("table {} is not a base table", table.name));
        let (_, copy, places) = found.ok_or_else(missing)?;
        Ok((copy.clone(), places.clone()))
    }
}
