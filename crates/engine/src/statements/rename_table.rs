//! RENAME TABLE: several renames, done from left to right or not at all.

use std::sync::Arc;

use mayfly_syntax::ast::{RenameTable, TableName};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::alter_table::{rename_definition, replace};
use crate::catalog::create as names;
use crate::catalog::definition::TableDefinition;
use crate::result::{Outcome, StatementResult};
use crate::session::Session;
use crate::status::Counter;
use crate::table_locks::TableUse;

/// Runs the statement.
pub(super) fn run(session: &mut Session, statement: &RenameTable) -> Result<Outcome> {
    super::count(session, Counter::ComRenameTable);
    let mut done: Vec<((String, String), (String, String))> = Vec::new();
    for (from, to) in &statement.renames {
        let outcome = resolve(session, from, to).and_then(|(from, to)| {
            rename(session, &from, &to)?;
            done.push((from, to));
            Ok(())
        });
        if let Err(error) = outcome {
            for (from, to) in done.into_iter().rev() {
                // The names were free a moment ago.
                let _ = rename(session, &to, &from);
            }
            return Err(error);
        }
    }
    Ok(StatementResult::default().into())
}

type FullName = (String, String);

fn resolve(session: &Session, from: &TableName, to: &TableName) -> Result<(FullName, FullName)> {
    let from = super::qualified(session, from)?;
    let to = super::qualified(session, to)?;
    names::check_name(&to.1, &codes::ER_WRONG_TABLE_NAME)?;
    for (database, _) in [&from, &to] {
        if crate::information_schema::is_schema(database) {
            let denied = codes::ER_DBACCESS_DENIED_ERROR;
            return Err(denied.with(&[&session.user(), &session.host(), database]));
        }
    }
    Ok((from, to))
}

/// Base tables only: a temporary table gets another name by ALTER TABLE.
fn rename(session: &mut Session, from: &FullName, to: &FullName) -> Result<()> {
    let catalog = &session.database.catalog;
    if let Some(view) = catalog.view(&from.0, &from.1) {
        if catalog.database_collation(&to.0).is_none() {
            return Err(codes::ER_BAD_DB_ERROR.with(&[&to.0]));
        }
        if from.0 != to.0 {
            return Err(codes::ER_FORBID_SCHEMA_CHANGE.with(&[&from.0, &to.0]));
        }
        if catalog.has(&to.0, &to.1) {
            return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&to.1]));
        }
        return catalog.rename_view(session, &view, &to.1);
    }
    let missing = || codes::ER_NO_SUCH_TABLE.with(&[&from.0, &from.1]);
    let held = session.hold_table(&from.0, &from.1, TableUse::Alone)?;
    let (old, _held) = held.ok_or_else(missing)?;
    if catalog.has(&to.0, &to.1) {
        return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&to.1]));
    }
    let mut definition = TableDefinition::clone(&old.definition);
    rename_definition(&mut definition, to.0.clone(), to.1.clone());
    let new = old.redefined(catalog.next_table_id(), definition);
    replace(session, &old, Arc::new(new), &[])
}
