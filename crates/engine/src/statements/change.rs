//! UPDATE and DELETE: the rows are found by a query ([`mayfly_plan::change`]), then changed table by
//! table ([`TableChange`]).

use std::sync::Arc;

use mayfly_plan::{ChangePlan, PlanOptions};
use mayfly_storage::Table;
use mayfly_syntax::ast::{Delete, UpdateStatement};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, SqlType};

use super::planned::Planned;
use super::returning;
use super::select::{self, Reading};
use super::table_change::{ChangeOptions, Step, TableChange, lock_wait};
use super::writers::{WriterId, Writers};
use crate::binding::session_catalog::SessionCatalog;
use crate::cached_plan::ChangeStatementPlan;
use crate::catalog::BaseTable;
use crate::engines::Engine;
use crate::result::{Outcome, StatementResult};
use crate::session::{StatementContext, StatementTables};
use crate::spool::{CHANGED_LATER, Spool, SpoolBuilder, physical_types};
use crate::statements::table_names::{changeable_table, note_write};
use crate::status::Counter;
use crate::variables::typed;

/// Plans an UPDATE.
pub(super) fn plan_update(
    context: &StatementContext<'_>,
    update: &UpdateStatement,
    catalog: &SessionCatalog<'_>,
    options: &PlanOptions,
) -> Result<ChangeStatementPlan> {
    let change = mayfly_plan::bind_update(update, catalog, options)?;
    targets(context, &change)?;
    Ok(ChangeStatementPlan {
        change,
        returning: Vec::new(),
    })
}

/// Plans a DELETE.
pub(super) fn plan_delete(
    context: &StatementContext<'_>,
    delete: &Delete,
    catalog: &SessionCatalog<'_>,
    options: &PlanOptions,
) -> Result<ChangeStatementPlan> {
    let change = mayfly_plan::bind_delete(delete, catalog, options)?;
    let tables = targets(context, &change)?;
    let returning = match tables.first() {
        Some(table) => {
            let definition = &table.definition;
            returning::plan(context, (catalog, options), definition, &delete.returning)?
        }
        None => Vec::new(),
    };
    Ok(ChangeStatementPlan { change, returning })
}

/// The tables that are changed, which must be updatable.
fn targets(context: &StatementContext<'_>, plan: &ChangePlan) -> Result<Vec<Arc<BaseTable>>> {
    let tables = plan.targets.iter().map(|target| {
        let source = &target.table;
        changeable_table(context, &source.database, &source.name)
    });
    tables.collect()
}

/// Runs the plan of an UPDATE; `None` when another transaction changed a row before it was locked.
pub(super) fn update(
    context: &mut StatementContext<'_>,
    update: &UpdateStatement,
    plan: &ChangeStatementPlan,
    tables: &Arc<StatementTables>,
) -> Result<Option<Outcome>> {
    let work = Work {
        ignore: update.ignore,
        repeats: plan.change.repeats,
        deletes: false,
        is_limited: update.limit.is_some(),
        returns: false,
    };
    let Some(done) = run(context, &work, &plan.change, tables)? else {
        return Ok(None);
    };
    let updated = update_result(context, done.matched, done.changed);
    Ok(Some(updated.into()))
}

/// The result of an UPDATE, which is counted.
pub(super) fn update_result(
    context: &StatementContext<'_>,
    matched: u64,
    changed: u64,
) -> StatementResult {
    context.counters().add(Counter::HandlerUpdate, changed);
    let warnings = context.diagnostics().count();
    StatementResult {
        affected_rows: if context.session.client.counts_found_rows {
            matched
        } else {
            changed
        },
        // The usual ones of a single row need no memory.
        info: match (matched, changed, warnings) {
            (1, 0, 0) => "Rows matched: 1  Changed: 0  Warnings: 0".into(),
            (1, 1, 0) => "Rows matched: 1  Changed: 1  Warnings: 0".into(),
            _ => {
                format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}").into()
            }
        },
        ..StatementResult::default()
    }
}

/// Runs the plan of a DELETE; `None` when another transaction changed a row before it was locked.
pub(super) fn delete(
    context: &mut StatementContext<'_>,
    delete: &Delete,
    plan: &ChangeStatementPlan,
    tables: &Arc<StatementTables>,
) -> Result<Option<Outcome>> {
    let several = !delete.targets.is_empty();
    let work = Work {
        ignore: delete.ignore,
        repeats: plan.change.repeats,
        deletes: true,
        is_limited: delete.limit.is_some(),
        returns: !plan.returning.is_empty(),
    };
    let Some(done) = run(context, &work, &plan.change, tables)? else {
        return Ok(None);
    };
    context.counters().add(Counter::HandlerDelete, done.changed);
    let all = delete.selection.is_none() && delete.limit.is_none() && !several;
    if let Some(table) = done.tables.first()
        && all
        && done.changed > 0
        && table.definition.engine == Engine::Memory
    {
        // The table is still locked. A MEMORY table returns its memory only when emptied.
        table.storage(context)?.truncate()?;
    }
    let mut batches = Vec::new();
    if !plan.returning.is_empty() {
        let execution = context.execution_context(Arc::clone(tables) as _);
        let values = &context.parameters().values;
        batches = returning::evaluate(&plan.returning, &execution, values, &done.returned)?;
    }
    let result = StatementResult {
        columns: returning::columns(&plan.returning),
        batches,
        affected_rows: done.changed,
        ..StatementResult::default()
    };
    Ok(Some(result.into()))
}

/// Kind of change that a statement makes.
struct Work {
    ignore: bool,
    /// Whether a row may be found more than once.
    repeats: bool,
    deletes: bool,
    /// Whether the statement has a LIMIT.
    is_limited: bool,
    /// Whether the removed rows are returned.
    returns: bool,
}

/// Outcome of a change: the counts, the tables, and the rows for RETURNING.
#[derive(Default)]
struct Done {
    matched: u64,
    changed: u64,
    tables: Vec<Arc<BaseTable>>,
    returned: Vec<Batch>,
}

fn run(
    context: &mut StatementContext<'_>,
    work: &Work,
    plan: &ChangePlan,
    tables: &Arc<StatementTables>,
) -> Result<Option<Done>> {
    let mut changed: Vec<(Arc<BaseTable>, Arc<dyn Table>)> = Vec::new();
    for (target, table) in plan.targets.iter().zip(targets(context, plan)?) {
        note_write(context, &table)?;
        let handle = mayfly_exec::TableOpener::open(tables.as_ref(), target.table.id)?;
        let lock = context.lock_of_found(work.is_limited);
        handle.lock_reads(lock, lock_wait(context));
        changed.push((table, handle));
    }
    if context.settings().get(typed::SQL_SAFE_UPDATES) && !plan.is_safe {
        return Err(codes::ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE.with(&[&""]));
    }
    let planned = Planned::new(&plan.query, tables);
    let done = select::read(context, &planned, |context, reading| {
        let types = select::column_types(&planned.plan.columns);
        let found = find(context, &types, reading)?;
        let parameters = Arc::clone(&context.parameters().values);
        let options = ChangeOptions {
            ignore: work.ignore,
            repeats: work.repeats,
            types: &types,
            parameters: &parameters,
        };
        let mut writers = Writers::new(work.ignore);
        let mut changes = Vec::with_capacity(changed.len());
        for (target, (table, handle)) in plan.targets.iter().zip(&changed) {
            let target_table = (Arc::clone(handle), writers.add(context, table, handle));
            changes.push(TableChange::new(
                context,
                table,
                target_table,
                target,
                &reading.execution,
                options,
            )?);
        }
        change(context, work, writers, changes, found)
    })?;
    Ok(done.map(|done| Done {
        tables: changed.into_iter().map(|(table, _)| table).collect(),
        ..done
    }))
}

/// Finds all rows before the first is changed.
fn find(
    context: &mut StatementContext<'_>,
    types: &[SqlType],
    reading: &mut Reading,
) -> Result<Spool> {
    let temp = context.temp_table_context().clone();
    let mut found = SpoolBuilder::new(&temp, physical_types(types), CHANGED_LATER);
    while let Some(batch) = reading.next_batch(context)? {
        context.refuse_warnings()?;
        found.add(batch)?;
    }
    context.refuse_warnings()?;
    found.finish()
}

/// Changes the rows that were found; `None` when another transaction changed one of them.
fn change(
    context: &mut StatementContext<'_>,
    work: &Work,
    mut writers: Writers,
    mut changes: Vec<TableChange<'_>>,
    found: Spool,
) -> Result<Option<Done>> {
    let mut returned = Vec::new();
    let step = change_tables(
        context,
        work,
        &mut writers,
        &mut changes,
        found,
        &mut returned,
    )?;
    if step == Step::Retry {
        writers.discard();
        return Ok(None);
    }
    writers.flush()?;
    Ok(Some(Done {
        matched: changes.iter().map(|change| change.matched).sum(),
        changed: changes.iter().map(|change| change.changed).sum(),
        returned,
        ..Done::default()
    }))
}

fn change_tables(
    context: &mut StatementContext<'_>,
    work: &Work,
    writers: &mut Writers,
    changes: &mut [TableChange<'_>],
    mut found: Spool,
    returned: &mut Vec<Batch>,
) -> Result<Step> {
    // A table that is named twice has a single writer.
    let named: Vec<WriterId> = changes.iter().map(|change| change.writer).collect();
    let is_shared = |writer: WriterId| named.iter().filter(|other| **other == writer).count() > 1;
    // Many rows are sorted, and gone through once for each table.
    let mut is_done = false;
    if work.repeats && !work.deletes {
        for change in &mut *changes {
            let temp = context.temp_table_context();
            let Some(mut ordered) = found.ordered_by(temp, change.position())? else {
                break;
            };
            change.expect_order();
            while let Some(batch) = ordered.next_batch()? {
                let shared = is_shared(change.writer);
                if change.update(context, writers, &batch, shared)? == Step::Retry {
                    return Ok(Step::Retry);
                }
            }
            is_done = true;
        }
    }
    if work.deletes
        && let Some(order) = children_first(changes)
    {
        for at in order {
            let mut rows = found.again();
            while let Some(batch) = rows.next_batch()? {
                if changes[at].delete(context, writers, &batch, None)? == Step::Retry {
                    return Ok(Step::Retry);
                }
            }
        }
        is_done = true;
    }
    while !is_done && let Some(batch) = found.next_batch()? {
        for change in &mut *changes {
            let step = if work.deletes {
                let returned = work.returns.then_some(&mut *returned);
                change.delete(context, writers, &batch, returned)?
            } else {
                change.update(context, writers, &batch, is_shared(change.writer))?
            };
            if step == Step::Retry {
                return Ok(Step::Retry);
            }
        }
    }
    Ok(Step::Done)
}

/// Order of deletion when foreign keys lie between the tables: all rows of a child before the first of its parent, so
/// that the outcome depends on no plan. `None` without such keys.
fn children_first(changes: &[TableChange<'_>]) -> Option<Vec<usize>> {
    let refers = |child: usize, parent: usize| {
        let (child, parent) = (&changes[child], &changes[parent]);
        let definition = child.definition();
        let mut keys = definition.foreign_keys.iter();
        child.writer != parent.writer
            && keys.any(|key| key.refers_to(&definition.database, parent.definition()))
    };
    let mut left: Vec<usize> = (0..changes.len()).collect();
    let is_child = |child: &usize| left.iter().any(|parent| refers(*child, *parent));
    if !left.iter().any(is_child) {
        return None;
    }
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |at: &usize| !left.iter().any(|other| refers(*other, *at));
        let next = left.iter().position(is_free);
        // In a cycle any table may come first.
        order.push(left.remove(next.unwrap_or(0)));
    }
    Some(order)
}
