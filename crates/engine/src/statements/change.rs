//! UPDATE and DELETE: the rows are found by a query ([`mayfly_plan::change`]), then changed table by
//! table ([`TableChange`]).

use std::sync::Arc;

use mayfly_plan::ChangePlan;
use mayfly_storage::Table;
use mayfly_syntax::ast::{Delete, SelectItem, Statement, TableWithJoins, UpdateStatement};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, SqlType, Value};

use super::found_rows::{CHANGED_LATER, FoundRows, FoundRowsBuilder, physical_types};
use super::locking_subqueries;
use super::returning::Returning;
use super::row_rules::refuse_warnings;
use super::select::{self, PlanPlace, Planned, Reading, Ready};
use super::table_change::{ChangeOptions, Step, TableChange, lock_wait};
use super::writers::{WriterId, Writers};
use crate::catalog::BaseTable;
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::Session;
use crate::status::Counter;

/// A statement that changes the rows that a query finds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'s> {
    Update(&'s UpdateStatement),
    Delete(&'s Delete),
}

impl<'s> Change<'s> {
    /// `None` for any other statement.
    pub(super) fn of(statement: &'s Statement) -> Option<Self> {
        match statement {
            Statement::Update(update) => Some(Self::Update(update)),
            Statement::Delete(delete) => Some(Self::Delete(delete)),
            _ => None,
        }
    }

    fn is_limited(self) -> bool {
        match self {
            Self::Update(update) => update.limit.is_some(),
            Self::Delete(delete) => delete.limit.is_some(),
        }
    }

    fn plan(
        self,
        session: &Session,
        types: &[SqlType],
        values: &[Value],
        kept: Option<&PlanPlace<ChangePlan>>,
    ) -> Result<Ready<ChangePlan>> {
        select::plan_or_keep(
            session,
            types,
            values,
            kept,
            |catalog, options| match self {
                Self::Update(update) => mayfly_plan::bind_update(update, catalog, options),
                Self::Delete(delete) => mayfly_plan::bind_delete(delete, catalog, options),
            },
        )
    }
}

/// UPDATE
pub(super) fn update(
    session: &mut Session,
    update: &UpdateStatement,
    parameters: &[(Value, SqlType)],
    kept: Option<&PlanPlace<ChangePlan>>,
) -> Result<Outcome> {
    let several = is_join(&update.tables);
    super::count(
        session,
        match several {
            true => Counter::ComUpdateMulti,
            false => Counter::ComUpdate,
        },
    );
    let work = Work {
        ignore: update.ignore,
        repeats: several,
        deletes: false,
        returning: &[],
    };
    let done = run(session, &work, Change::Update(update), parameters, kept)?;
    session.counters().add(Counter::HandlerUpdate, done.changed);
    let warnings = session.diagnostics().count();
    Ok(StatementResult {
        affected_rows: match session.counts_found_rows {
            true => done.matched,
            false => done.changed,
        },
        info: format!(
            "Rows matched: {}  Changed: {}  Warnings: {warnings}",
            done.matched, done.changed
        )
        .into(),
        ..StatementResult::default()
    }
    .into())
}

/// DELETE
pub(super) fn delete(
    session: &mut Session,
    delete: &Delete,
    parameters: &[(Value, SqlType)],
    kept: Option<&PlanPlace<ChangePlan>>,
) -> Result<Outcome> {
    let several = !delete.targets.is_empty();
    super::count(
        session,
        match several {
            true => Counter::ComDeleteMulti,
            false => Counter::ComDelete,
        },
    );
    let work = Work {
        ignore: delete.ignore,
        repeats: several,
        deletes: true,
        returning: &delete.returning,
    };
    let done = run(session, &work, Change::Delete(delete), parameters, kept)?;
    session.counters().add(Counter::HandlerDelete, done.changed);
    let all = delete.selection.is_none() && delete.limit.is_none() && !several;
    if let Some(table) = done.tables.first()
        && all
        && done.changed > 0
        && table.definition.engine == "MEMORY"
    {
        // It is still locked. Only when it is emptied does a MEMORY table give memory back.
        table.storage(session)?.truncate()?;
    }
    let (columns, batches) = match done.returning {
        Some(returning) => returning.evaluate(&done.returned)?,
        None => (Vec::new(), Vec::new()),
    };
    Ok(StatementResult {
        columns: columns.into(),
        batches,
        affected_rows: done.changed,
        ..StatementResult::default()
    }
    .into())
}

/// What the statement names must be there, and be such that it can be changed. It gives no rows.
pub(super) fn describe(session: &Session, change: Change<'_>) -> Result<Arc<[ResultColumn]>> {
    let (types, values) = session.parameter_values();
    plan_only(session, &types, &values, None, change)?;
    Ok(Arc::default())
}

/// Plans the statement for parameters of these types, and with these values, and keeps the plan.
pub(super) fn plan_only(
    session: &Session,
    types: &[SqlType],
    values: &[Value],
    kept: Option<&PlanPlace<ChangePlan>>,
    change: Change<'_>,
) -> Result<()> {
    let ready = change.plan(session, types, values, kept)?;
    for target in &ready.plan.targets {
        super::writable_table(session, &target.table.database, &target.table.name)?;
    }
    Ok(())
}

fn is_join(tables: &[TableWithJoins]) -> bool {
    match tables {
        [only] => !only.joins.is_empty(),
        _ => true,
    }
}

/// What kind of change a statement makes.
struct Work<'s> {
    ignore: bool,
    /// A row may be found more than once.
    repeats: bool,
    deletes: bool,
    /// What is wanted of the rows that are removed.
    returning: &'s [SelectItem],
}

/// What was changed.
#[derive(Default)]
struct Done {
    matched: u64,
    changed: u64,
    tables: Vec<Arc<BaseTable>>,
    returning: Option<Returning>,
    returned: Vec<Batch>,
}

fn run(
    session: &mut Session,
    work: &Work<'_>,
    statement: Change<'_>,
    parameters: &[(Value, SqlType)],
    kept: Option<&PlanPlace<ChangePlan>>,
) -> Result<Done> {
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let (updates, deletes);
    let (statement, kept) = match statement {
        Change::Update(update) => {
            updates = locking_subqueries::of_update(session, update, &types, &values)?;
            match &updates {
                Some(without) => (Change::Update(without), None),
                None => (statement, kept),
            }
        }
        Change::Delete(delete) => {
            deletes = locking_subqueries::of_delete(session, delete, &types, &values)?;
            match &deletes {
                Some(without) => (Change::Delete(without), None),
                None => (statement, kept),
            }
        }
    };
    session.read_for_change();
    // Each attempt keeps the locks of the one before, so that it ends.
    loop {
        if let Some(done) = attempt(session, work, statement, parameters, kept)? {
            return Ok(done);
        }
        session.begin_anew();
    }
}

/// `None` when a row was changed by another transaction before it could be locked.
fn attempt(
    session: &mut Session,
    work: &Work<'_>,
    statement: Change<'_>,
    parameters: &[(Value, SqlType)],
    kept: Option<&PlanPlace<ChangePlan>>,
) -> Result<Option<Done>> {
    let values: Vec<Value> = parameters.iter().map(|(value, _)| value.clone()).collect();
    let types: Vec<SqlType> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
    let ready = statement.plan(session, &types, &values, kept)?;
    let (plan, tables) = (ready.plan, ready.tables);
    let mut changed: Vec<(Arc<BaseTable>, Arc<dyn Table>)> = Vec::new();
    for target in &plan.targets {
        let source = &target.table;
        let table = super::writable_table(session, &source.database, &source.name)?;
        let handle = mayfly_exec::TableOpener::open(tables.as_ref(), source.id)?;
        let lock = session.lock_of_found(statement.is_limited());
        handle.lock_reads(lock, lock_wait(session));
        changed.push((table, handle));
    }
    // What it names is known, and allowed, before the first row is changed.
    let returning = match changed.first() {
        Some((table, _)) if !work.returning.is_empty() => {
            let definition = &table.definition;
            Some(Returning::bind(
                session,
                definition,
                work.returning,
                parameters,
            )?)
        }
        _ => None,
    };
    if session.settings().boolean("sql_safe_updates") && !plan.is_safe {
        return Err(codes::ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE.with(&[&""]));
    }
    let planned = Planned {
        plan: Arc::clone(&plan.query),
        tables,
        columns: None,
    };
    let mut reading = Reading::start(session, &planned, &values)?;
    let done = (|| {
        let types: Vec<SqlType> = planned.plan.columns.iter().map(|c| c.ty.clone()).collect();
        let found = find(session, work, &types, &mut reading)?;
        let options = ChangeOptions {
            ignore: work.ignore,
            repeats: work.repeats,
            types: &types,
            parameters: &values,
        };
        let context = Arc::clone(reading.context());
        let mut writers = Writers::new(session, work.ignore);
        let mut changes = Vec::with_capacity(changed.len());
        for (target, (table, handle)) in plan.targets.iter().zip(&changed) {
            let place = (Arc::clone(handle), writers.add(table, handle));
            changes.push(TableChange::new(
                session, table, place, target, &context, options,
            )?);
        }
        change(session, work, writers, changes, found)
    })();
    reading.finish(session);
    let done = done?.map(|done| Done {
        tables: changed.into_iter().map(|(table, _)| table).collect(),
        returning,
        ..done
    });
    Ok(done)
}

/// Finds all rows before the first is changed.
fn find(
    session: &Session,
    work: &Work<'_>,
    types: &[SqlType],
    reading: &mut Reading,
) -> Result<FoundRows> {
    let context = session.temp_table_context();
    let mut found = FoundRowsBuilder::new(context, physical_types(types), CHANGED_LATER);
    while let Some(batch) = reading.next_batch()? {
        refuse_warnings(session, work.ignore)?;
        found.add(batch)?;
    }
    refuse_warnings(session, work.ignore)?;
    found.finish()
}

fn change(
    session: &Session,
    work: &Work<'_>,
    mut writers: Writers<'_>,
    mut changes: Vec<TableChange<'_>>,
    mut found: FoundRows,
) -> Result<Option<Done>> {
    // A table that is named twice has one writer.
    let named: Vec<WriterId> = changes.iter().map(|change| change.writer).collect();
    let is_shared = |writer: WriterId| named.iter().filter(|other| **other == writer).count() > 1;
    let mut returned = Vec::new();
    // Many rows are gone through once for each table.
    let mut is_done = false;
    if work.repeats && !work.deletes {
        for change in &mut changes {
            let context = session.temp_table_context();
            let Some(mut ordered) = found.ordered_by(context, change.position())? else {
                break;
            };
            change.expect_order();
            while let Some(batch) = ordered.next_batch()? {
                let shared = is_shared(change.writer);
                if change.update(&mut writers, &batch, shared)? == Step::StartAnew {
                    writers.discard();
                    return Ok(None);
                }
            }
            is_done = true;
        }
    }
    if work.deletes
        && let Some(order) = children_first(&changes)
    {
        for at in order {
            let mut rows = found.again();
            while let Some(batch) = rows.next_batch()? {
                if changes[at].delete(&mut writers, &batch, None)? == Step::StartAnew {
                    writers.discard();
                    return Ok(None);
                }
            }
        }
        is_done = true;
    }
    while !is_done && let Some(batch) = found.next_batch()? {
        for change in &mut changes {
            let step = match work.deletes {
                true => {
                    let kept = (!work.returning.is_empty()).then_some(&mut returned);
                    change.delete(&mut writers, &batch, kept)?
                }
                false => {
                    let shared = is_shared(change.writer);
                    change.update(&mut writers, &batch, shared)?
                }
            };
            if step == Step::StartAnew {
                writers.discard();
                return Ok(None);
            }
        }
    }
    writers.finish()?;
    Ok(Some(Done {
        matched: changes.iter().map(|change| change.matched).sum(),
        changed: changes.iter().map(|change| change.changed).sum(),
        returned,
        ..Done::default()
    }))
}

/// The order in which rows are removed when foreign keys lie between the tables: all rows of a child
/// before the first of its parent, so that what comes of it depends on no plan. `None` where there are
/// no such keys.
fn children_first(changes: &[TableChange<'_>]) -> Option<Vec<usize>> {
    let refers = |child: usize, parent: usize| {
        let (child, parent) = (changes[child].definition(), changes[parent].definition());
        let mut keys = child.foreign_keys.iter();
        keys.any(|key| key.refers_to(&child.database, parent))
    };
    let refers = |child: usize, parent: usize| {
        changes[child].writer != changes[parent].writer && refers(child, parent)
    };
    let mut left: Vec<usize> = (0..changes.len()).collect();
    if !left
        .iter()
        .any(|child| left.iter().any(|parent| refers(*child, *parent)))
    {
        return None;
    }
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |at: &usize| !left.iter().any(|other| refers(*other, *at));
        let next = left.iter().position(is_free);
        // In a circle any is as good.
        order.push(left.remove(next.unwrap_or(0)));
    }
    Some(order)
}
