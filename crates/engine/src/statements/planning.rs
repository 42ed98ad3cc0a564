//! Makes the plan of a statement. There is one way to a plan, for whoever wants it: to run the statement, to
//! explain it, or to tell a client what it will give.

use std::sync::Arc;

use mayfly_plan::PlanOptions;
use mayfly_syntax::ast::Statement;
use mayfly_types::Result;

use super::cached_plan::{CachedPlan, ExecutablePlan, PlanDependencies, ReadyPlan};
use super::{change, insert, locking_read, point, returning};
use crate::binding::session_catalog::SessionCatalog;
use crate::prepared::PlanSlot;
use crate::result::ResultColumn;
use crate::session::StatementContext;
use crate::status::Counter;

/// The plan of the running statement: that of its slot, if one is there and good, or else a new one, which
/// goes there if it is the same each time.
pub(crate) fn plan(
    context: &StatementContext<'_>,
    statement: &Arc<Statement>,
    slot: Option<&PlanSlot>,
) -> Result<ReadyPlan> {
    if let Some(cached) = slot.and_then(PlanSlot::get::<CachedPlan>) {
        if let Some(ready) = Arc::clone(&cached).ready(context)? {
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
    let values = catalog.values_read();
    let point = point::plan(context, statement, &plan, &catalog);
    let (tables, lasting) = catalog.into_tables();
    let is_query = matches!(**statement, Statement::Query(_));
    let rows_of = |id| {
        let mut opened = tables.0.iter();
        let opened = opened.find(|(known, _)| *known == id);
        opened.map_or(0, |(_, table)| table.statistics().rows)
    };
    let lasts = lasting.is_some();
    let slot = slot.filter(|_| lasts);
    // A plan that no slot keeps is never asked whether it is still good.
    let read = lasting.iter().flatten().filter(|_| slot.is_some());
    let plan = Arc::new(CachedPlan {
        columns: columns(&plan),
        plan,
        point: point.filter(|_| lasts).map(Box::new),
        dependencies: PlanDependencies {
            tables: read
                .map(|table| (Arc::downgrade(table), rows_of(table.id)))
                .collect(),
            types: Arc::clone(&parameters.types),
            values,
            environment: context.plan_environment(),
            locks_reads: is_query.then(|| context.locks_what_it_reads()),
        },
        statement: Arc::clone(statement),
    });
    if let Some(slot) = slot {
        slot.set(Arc::clone(&plan));
    }
    Ok(ReadyPlan { plan, tables })
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

/// The columns that clients get.
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
