//! `DROP [TEMPORARY] TABLE` and TRUNCATE TABLE.

use std::sync::Arc;

use mayfly_syntax::ast::{DropTable, TableName};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::secondary_load;
use crate::catalog::definition::{ForeignKeyDefinition, TableDefinition};
use crate::catalog::{BaseTable, FullName};
use crate::ddl::secondary;
use crate::error::refuse;
use crate::information_schema::logs;
use crate::locks::table::TableUse;
use crate::session::StatementContext;
use crate::statements::table_names::{qualified, refuse_system_schema};
use crate::transaction::NotUndone;

/// DROP TABLE: drops the temporary table rather than the base table that it hides.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &DropTable) -> Result<()> {
    let mut names: Vec<FullName> = Vec::with_capacity(statement.tables.len());
    for table in &statement.tables {
        let name = qualified(context, table)?;
        refuse_system_schema(context, &name.0)?;
        names.push(name);
    }
    for (position, name) in names.iter().enumerate() {
        if names[..position].contains(name) {
            return Err(codes::ER_NONUNIQ_TABLE.with(&[&name.1]));
        }
    }
    let (mut base, mut missing) = (Vec::new(), Vec::new());
    for (database, name) in &names {
        if context.temporary_table(database, name).is_some() {
            continue;
        }
        if statement.temporary || context.catalog().table(database, name).is_none() {
            if !statement.temporary {
                let transaction = &context.session.transaction;
                transaction.refuse_unlocked(database, name)?;
            }
            missing.push(format!("{database}.{name}"));
        }
        if !statement.temporary {
            base.push((database.clone(), name.clone()));
        }
    }
    // Nothing is dropped when a table is missing: the statement is atomic.
    report_missing(context, statement.if_exists, &missing)?;
    // Locked in one order everywhere, to avoid deadlocks.
    let mut sorted: Vec<&FullName> = base.iter().collect();
    sorted.sort();
    let mut held = Vec::new();
    for (database, name) in sorted {
        held.extend(context.hold_table(database, name, TableUse::Alone)?);
    }
    refuse_parents(context, &base)?;
    for (database, name) in &names {
        let dropped = context.session.drop_temporary_table(database, name);
        if dropped && !context.session.undoes_definitions() {
            context.transaction_mut().note(NotUndone::TablesDropped);
        }
    }
    if base.is_empty() {
        return Ok(());
    }
    context.catalog().drop_tables(context, &base)?;
    for (table, _) in &held {
        table.copy.end();
        context.session.temporary_tables.forget(table);
    }
    context.session.transaction.forget_locked_tables(&base);
    Ok(())
}

/// 1051 for tables or views that are missing; with IF EXISTS a note for each.
pub(super) fn report_missing(
    context: &StatementContext<'_>,
    if_exists: bool,
    missing: &[String],
) -> Result<()> {
    refuse(!if_exists && !missing.is_empty(), || {
        codes::ER_BAD_TABLE_ERROR.with(&[&missing.join(",")])
    })?;
    for name in missing {
        context.note(codes::ER_BAD_TABLE_ERROR.with(&[name]));
    }
    Ok(())
}

/// The first foreign key from a table outside of the list to a table in it: the name of the parent, the child, and
/// the key.
fn reference_from_outside<'n>(
    context: &StatementContext<'_>,
    names: &'n [FullName],
) -> Option<(&'n str, Arc<TableDefinition>, ForeignKeyDefinition)> {
    if !context.options().foreign_key_checks {
        return None;
    }
    names.iter().find_map(|(database, name)| {
        let parent = context.catalog().table(database, name)?;
        let references = context.catalog().foreign_references(&parent.definition);
        references.into_iter().find_map(|(child, foreign)| {
            let child = &child.definition;
            let is_inside =
                |(database, name): &FullName| (database, name) == (&child.database, &child.name);
            let is_outside = !names.iter().any(is_inside);
            is_outside.then(|| (name.as_str(), Arc::clone(child), foreign))
        })
    })
}

/// 3730 when foreign keys of other tables refer to one of these.
pub(super) fn refuse_parents(context: &StatementContext<'_>, names: &[FullName]) -> Result<()> {
    match reference_from_outside(context, names) {
        Some((parent, child, foreign)) => {
            Err(codes::ER_FK_CANNOT_DROP_PARENT.with(&[&parent, &foreign.name, &child.name]))
        }
        None => Ok(()),
    }
}

/// TRUNCATE TABLE: 1701 when foreign keys of other tables refer to the table.
pub(super) fn truncate(context: &mut StatementContext<'_>, table: &TableName) -> Result<()> {
    let full_name = qualified(context, table)?;
    let (database, name) = &full_name;
    refuse_system_schema(context, database)?;
    if logs::truncate(context, database, name) {
        return Ok(());
    }
    if let Some(table) = context.temporary_table(database, name) {
        if context.session.undoes_definitions() {
            let definition = TableDefinition::clone(&table.definition);
            let id = context.catalog().next_table_id();
            let new = Arc::new(BaseTable::new(id, definition, context)?);
            context.session.drop_temporary_table(database, name);
            context.session.add_temporary_table(new);
            return Ok(());
        }
        table.truncate(context)?;
        table.numbers(context).set(1);
        return Ok(());
    }
    if let Some(table) = context.catalog().table(database, name)
        && table.private().is_some()
    {
        return truncate_private(context, database, name);
    }
    let Some((table, _held)) = context.hold_table(database, name, TableUse::Alone)? else {
        return Err(context.missing_for_use(database, name));
    };
    secondary::refuse_change(&table.definition)?;
    let names = std::slice::from_ref(&full_name);
    if let Some((_, child, foreign)) = reference_from_outside(context, names) {
        let quoted = [&child.database, &child.name, &foreign.name].map(|it| quoted_identifier(it));
        let [database, child, constraint] = quoted;
        let constraint = format!("{database}.{child}, CONSTRAINT {constraint}");
        return Err(codes::ER_TRUNCATE_ILLEGAL_FK.with(&[&constraint]));
    }
    table.truncate(context)?;
    // Before any other session may use the table.
    context.transaction_mut().commit()?;
    secondary_load::unload(context, &table)?;
    table.numbers(context).set(1);
    Ok(())
}

/// TRUNCATE TABLE of a global temporary table removes the session's own rows.
fn truncate_private(context: &StatementContext<'_>, database: &str, name: &str) -> Result<()> {
    let used = context.use_base_table(database, name, None, TableUse::Write)?;
    let table = used.ok_or_else(|| context.missing_for_use(database, name))?;
    match table.private() {
        Some(store) if context.session.undoes_definitions() => {
            context.put_private_rows(store, true);
        }
        _ => table.truncate(context)?,
    }
    table.numbers(context).set(1);
    Ok(())
}
