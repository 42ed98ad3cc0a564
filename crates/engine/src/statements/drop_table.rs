//! DROP [TEMPORARY] TABLE and TRUNCATE TABLE.

use mayfly_syntax::ast::{DropTable, TableName};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::error::codes;
use mayfly_types::{Level, Result};

use crate::catalog::definition::TableDefinition;
use crate::catalog::foreign_references;
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;
use crate::table_locks::TableUse;
use crate::transaction::NotUndone;

/// DROP TABLE: a temporary table goes before the base table that it hides.
pub(super) fn run(session: &mut Session, statement: &DropTable) -> Result<Outcome> {
    super::count(session, Counter::ComDropTable);
    let mut names = Vec::with_capacity(statement.tables.len());
    for table in &statement.tables {
        let (database, name) = super::qualified(session, table)?;
        super::refuse_system_schema(session, &database)?;
        names.push((database, name));
    }
    for (position, name) in names.iter().enumerate() {
        if names[..position].contains(name) {
            return Err(codes::ER_NONUNIQ_TABLE.with(&[&name.1]));
        }
    }
    // Nothing is dropped when a table is missing: the statement is atomic.
    let exists = |session: &Session, (database, name): &(String, String)| {
        session.temporary_table(database, name).is_some()
            || (!statement.temporary && session.database.catalog.table(database, name).is_some())
    };
    let missing: Vec<&(String, String)> =
        names.iter().filter(|name| !exists(session, name)).collect();
    if !missing.is_empty() && !statement.if_exists {
        let list: Vec<String> = missing
            .iter()
            .map(|(database, name)| format!("{database}.{name}"))
            .collect();
        return Err(codes::ER_BAD_TABLE_ERROR.with(&[&list.join(",")]));
    }
    for (database, name) in missing {
        let note = codes::ER_BAD_TABLE_ERROR.with(&[&format!("{database}.{name}")]);
        session.diagnostics().push(Level::Note, note);
    }
    let mut held = Vec::new();
    if !statement.temporary {
        let mut sorted: Vec<&(String, String)> = names.iter().collect();
        sorted.sort();
        for (database, name) in sorted {
            if session.temporary_table(database, name).is_none() {
                held.extend(session.hold_table(database, name, TableUse::Alone)?);
            }
        }
    }
    let is_base = |(database, name): &&(String, String)| {
        !statement.temporary && session.temporary_table(database, name).is_none()
    };
    let base: Vec<(String, String)> = names.iter().filter(is_base).cloned().collect();
    refuse_parents(session, &base)?;
    names.retain(|(database, name)| {
        let dropped = session.drop_temporary_table(database, name);
        if dropped {
            session.transaction.note(NotUndone::TablesDropped);
        }
        !(dropped || statement.temporary)
    });
    if !names.is_empty() {
        session.database.catalog.drop_tables(session, &names)?;
    }
    Ok(StatementResult::default().into())
}

/// 3730 when foreign keys of other tables than these refer to one of them.
pub(super) fn refuse_parents(session: &Session, names: &[(String, String)]) -> Result<()> {
    if !session.options().foreign_key_checks {
        return Ok(());
    }
    let catalog = &session.database.catalog;
    for (database, name) in names {
        let Some(table) = catalog.table(database, name) else {
            continue;
        };
        for (child, foreign) in foreign_references(session, &table.definition) {
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
fn refuse_referenced(session: &Session, table: &TableDefinition) -> Result<()> {
    if !session.options().foreign_key_checks {
        return Ok(());
    }
    for (child, foreign) in foreign_references(session, table) {
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
pub(super) fn truncate(session: &mut Session, table: &TableName) -> Result<Outcome> {
    super::count(session, Counter::ComTruncate);
    let (database, name) = super::qualified(session, table)?;
    super::refuse_system_schema(session, &database)?;
    if let Some(table) = session.temporary_table(&database, &name) {
        table.truncate(session)?;
        table.set_auto_increment(1);
        return Ok(StatementResult::default().into());
    }
    match session.hold_table(&database, &name, TableUse::Alone)? {
        Some((table, _held)) => {
            refuse_referenced(session, &table.definition)?;
            table.truncate(session)?;
            // Before anybody else may use it.
            session.transaction.commit()?;
            table.set_auto_increment(1);
        }
        None => return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name])),
    }
    Ok(StatementResult::default().into())
}
