//! LOCK TABLES and UNLOCK TABLES.

use std::collections::BTreeMap;

use mayfly_syntax::ast::{LockMode, TableLock};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::select;
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::table_locks::{LockedTable, TableUse};

/// LOCK TABLES: what was locked before is let go first. Tables are taken in the order of their names,
/// so that two sessions do not wait for each other.
pub(super) fn lock(session: &mut Session, tables: &[TableLock]) -> Result<Outcome> {
    session.unlock_tables();
    let mut wanted: Vec<Wanted> = Vec::with_capacity(tables.len());
    for table in tables {
        let (database, name) = super::qualified(session, &table.table)?;
        if database.eq_ignore_ascii_case("information_schema") {
            super::refuse_system_schema(session, &database)?;
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
        let catalog = &session.database.catalog;
        if let Some(view) = catalog.view(&table.database, &table.name) {
            let planned = select::plan_trusted(session, &view.source.query)?;
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
        let how = match table.writes {
            true => TableUse::Alone,
            false => TableUse::ReadAlone,
        };
        let key = (table.database.clone(), table.name.clone());
        let known = uses.entry(key).or_insert(how);
        *known = how.max(*known);
    }
    lock_related(session, &mut uses);
    let mut held = Vec::with_capacity(uses.len());
    for ((database, name), how) in uses {
        if session.temporary_table(&database, &name).is_some()
            || session.database.catalog.view(&database, &name).is_some()
            || crate::information_schema::is_schema(&database)
        {
            continue;
        }
        match session.hold_table(&database, &name, how)? {
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
    session.set_locked_tables(locked.collect(), held);
    Ok(StatementResult::default().into())
}

/// Tables that foreign keys lead to from those that will be written to are locked with them, but not
/// for statements to name.
fn lock_related(session: &Session, uses: &mut BTreeMap<(String, String), TableUse>) {
    let catalog = session.database.catalog.databases();
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
pub(super) fn unlock(session: &mut Session) -> Result<Outcome> {
    if session.has_locked_tables() {
        session.transaction.commit()?;
        session.unlock_tables();
    }
    Ok(StatementResult::default().into())
}
