//! LOCK TABLES and UNLOCK TABLES.

use std::collections::BTreeMap;

use mayfly_syntax::ast::{LockMode, TableLock};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::select;
use crate::catalog::FullName;
use crate::locks::table::TableUse;
use crate::session::{LockedTable, StatementContext};
use crate::statements::table_names::{qualified, refuse_system_schema};
use crate::system_schemas::is_schema;

/// LOCK TABLES: earlier table locks are released first. Tables are locked in the order of their names, to avoid
/// deadlocks.
pub(super) fn lock(context: &mut StatementContext<'_>, tables: &[TableLock]) -> Result<()> {
    context.session.transaction.unlock_tables();
    let mut locked: Vec<LockedTable> = Vec::with_capacity(tables.len());
    for table in tables {
        let (database, name) = qualified(context, &table.table)?;
        if database.eq_ignore_ascii_case("information_schema") {
            refuse_system_schema(context, &database)?;
        }
        let alias = Some(table.alias.clone().unwrap_or_else(|| name.clone()));
        if let Some(alias) = &alias
            && locked.iter().any(|it| it.alias.as_ref() == Some(alias))
        {
            return Err(codes::ER_NONUNIQ_TABLE.with(&[alias]));
        }
        locked.push(LockedTable {
            database,
            name,
            alias,
            writes: table.mode == LockMode::Write,
        });
    }
    let mut below = Vec::new();
    for table in &locked {
        if let Some(view) = context.catalog().view(&table.database, &table.name) {
            let invalid = || codes::ER_VIEW_INVALID.with(&[&table.database, &table.name]);
            let planned = select::plan_trusted(context, &view.source.query);
            let planned = planned.map_err(|_| invalid())?;
            below.extend(planned.plan.tables.iter().map(|source| LockedTable {
                database: source.database.clone(),
                name: source.name.clone(),
                alias: None,
                writes: table.writes,
            }));
        }
    }
    locked.append(&mut below);
    let mut uses: BTreeMap<FullName, TableUse> = BTreeMap::new();
    for table in &locked {
        let how = if table.writes {
            TableUse::Alone
        } else {
            TableUse::ReadAlone
        };
        let key = (table.database.clone(), table.name.clone());
        let known = uses.entry(key).or_insert(how);
        *known = how.max(*known);
    }
    lock_related(context, &mut uses);
    let mut held = Vec::with_capacity(uses.len());
    for ((database, name), how) in uses {
        if context.temporary_table(&database, &name).is_some() || is_schema(&database) {
            continue;
        }
        if context.catalog().view(&database, &name).is_some() {
            held.push(context.hold_view(&database, &name, how)?);
            continue;
        }
        let missing = || codes::ER_NO_SUCH_TABLE.with(&[&database, &name]);
        // No other session has to wait for the rows of a global temporary table.
        let known = context.catalog().table(&database, &name);
        let is_private = known.is_some_and(|table| table.private().is_some());
        let how = if is_private { TableUse::Read } else { how };
        let table = context.hold_table(&database, &name, how)?;
        held.push(table.ok_or_else(missing)?.1);
    }
    let transaction = &mut context.session.transaction;
    transaction.set_locked_tables(locked, held);
    Ok(())
}

/// Also locks tables that foreign keys lead to from written tables; statements still cannot name them.
fn lock_related(context: &StatementContext<'_>, uses: &mut BTreeMap<FullName, TableUse>) {
    let catalog = context.catalog().databases();
    let written = uses.iter().filter(|(_, how)| **how == TableUse::Alone);
    let mut next: Vec<FullName> = written.map(|(name, _)| name.clone()).collect();
    let mut seen: Vec<FullName> = Vec::new();
    let table_of = |database: &str, name: &str| catalog.get(database)?.tables.get(name);
    while let Some((database, name)) = next.pop() {
        let Some(table) = table_of(&database, &name) else {
            continue;
        };
        let definition = &table.definition;
        for foreign in &definition.foreign_keys {
            let (database, name) = foreign.parent(&definition.database);
            if table_of(database, name).is_some() {
                let parent = (database.to_owned(), name.to_owned());
                uses.entry(parent).or_insert(TableUse::Read);
            }
        }
        for (child, _) in catalog.children_of(definition) {
            let child = &child.definition;
            let child = (child.database.clone(), child.name.clone());
            let how = uses.entry(child.clone()).or_insert(TableUse::Write);
            *how = (*how).max(TableUse::Write);
            if !seen.contains(&child) {
                next.push(child);
            }
        }
        seen.push((database, name));
    }
}

/// UNLOCK TABLES: commits, if tables were locked.
pub(super) fn unlock(context: &mut StatementContext<'_>) -> Result<()> {
    context.session.transaction.end_read_lock();
    if context.session.transaction.has_locked_tables() {
        context.transaction_mut().commit()?;
        context.session.transaction.unlock_tables();
    }
    Ok(())
}
