//! DROP [TEMPORARY] TABLE and TRUNCATE TABLE.

use mayfly_syntax::ast::{DropTable, TableName};
use mayfly_types::error::codes;
use mayfly_types::{Level, Result};

use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;
use crate::table_locks::TableUse;

/// DROP TABLE: a temporary table goes before the base table that it hides.
pub(super) fn run(session: &mut Session, statement: &DropTable) -> Result<Outcome> {
    super::count(session, Counter::ComDropTable);
    let mut names = Vec::with_capacity(statement.tables.len());
    for table in &statement.tables {
        names.push(super::qualified(session, table)?);
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
    names.retain(|(database, name)| {
        !(session.drop_temporary_table(database, name) || statement.temporary)
    });
    if !names.is_empty() {
        session.database.catalog.drop_tables(session, &names)?;
    }
    Ok(StatementResult::default().into())
}

/// TRUNCATE TABLE
pub(super) fn truncate(session: &mut Session, table: &TableName) -> Result<Outcome> {
    super::count(session, Counter::ComTruncate);
    let (database, name) = super::qualified(session, table)?;
    if let Some(table) = session.temporary_table(&database, &name) {
        table.truncate(session)?;
        return Ok(StatementResult::default().into());
    }
    match session.hold_table(&database, &name, TableUse::Alone)? {
        Some((table, _held)) => table.truncate(session)?,
        None => return Err(codes::ER_NO_SUCH_TABLE.with(&[&database, &name])),
    }
    Ok(StatementResult::default().into())
}
