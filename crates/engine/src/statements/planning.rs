//! Planned statements: queries, and statements that change rows. One function makes plans ([`plan`]): to run the
//! statement, to explain it, or to describe its result to a client.

use std::sync::Arc;

use mayfly_plan::PlanOptions;
use mayfly_syntax::ast::Statement;
use mayfly_types::{Error, Result, SqlType, Stage, Value};

use super::plan_validity::ReadyPlan;
use super::planned::Planned;
use super::select;
use super::{change, insert, locking_read, logging, offload, point, returning};
use crate::binding::session_catalog::SessionCatalog;
use crate::cached_plan::{CachedPlan, ExecutablePlan, PlanDependencies};
use crate::catalog::stored_functions::FunctionUse;
use crate::prepared::{PlanSlot, Prepared};
use crate::result::{Outcome, ResultColumn};
use crate::session::StatementContext;
use crate::status::Counter;

/// Runs a statement whose cached plan reads or changes one row, unless its parameters need the generic path.
pub(super) fn run_point(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
    parameters: &[(Value, SqlType)],
) -> Result<Option<Outcome>> {
    // Every statement begins here, whether it is a point statement or not.
    context.database().end_due();
    let Some(plan) = prepared.plan().and_then(PlanSlot::look) else {
        return Ok(None);
    };
    if context.wants_explain() || context.trace.is_some() {
        return Ok(None);
    }
    match plan.point_for(context, parameters) {
        Some(point) => {
            context.stages().enter(stage_of(prepared.statement()));
            point.run(context, parameters, |context| plan.is_in(context))
        }
        None => Ok(None),
    }
}

/// Whether the plan of a statement is good for parameters that are literals of a text.
pub(super) fn takes(
    context: &StatementContext<'_>,
    prepared: &Prepared,
    parameters: &[(Value, SqlType)],
) -> bool {
    let plan = prepared.plan().and_then(PlanSlot::look);
    plan.is_some_and(|plan| {
        let point = plan.point_for(context, parameters);
        point.is_some_and(|point| point.takes(context, parameters))
    })
}

/// The stage of a statement while its plan runs.
fn stage_of(statement: &Statement) -> Stage {
    match statement {
        Statement::Insert(_) => Stage::Update,
        Statement::Update(_) | Statement::Delete(_) => Stage::Updating,
        _ => Stage::Executing,
    }
}

/// Plans and runs a statement that has a plan.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &Arc<Statement>,
    slot: Option<&PlanSlot>,
) -> Result<Outcome> {
    match &**statement {
        Statement::Query(query) => {
            locking_read::begin(context, query)?;
            return context.sampling_types(|context| {
                run_as(context, |context| plan(context, statement, slot))
                    .map(|(outcome, _)| outcome)
            });
        }
        _ => context.read_for_change(),
    }
    run_as(context, |context| plan(context, statement, slot)).map(|(outcome, _)| outcome)
}

/// Runs a statement by the plan that `plan` makes for each attempt; also returns the last plan.
pub(super) fn run_as(
    context: &mut StatementContext<'_>,
    mut plan: impl FnMut(&mut StatementContext<'_>) -> Result<ReadyPlan>,
) -> Result<(Outcome, ReadyPlan)> {
    // Each attempt keeps the locks of the attempts before, so that the loop ends.
    loop {
        let mut ready = plan(context)?;
        if context.closes_stale_tables() {
            ready = plan(context)?;
        }
        if context.wants_explain() {
            logging::explain(context, &ready.plan);
        }
        // The target of INSERT is not among the tables that its plan reads.
        let written = matches!(&*ready.plan.statement, Statement::Insert(_));
        context.use_tables(ready.tables.stored + usize::from(written));
        context.tables = Arc::downgrade(&ready.tables);
        context.stages().enter(stage_of(&ready.plan.statement));
        context.offer_plan(Arc::clone(&ready.plan) as _);
        if let Some(outcome) = run_plan(context, &ready)? {
            return Ok((outcome, ready));
        }
        context.retry();
    }
}

/// Runs a plan; `None` when a row changed between being found and being locked.
fn run_plan(context: &mut StatementContext<'_>, ready: &ReadyPlan) -> Result<Option<Outcome>> {
    let (plan, tables) = (&*ready.plan, &ready.tables);
    match (&plan.plan, &*plan.statement) {
        (ExecutablePlan::LockingRead(locking), Statement::Query(query)) => {
            locking_read::execute(context, query, locking, (tables, &plan.columns))
        }
        (ExecutablePlan::Insert(plan), Statement::Insert(insert)) => {
            insert::execute(context, insert, plan, tables)
        }
        (ExecutablePlan::Change(plan), Statement::Update(update)) => {
            change::update(context, update, plan, tables)
        }
        (ExecutablePlan::Change(plan), Statement::Delete(delete)) => {
            change::delete(context, delete, plan, tables)
        }
        (ExecutablePlan::Query(query), _) => {
            let planned = Planned::new(query, tables);
            select::execute(context, &planned, Arc::clone(&plan.columns)).map(Some)
        }
        _ => Err(Error::internal("a statement has the plan of another one")),
    }
}

/// The plan of the running statement: the valid plan of its slot, or else a new one, which is put into the slot if it
/// does not depend on this execution.
pub(crate) fn plan(
    context: &StatementContext<'_>,
    statement: &Arc<Statement>,
    slot: Option<&PlanSlot>,
) -> Result<ReadyPlan> {
    context.stages().enter(Stage::OpeningTables);
    // A cached plan leaves nothing to trace.
    let slot = slot.filter(|_| context.trace.is_none());
    if let Some(cached) = slot.and_then(PlanSlot::get) {
        let is_offloaded = match &cached.plan {
            ExecutablePlan::Query(plan) => offload::is_wanted(context, plan),
            _ => false,
        };
        if !is_offloaded && let Some(ready) = Arc::clone(&cached).ready(context)? {
            return Ok(ready);
        }
        if !cached.is_in(context) {
            context.count(Counter::ComStmtReprepare);
        }
    }
    let parameters = context.parameters().clone();
    let catalog = SessionCatalog::new(context, &parameters.values);
    let planned = executable(context, statement, &catalog, &context.plan_options());
    let plan = catalog.explained(planned)?;
    if let (ExecutablePlan::Query(local), Statement::Query(query)) = (&plan, &**statement)
        && offload::is_wanted(context, local)
        && let Some(planned) = offload::plan(context, query)?
    {
        return Ok(offloaded(context, statement, planned));
    }
    let values = catalog.values_read();
    let is_plain = context.functions() == FunctionUse::None;
    let point = slot.filter(|_| is_plain);
    let point = point.and_then(|_| point::plan(context, statement, &plan, &catalog));
    let (tables, lasting) = catalog.into_tables();
    let is_query = matches!(**statement, Statement::Query(_));
    let rows_of = |id| tables.get(id).map_or(0, |table| table.statistics().rows);
    let lasts = lasting.is_some();
    let slot = slot.filter(|_| lasts);
    // A plan that no slot keeps is never revalidated.
    let read = lasting.iter().flatten().filter(|_| slot.is_some());
    let plan = Arc::new(CachedPlan {
        columns: columns(&plan),
        plan,
        functions: context.functions(),
        point: point.filter(|_| lasts).map(Box::new),
        dependencies: PlanDependencies {
            tables: read
                .map(|table| (Arc::downgrade(table), rows_of(table.id)))
                .collect(),
            types: Arc::clone(&parameters.types),
            values,
            catalog: context.catalog().version(),
            temporary_tables: context.session.temporary_tables.version(),
            options: Arc::clone(context.options()),
            rights: Arc::clone(context.privileges().key()),
            locks_reads: is_query.then(|| context.locks_what_it_reads()),
        },
        statement: Arc::clone(statement),
    });
    if let Some(slot) = slot {
        slot.set(Arc::clone(&plan));
    }
    Ok(ReadyPlan { plan, tables })
}

/// A plan that reads the rows of a job; no slot keeps it.
fn offloaded(
    context: &StatementContext<'_>,
    statement: &Arc<Statement>,
    planned: Planned,
) -> ReadyPlan {
    let plan = ExecutablePlan::Query(planned.plan);
    let plan = CachedPlan {
        columns: columns(&plan),
        plan,
        functions: context.functions(),
        point: None,
        dependencies: PlanDependencies {
            tables: Vec::new(),
            types: Arc::clone(&context.parameters().types),
            values: Vec::new(),
            catalog: context.catalog().version(),
            temporary_tables: context.session.temporary_tables.version(),
            options: Arc::clone(context.options()),
            rights: Arc::clone(context.privileges().key()),
            locks_reads: None,
        },
        statement: Arc::clone(statement),
    };
    ReadyPlan {
        plan: Arc::new(plan),
        tables: planned.tables,
    }
}

fn executable(
    context: &StatementContext<'_>,
    statement: &Arc<Statement>,
    catalog: &SessionCatalog<'_>,
    options: &PlanOptions,
) -> Result<ExecutablePlan> {
    Ok(match &**statement {
        Statement::Query(query) => match locking_read::plan(context, query, catalog, options)? {
            Some(locking) => ExecutablePlan::LockingRead(Box::new(locking)),
            None => {
                ExecutablePlan::Query(Arc::new(mayfly_plan::bind_query(query, catalog, options)?))
            }
        },
        Statement::Insert(insert) => {
            let plan = insert::plan(context, insert, catalog, options)?;
            ExecutablePlan::Insert(Box::new(plan))
        }
        Statement::Update(update) => {
            let plan = change::plan_update(context, update, catalog, options)?;
            ExecutablePlan::Change(Box::new(plan))
        }
        Statement::Delete(delete) => {
            let plan = change::plan_delete(context, delete, catalog, options)?;
            ExecutablePlan::Change(Box::new(plan))
        }
        _ => ExecutablePlan::Utility,
    })
}

/// The columns of the result set.
fn columns(plan: &ExecutablePlan) -> Arc<[ResultColumn]> {
    match plan {
        ExecutablePlan::Query(plan) => ResultColumn::of_plan(&plan.columns),
        ExecutablePlan::LockingRead(plan) => {
            ResultColumn::of_plan(&plan.query.columns[..plan.shown])
        }
        ExecutablePlan::Insert(plan) => returning::columns(&plan.returning),
        ExecutablePlan::Change(plan) => returning::columns(&plan.returning),
        ExecutablePlan::Utility => Arc::default(),
    }
}
