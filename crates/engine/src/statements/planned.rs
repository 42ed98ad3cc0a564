//! Statements that have plans: queries, and those that change rows.

use std::sync::Arc;

use mayfly_syntax::ast::Statement;
use mayfly_types::{Error, Result, SqlType, Value};

use super::cached_plan::{CachedPlan, ExecutablePlan, ReadyPlan};
use super::select::{self, Planned};
use super::{change, insert, locking_read, planning};
use crate::prepared::{PlanSlot, Prepared};
use crate::result::Outcome;
use crate::session::StatementContext;

/// Runs a statement whose cached plan reads or changes one row, if nothing is unusual about its parameters.
pub(super) fn run_point(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
    parameters: &[(Value, SqlType)],
) -> Result<Option<Outcome>> {
    let Some(plan) = prepared.plan().get::<CachedPlan>() else {
        return Ok(None);
    };
    match plan.point_for(context, parameters) {
        Some(point) => point.run(context, parameters, |context| plan.is_in(context)),
        None => Ok(None),
    }
}

/// Plans and runs a statement that has a plan.
pub(super) fn run(
    context: &mut StatementContext<'_>,
    statement: &Arc<Statement>,
    slot: Option<&PlanSlot>,
) -> Result<Outcome> {
    match &**statement {
        Statement::Query(query) => locking_read::begin(context, query)?,
        _ => context.read_for_change(),
    }
    // Each attempt keeps the locks of the one before, so that it ends.
    loop {
        let ready = planning::plan(context, statement, slot)?;
        if let Some(outcome) = run_plan(context, &ready)? {
            return Ok(outcome);
        }
        context.retry();
    }
}

/// Runs a plan; `None` when what it found was changed before it could be locked.
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
