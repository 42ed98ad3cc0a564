//! RENAME TABLE: several renames, done from left to right or not at all.

use mayfly_syntax::ast::{RenameTable, TableName};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::alter_table::rename_definition;
use crate::catalog::definition::TableDefinition;
use crate::catalog::{FullName, create as names};
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;
use crate::table_locks::TableUse;

/// Runs the statement. Base tables only: a temporary table gets another name by ALTER TABLE.
pub(super) fn run(session: &mut Session, statement: &RenameTable) -> Result<Outcome> {
    super::count(session, Counter::ComRenameTable);
    let resolved = statement.renames.iter();
    let renames: Vec<(FullName, FullName)> = resolved
        .map(|(from, to)| resolve(session, from, to))
        .collect::<Result<_>>()?;
    // In one order everywhere, so that statements do not wait for each other in a circle.
    let mut names: Vec<&FullName> = renames.iter().map(|(from, _)| from).collect();
    names.sort();
    let mut held = Vec::new();
    for (database, name) in names {
        held.extend(session.hold_table(database, name, TableUse::Alone)?);
    }
    let catalog = &session.database.catalog;
    catalog.rename(session, &renames, |table, (database, name)| {
        let mut definition = TableDefinition::clone(&table.definition);
        rename_definition(&mut definition, database.clone(), name.clone());
        table.redefined(catalog.next_table_id(), definition)
    })?;
    Ok(StatementResult::default().into())
}

fn resolve(session: &Session, from: &TableName, to: &TableName) -> Result<(FullName, FullName)> {
    let from = super::qualified(session, from)?;
    let to = super::qualified(session, to)?;
    names::check_name(&to.1, &codes::ER_WRONG_TABLE_NAME)?;
    for (database, _) in [&from, &to] {
        super::refuse_system_schema(session, database)?;
    }
    Ok((from, to))
}
