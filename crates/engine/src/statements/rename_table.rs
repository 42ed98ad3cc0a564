//! RENAME TABLE: several renames, done from left to right, all or none.

use mayfly_syntax::ast::{RenameTable, TableName};
use mayfly_types::Result;

use super::secondary_load;
use crate::catalog::FullName;
use crate::catalog::definition::TableDefinition;
use crate::ddl::secondary;
use crate::locks::table::TableUse;
use crate::session::StatementContext;
use crate::statements::table_names::{qualified, refuse_system_schema};

/// Runs the statement. It renames base tables only: a temporary table is renamed by ALTER TABLE.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &RenameTable) -> Result<()> {
    let resolved = statement.renames.iter();
    let renames: Vec<(FullName, FullName)> = resolved
        .map(|(from, to)| resolve(context, from, to))
        .collect::<Result<_>>()?;
    // Locked in one order everywhere, to avoid deadlocks.
    let mut names: Vec<&FullName> = renames.iter().map(|(from, _)| from).collect();
    names.sort();
    let mut held = Vec::new();
    for (database, name) in names {
        match context.hold_table(database, name, TableUse::Alone)? {
            Some((_, table)) => held.push(table),
            None => held.push(context.hold_view(database, name, TableUse::Alone)?),
        }
    }
    let catalog = context.catalog();
    let from = renames
        .iter()
        .filter_map(|((database, name), _)| catalog.table(database, name));
    let from: Vec<_> = from.collect();
    for table in &from {
        secondary::refuse_change(&table.definition)?;
    }
    catalog.rename(context, &renames, |table, (database, name)| {
        let mut definition = TableDefinition::clone(&table.definition);
        rename_definition(&mut definition, database.clone(), name.clone());
        table.redefined(catalog.next_table_id(), definition)
    })?;
    for table in &from {
        secondary_load::unload(context, table)?;
    }
    for (old, new) in &renames {
        note_renamed(context, old, new);
    }
    Ok(())
}

/// Renames a definition, and the constraints that are named after the table.
pub(super) fn rename_definition(definition: &mut TableDefinition, database: String, name: String) {
    let old = std::mem::replace(&mut definition.name, name);
    let new = &definition.name;
    let generated = |constraint: &str, infix: &str| {
        let number = constraint.strip_prefix(&*old)?.strip_prefix(infix)?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| format!("{new}{infix}{number}"))
    };
    for check in &mut definition.checks {
        if let Some(name) = generated(&check.name, "_chk_") {
            check.name = name;
        }
    }
    for foreign in &mut definition.foreign_keys {
        if let Some(name) = generated(&foreign.name, "_ibfk_") {
            foreign.name = name;
        }
        // A reference to a parent in the same database gets its database name in another one.
        let references = &mut foreign.references.table;
        let parent = references
            .database
            .get_or_insert_with(|| definition.database.clone());
        if *parent == database {
            references.database = None;
        }
    }
    definition.foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
    definition.checks.sort_by(|a, b| a.name.cmp(&b.name));
    definition.database = database;
}

/// Notes that a table of the catalog was renamed, in what refers to it by name.
pub(super) fn note_renamed(context: &mut StatementContext<'_>, old: &FullName, new: &FullName) {
    let table = context.catalog().table(&new.0, &new.1);
    if let Some(rows) = table.as_ref().and_then(|table| table.private()) {
        rows.rename(new.clone());
    }
    let transaction = &mut context.session.transaction;
    transaction.rename_locked_table((&old.0, &old.1), (&new.0, &new.1));
}

fn resolve(
    context: &StatementContext<'_>,
    from: &TableName,
    to: &TableName,
) -> Result<(FullName, FullName)> {
    let from = qualified(context, from)?;
    let to = qualified(context, to)?;
    for (database, _) in [&from, &to] {
        refuse_system_schema(context, database)?;
    }
    Ok((from, to))
}
