//! LOCK TABLES and UNLOCK TABLES.

use std::collections::BTreeMap;

use mayfly_syntax::ast::{LockMode, TableLock};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::select;
use crate::locks::table::TableUse;
use crate::result::{Outcome, StatementResult};
use crate::session::{LockedTable, StatementContext};
use crate::statements::table_names::{qualified, refuse_system_schema};

/// LOCK TABLES: what was locked before is let go first. Tables are taken in the order of their names,
/// so that two sessions do not wait for each other.
pub(super) fn lock(context: &mut StatementContext<'_>, tables: &[TableLock]) -> Result<Outcome> {
    context.session.transaction.unlock_tables();
    let mut wanted: Vec<Wanted> = Vec::with_capacity(tables.len());
    for table in tables {
        let (database, name) = qualified(context, &table.table)?;
        if database.eq_ignore_ascii_case("information_schema") {
            refuse_system_schema(context, &database)?;
        }
        let alias = table.alias.clone().unwrap_or_else(|| name.clone());
        if wanted
            .iter()
            .any(|other| other.alias.as_deref() == Some(&alias))
        {
            return Err(codes::ER_NONUNIQ_TABLE.with(&[&alias]));
        }
        wanted.push(Wanted {
            database,
            name,
            alias: Some(alias),
            writes: table.mode == LockMode::Write,
        });
    }
    let mut below = Vec::new();
    for table in &wanted {
        let catalog = context.catalog();
        if let Some(view) = catalog.view(&table.database, &table.name) {
            let planned = select::plan_trusted(context, &view.source.query)?;
            below.extend(planned.plan.tables.iter().map(|source| Wanted {
                database: source.database.clone(),
                name: source.name.clone(),
                alias: None,
                writes: table.writes,
            }));
        }
    }
    wanted.append(&mut below);
    let mut uses: BTreeMap<(String, String), TableUse> = BTreeMap::new();
    for table in &wanted {
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
        if context.temporary_table(&database, &name).is_some()
            || context.catalog().view(&database, &name).is_some()
            || crate::system_schemas::is_schema(&database)
        {
            continue;
        }
        match context.hold_table(&database, &name, how)? {
            Some((_, table)) => held.push(table),
            None => return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name])),
        }
    }
    let locked = wanted.into_iter().map(|table| LockedTable {
        database: table.database,
        name: table.name,
        alias: table.alias,
        writes: table.writes,
    });
    context
        .session
        .transaction
        .set_locked_tables(locked.collect(), held);
    Ok(StatementResult::default().into())
}

/// Tables that foreign keys lead to from those that will be written to are locked with them, but not
/// for statements to name.
fn lock_related(context: &StatementContext<'_>, uses: &mut BTreeMap<(String, String), TableUse>) {
    let catalog = context.catalog().databases();
    let written = uses.iter().filter(|(_, how)| **how == TableUse::Alone);
    let mut next: Vec<(String, String)> = written.map(|(name, _)| name.clone()).collect();
    let mut seen: Vec<(String, String)> = Vec::new();
    while let Some((database, name)) = next.pop() {
        let entry = catalog.get(&database);
        let Some(table) = entry.and_then(|entry| entry.tables.get(&name)) else {
            continue;
        };
        let definition = &table.definition;
        for foreign in &definition.foreign_keys {
            let (database, name) = foreign.parent(&definition.database);
            let parent = (database.to_owned(), name.to_owned());
            if catalog
                .get(database)
                .is_some_and(|entry| entry.tables.contains_key(name))
            {
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

struct Wanted {
    database: String,
    name: String,
    /// `None` for a table below a view.
    alias: Option<String>,
    writes: bool,
}

/// UNLOCK TABLES: commits, if tables were locked.
pub(super) fn unlock(context: &mut StatementContext<'_>) -> Result<Outcome> {
    if context.session.transaction.has_locked_tables() {
        context.transaction_mut().commit()?;
        context.session.transaction.unlock_tables();
    }
    Ok(StatementResult::default().into())
}
