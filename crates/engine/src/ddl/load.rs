//! Reads a data dictionary: what there was when the data directory was last open.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_storage::TreeId;
use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result};

use super::{account, create};
use crate::accounts::AccountTable;
use crate::catalog::definition::TableDefinition;
use crate::catalog::dictionary::{self, DATABASE, TABLE, Trees, VIEW};
use crate::catalog::view::ViewDefinition;
use crate::catalog::{BaseTable, DatabaseEntry, Databases};
use crate::character_sets;
use crate::database::Database;
use crate::ddl::account::records;
use crate::session::StatementContext;

/// A database from its record.
fn read_database(name: &[u8], record: &[u8]) -> Result<(String, CollationId)> {
    let damaged = || damaged(name);
    let (name, record) = (text(name)?, text(record)?);
    let name = name.strip_prefix(DATABASE).ok_or_else(damaged)?;
    let row = character_sets::collation_by_name(record).ok_or_else(damaged)?;
    Ok((name.to_owned(), row.id))
}

/// A table from its record. `context` is that of a session whose `sql_mode` lets every definition through.
fn read_table(
    context: &StatementContext<'_>,
    name: &[u8],
    record: &[u8],
) -> Result<(TableDefinition, Option<Trees>)> {
    let damaged = || damaged(name);
    let (name, record) = (text(name)?, text(record)?);
    let name = name.strip_prefix(TABLE).ok_or_else(damaged)?;
    let (database, _) = name.split_once('\0').ok_or_else(damaged)?;
    let (facts, statement) = record.split_once("\n\n").ok_or_else(damaged)?;
    let mut created = 0;
    let mut trees = None;
    let mut generated: Vec<usize> = Vec::new();
    for fact in facts.lines() {
        let (fact, value) = fact.split_once(' ').ok_or_else(damaged)?;
        let mut numbers = value.split(' ').map(str::parse::<TreeId>);
        match fact {
            "created" => created = value.parse().map_err(|_| damaged())?,
            "trees" => {
                trees = Some(Trees {
                    rows: numbers.next().and_then(|n| n.ok()).ok_or_else(damaged)?,
                    indexes: numbers.collect::<Result<_, _>>().map_err(|_| damaged())?,
                });
            }
            "generated_keys" => {
                let keys = value.split(' ').map(str::parse);
                generated = keys.collect::<Result<_, _>>().map_err(|_| damaged())?;
            }
            _ => return Err(damaged()),
        }
    }
    let mut reader = mayfly_syntax::statements(statement, &context.options().parse);
    let parsed = match reader.next() {
        Some(Ok(parsed)) => parsed.statement,
        _ => return Err(damaged()),
    };
    let Statement::CreateTable(create) = parsed else {
        return Err(damaged());
    };
    // The table names its own character set.
    let collation = CollationId::default();
    let mut definition = create::definition(context, database, collation, &create, Vec::new())?;
    for key in generated {
        let key = definition.keys.get_mut(key).ok_or_else(damaged)?;
        key.generated = true;
    }
    Ok((
        TableDefinition {
            created,
            ..definition
        },
        trees,
    ))
}

/// A view from its record.
fn read_view(context: &StatementContext<'_>, name: &[u8], record: &[u8]) -> Result<ViewDefinition> {
    let damaged = || damaged(name);
    let (name, record) = (text(name)?, text(record)?);
    let name = name.strip_prefix(VIEW).ok_or_else(damaged)?;
    let (database, _) = name.split_once('\0').ok_or_else(damaged)?;
    let (facts, statement) = record.split_once("\n\n").ok_or_else(damaged)?;
    let fact = |name: &str| {
        let mut facts = facts.lines().filter_map(|line| line.split_once(' '));
        facts
            .find(|(fact, _)| *fact == name)
            .map(|(_, value)| value)
    };
    let created = fact("created").and_then(|value| value.parse().ok());
    let mut reader = mayfly_syntax::statements(statement, &context.options().parse);
    let Some(Ok(parsed)) = reader.next() else {
        return Err(damaged());
    };
    let Statement::CreateView(create) = parsed.statement else {
        return Err(damaged());
    };
    let view = ViewDefinition::of_full_text(&create, database);
    Ok(ViewDefinition {
        created: created.ok_or_else(damaged)?,
        character_set: fact("character_set").ok_or_else(damaged)?.to_owned(),
        collation: fact("collation").ok_or_else(damaged)?.to_owned(),
        columns_named: fact("columns_named") == Some("1"),
        ..view
    })
}

/// Fills the table of accounts from a data directory.
fn load_accounts(database: &Database) -> Result<()> {
    let mut table = AccountTable::new();
    for (name, record) in database.store()?.records(records::ACCOUNT.as_bytes())? {
        let account = account::read_record(database, &record);
        let account = account.ok_or_else(|| damaged(&name))?;
        table.insert(account.name.clone(), Arc::new(account));
    }
    database.accounts.load(table);
    Ok(())
}

/// Fills the catalog from a data directory; a new one gets the records of what a new catalog has.
pub(crate) fn load(database: &Arc<Database>) -> Result<()> {
    load_accounts(database)?;
    let store = database.store()?;
    let mut session = database.session();
    // Every definition was checked when it was made, by the modes of then.
    session.execute("SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")?;
    let context = &StatementContext::internal(&mut session);
    let mut databases = Databases::new();
    for (name, record) in store.records(DATABASE.as_bytes())? {
        let (name, collation) = read_database(&name, &record)?;
        let entry = DatabaseEntry {
            collation,
            tables: BTreeMap::new(),
            views: BTreeMap::new(),
        };
        databases.insert(name, entry);
    }
    if databases.is_empty() {
        let new = database.catalog.databases();
        return dictionary::store(context, &Databases::new(), &new);
    }
    for (name, record) in store.records(TABLE.as_bytes())? {
        let (definition, trees) = read_table(context, &name, &record)?;
        let id = database.catalog.next_table_id();
        let table = BaseTable::loaded(id, definition, trees, context)?;
        if let Some(entry) = databases.get_mut(&table.definition.database) {
            let name = table.definition.name.clone();
            entry.tables.insert(name, Arc::new(table));
        }
    }
    for (name, record) in store.records(VIEW.as_bytes())? {
        let view = read_view(context, &name, &record)?;
        if let Some(entry) = databases.get_mut(view.database()) {
            entry.views.insert(view.name().to_owned(), Arc::new(view));
        }
    }
    database.catalog.load(databases);
    Ok(())
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| damaged(bytes))
}

fn damaged(name: &[u8]) -> Error {
    let name = String::from_utf8_lossy(name).replace('\0', " ");
    codes::ER_UNKNOWN_ERROR.with(&[&format!(
        "the data dictionary's record of {name} is damaged"
    )])
}
