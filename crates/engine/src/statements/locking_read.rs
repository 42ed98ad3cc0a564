//! SELECT … FOR UPDATE and FOR SHARE [OF table] [NOWAIT | SKIP LOCKED]. In a SERIALIZABLE transaction every
//! SELECT is one FOR SHARE.
//!
//! All rows are found and locked before the first is returned. If another transaction has changed one of them in
//! between, the query is retried, with the locks that it has.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{Array, BooleanArray};
use mayfly_plan::{LockingPlan, PlanOptions, RowLock};
use mayfly_storage::{LockMode, LockWait, Locked, ReadLock, Table};
use mayfly_syntax::ast::{LockClause, LockType, NonBlock, Privilege, Query};
use mayfly_types::{Batch, Result};

use super::planned::Planned;
use super::row_rules::filtered;
use super::select;
use super::table_change::lock_wait;
use super::table_references::{self, Access};
use crate::accounts::privileges::PrivilegeSet;
use crate::binding::session_catalog::SessionCatalog;
use crate::locks::table::TableUse;
use crate::result::{Outcome, ResultColumn};
use crate::session::{StatementContext, StatementTables};
use crate::spool::{CHANGED_LATER, SpoolBuilder, physical_types};
use crate::statements::table_names::qualified;

/// Before a query is planned: makes a query that locks what it reads see the newest rows.
pub(super) fn begin(context: &mut StatementContext<'_>, query: &Query) -> Result<()> {
    let locks = context.locks_what_it_reads();
    if query.locks.is_empty() && !locks {
        return Ok(());
    }
    refuse_locks(context, query)?;
    if locks {
        context.read_for_change()
    } else {
        context.read_newest()
    }
    Ok(())
}

/// Plans a query that locks rows; `None` when it locks none.
pub(super) fn plan(
    context: &StatementContext<'_>,
    query: &Query,
    catalog: &SessionCatalog<'_>,
    options: &PlanOptions,
) -> Result<Option<LockingPlan>> {
    let mut query = Cow::Borrowed(query);
    if query.locks.is_empty() {
        if !context.locks_what_it_reads() {
            return Ok(None);
        }
        query.to_mut().locks.push(LockClause {
            lock_type: LockType::Share,
            of: None,
            nonblock: None,
        });
    }
    let plan = mayfly_plan::bind_locking(&query, catalog, options)?;
    let can_lock = |lock: &RowLock| {
        let table = context.find_table(&lock.table.database, &lock.table.name);
        table.is_some()
    };
    Ok(plan.filter(|plan| plan.locks.iter().all(can_lock)))
}

/// 1142 without a privilege to change rows that are to be locked for changes. Only the tables that the query names
/// are checked: those below a view are its definer's concern.
fn refuse_locks(context: &StatementContext<'_>, query: &Query) -> Result<()> {
    use Privilege::{Delete, LockTables, Select, Update};
    const READS: PrivilegeSet = PrivilegeSet::of(&[Select]);
    const CHANGES: PrivilegeSet = PrivilegeSet::of(&[Update, Delete, LockTables]);
    if context.privileges().is_unrestricted() || query.locks.is_empty() {
        return Ok(());
    }
    let rights = context.rights();
    let references = table_references::of_query(query).into_iter();
    for reference in references.filter(|it| it.depth == 1 && it.access == Access::Write) {
        // Without a current database the name means no table.
        let Ok((database, name)) = qualified(context, &reference.table) else {
            continue;
        };
        let held = rights.on_any_column(&database, &name);
        let is_base = context.temporary_table(&database, &name).is_none();
        if is_base && held.meets(READS) && !held.meets(CHANGES) {
            return Err(rights.denied_table("SELECT with locking clause", &name));
        }
    }
    Ok(())
}

/// Locks the rows that a query asks to be locked, and returns its rows; `None` when one of them has changed since it
/// was found.
pub(super) fn execute(
    context: &mut StatementContext<'_>,
    query: &Query,
    plan: &LockingPlan,
    (tables, columns): (&Arc<StatementTables>, &Arc<[ResultColumn]>),
) -> Result<Option<Outcome>> {
    for lock in plan.locks.iter().filter(|lock| !lock.shared) {
        // For LOCK TABLES … READ a locking read is a write.
        let table = &lock.table;
        context.use_table_as(&table.database, &table.name, None, TableUse::Write)?;
    }
    let is_limited = query.limit_clause.is_some();
    context.refuse_sampled_types()?;
    let planned = Planned::new(&plan.query, tables);
    let mut handles = Vec::with_capacity(plan.locks.len());
    for lock in &plan.locks {
        let table = mayfly_exec::TableOpener::open(tables.as_ref(), lock.table.id)?;
        let how = match context.lock_of_found(is_limited) {
            // Under SKIP LOCKED, rows that others add are skipped as those that they lock.
            _ if matches!(lock.nonblock, Some(NonBlock::SkipLocked)) => ReadLock::None,
            ReadLock::Exclusive if lock.shared => ReadLock::Shared,
            how => how,
        };
        table.lock_reads(how, wait_of(context, lock));
        handles.push(table);
    }
    let found = select::read(context, &planned, |context, reading| {
        let types = select::column_types(&planned.plan.columns[..plan.shown]);
        let temp = context.temp_table_context().clone();
        let mut locking = Locking {
            locks: &plan.locks,
            tables: handles,
            shown: plan.shown,
            rows: SpoolBuilder::new(&temp, physical_types(&types), CHANGED_LATER),
            offset: plan.limit.map_or(0, |(offset, _)| offset),
            wanted: plan.limit.map_or(u64::MAX, |(_, count)| count),
        };
        while locking.wanted > 0
            && let Some(batch) = reading.next_batch(context)?
        {
            if !locking.take(context, batch)? {
                return Ok(None);
            }
        }
        locking.rows.finish().map(Some)
    })?;
    let Some(rows) = found else {
        return Ok(None);
    };
    if plan.shown > 0 {
        return Ok(Some(Outcome::Found {
            columns: Arc::clone(columns),
            rows: Box::new(rows),
        }));
    }
    // The rows that it is computed from are locked: the query is run as any other.
    let planned = select::plan_here(context, query)?;
    let columns = ResultColumn::of_plan(&planned.plan.columns);
    select::execute(context, &planned, columns).map(Some)
}

/// How a lock is waited for.
fn wait_of(context: &StatementContext<'_>, lock: &RowLock) -> LockWait {
    match lock.nonblock {
        Some(NonBlock::Nowait) => LockWait::No,
        Some(NonBlock::SkipLocked) => LockWait::Skip,
        None => lock_wait(context),
    }
}

struct Locking<'s> {
    locks: &'s [RowLock],
    tables: Vec<Arc<dyn Table>>,
    shown: usize,
    rows: SpoolBuilder<'s>,
    /// Rows left to skip (OFFSET).
    offset: u64,
    /// Rows left to return (LIMIT).
    wanted: u64,
}

impl Locking<'_> {
    /// Locks the rows of a batch, a few at a time when only a few are wanted, and keeps those that were locked.
    /// False: the query is to be retried.
    fn take(&mut self, context: &StatementContext<'_>, batch: Batch) -> Result<bool> {
        let mut first = 0;
        while first < batch.row_count() && self.wanted > 0 {
            let asked = usize::try_from(self.offset.saturating_add(self.wanted));
            let count = asked.unwrap_or(usize::MAX).min(batch.row_count() - first);
            let Some(locked) = self.lock(context, batch.slice(first, count))? else {
                return Ok(false);
            };
            first += count;
            let left_out = self.offset.min(locked.row_count() as u64);
            self.offset -= left_out;
            let left_out = usize::try_from(left_out).unwrap_or(usize::MAX);
            let kept = locked.row_count() - left_out;
            self.wanted = self.wanted.saturating_sub(kept as u64);
            if kept > 0 {
                let columns = locked.columns()[..self.shown].to_vec();
                let rows = Batch::new(columns, locked.row_count());
                self.rows.add(rows.slice(left_out, kept))?;
            }
        }
        Ok(true)
    }

    fn lock(&self, context: &StatementContext<'_>, mut batch: Batch) -> Result<Option<Batch>> {
        for (lock, table) in self.locks.iter().zip(&self.tables) {
            let positions = batch.column(lock.position);
            let present = (0..positions.len()).map(|row| positions.is_valid(row));
            let present: Vec<bool> = present.collect();
            let mode = if lock.shared {
                LockMode::Shared
            } else {
                LockMode::Exclusive
            };
            let wait = wait_of(context, lock);
            // An outer join returns rows without a row of this table.
            let some = Batch::new(vec![Arc::clone(positions)], present.len());
            let some = filtered(some, Some(&BooleanArray::from(present.clone())))?;
            let Locked::Unchanged(locked) = table.lock(some.column(0), mode, wait)? else {
                return Ok(None);
            };
            if locked.contains(&false) {
                let mut locked = locked.into_iter();
                let present = present.into_iter();
                let kept = present.map(|is_row| !is_row || locked.next().unwrap_or(true));
                let kept: Vec<bool> = kept.collect();
                batch = filtered(batch, Some(&BooleanArray::from(kept)))?;
            }
        }
        Ok(Some(batch))
    }
}
