//! DROP [TEMPORARY] TABLE and TRUNCATE TABLE.

use mayfly_syntax::ast::{DropTable, TableName};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::catalog::definition::TableDefinition;
use crate::locks::table::TableUse;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::{qualified, refuse_system_schema};
use crate::transaction::NotUndone;

/// DROP TABLE: a temporary table goes before the base table that it hides.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &DropTable) -> Result<Outcome> {
    let mut names = Vec::with_capacity(statement.tables.len());
    for table in &statement.tables {
        let (database, name) = qualified(context, table)?;
        refuse_system_schema(context, &database)?;
        names.push((database, name));
    }
    for (position, name) in names.iter().enumerate() {
        if names[..position].contains(name) {
            return Err(codes::ER_NONUNIQ_TABLE.with(&[&name.1]));
        }
    }
    // Nothing is dropped when a table is missing: the statement is atomic.
    let exists = |context: &StatementContext<'_>, (database, name): &(String, String)| {
        context.temporary_table(database, name).is_some()
            || (!statement.temporary && context.catalog().table(database, name).is_some())
    };
    let missing: Vec<&(String, String)> =
        names.iter().filter(|name| !exists(context, name)).collect();
    if !missing.is_empty() && !statement.if_exists {
        let list: Vec<String> = missing
            .iter()
            .map(|(database, name)| format!("{database}.{name}"))
            .collect();
        return Err(codes::ER_BAD_TABLE_ERROR.with(&[&list.join(",")]));
    }
    for (database, name) in missing {
        let note = codes::ER_BAD_TABLE_ERROR.with(&[&format!("{database}.{name}")]);
        context.note(note);
    }
    let mut held = Vec::new();
    if !statement.temporary {
        let mut sorted: Vec<&(String, String)> = names.iter().collect();
        sorted.sort();
        for (database, name) in sorted {
            if context.temporary_table(database, name).is_none() {
                held.extend(context.hold_table(database, name, TableUse::Alone)?);
            }
        }
    }
    let is_base = |(database, name): &&(String, String)| {
        !statement.temporary && context.temporary_table(database, name).is_none()
    };
    let base: Vec<(String, String)> = names.iter().filter(is_base).cloned().collect();
    refuse_parents(context, &base)?;
    names.retain(|(database, name)| {
        let dropped = context.session.drop_temporary_table(database, name);
        if dropped {
            context.transaction_mut().note(NotUndone::TablesDropped);
        }
        !(dropped || statement.temporary)
    });
    if !names.is_empty() {
        context.catalog().drop_tables(context, &names)?;
    }
    Ok(StatementResult::default().into())
}

/// 3730 when foreign keys of other tables than these refer to one of them.
pub(super) fn refuse_parents(
    context: &StatementContext<'_>,
    names: &[(String, String)],
) -> Result<()> {
    if !context.options().foreign_key_checks {
        return Ok(());
    }
    let catalog = context.catalog();
    for (database, name) in names {
        let Some(table) = catalog.table(database, name) else {
            continue;
        };
        for (child, foreign) in context.catalog().foreign_references(&table.definition) {
            let child = &child.definition;
            let goes_too = |(database, name): &(String, String)| {
                (database, name) == (&child.database, &child.name)
            };
            if !names.iter().any(goes_too) {
                let referenced = codes::ER_FK_CANNOT_DROP_PARENT;
                return Err(referenced.with(&[name, &foreign.name, &child.name]));
            }
        }
    }
    Ok(())
}

/// 1701 when foreign keys of other tables refer to a table whose rows are all to go.
fn refuse_referenced(context: &StatementContext<'_>, table: &TableDefinition) -> Result<()> {
    if !context.options().foreign_key_checks {
        return Ok(());
    }
    for (child, foreign) in context.catalog().foreign_references(table) {
        let child = &child.definition;
        if (&child.database, &child.name) != (&table.database, &table.name) {
            let constraint = format!(
                "{}.{}, CONSTRAINT {}",
                quoted_identifier(&child.database),
                quoted_identifier(&child.name),
                quoted_identifier(&foreign.name)
            );
            return Err(codes::ER_TRUNCATE_ILLEGAL_FK.with(&[&constraint]));
        }
    }
    Ok(())
}

/// TRUNCATE TABLE
pub(super) fn truncate(context: &mut StatementContext<'_>, table: &TableName) -> Result<Outcome> {
    let (database, name) = qualified(context, table)?;
    refuse_system_schema(context, &database)?;
    if let Some(table) = context.temporary_table(&database, &name) {
        table.truncate(context)?;
        table.set_auto_increment(1);
        return Ok(StatementResult::default().into());
    }
    match context.hold_table(&database, &name, TableUse::Alone)? {
        Some((table, _held)) => {
            refuse_referenced(context, &table.definition)?;
            table.truncate(context)?;
            // Before anybody else may use it.
            context.transaction_mut().commit()?;
            table.set_auto_increment(1);
        }
        None => return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name])),
    }
    Ok(StatementResult::default().into())
}
