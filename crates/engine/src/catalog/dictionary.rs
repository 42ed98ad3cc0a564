//! The data dictionary: what of the catalog is in the data directory, beside the rows.
//!
//! A record for each database, each table, each view and each account. A table's is the statement that makes it, as SHOW
//! CREATE TABLE prints it, and what the statement does not say: where its rows are, when it was made.
//! So there is one form of a definition to write, to read and to look at, and it is MySQL's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use mayfly_storage::{DurableTransaction, TreeId};
use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{CollationId, Error, Result};

use super::definition::TableDefinition;
use super::view::ViewDefinition;
use super::{BaseTable, Catalog, DatabaseEntry, Databases, create, show_create};
use crate::accounts::account::AccountName;
use crate::accounts::{self, AccountTable};
use crate::character_sets;
use crate::database::Database;
use crate::session::Session;

const DATABASE: &str = "database\0";
const TABLE: &str = "table\0";
const NUMBER: &str = "number\0";
const VIEW: &str = "view\0";
const ACCOUNT: &str = "account\0";

/// The name of a database's record.
fn database_name(database: &str) -> Vec<u8> {
    format!("{DATABASE}{database}").into_bytes()
}

/// The name of a table's record.
fn table_name(database: &str, table: &str) -> Vec<u8> {
    format!("{TABLE}{database}\0{table}").into_bytes()
}

/// The name of a view's record.
fn view_name(database: &str, view: &str) -> Vec<u8> {
    format!("{VIEW}{database}\0{view}").into_bytes()
}

/// The name of an account's record.
fn account_name(account: &AccountName) -> Vec<u8> {
    format!("{ACCOUNT}{}\0{}", account.user, account.host).into_bytes()
}

/// The record of a database.
fn database_record(collation: CollationId) -> Vec<u8> {
    character_sets::row(collation).name.as_bytes().to_vec()
}

/// A database from its record.
fn read_database(name: &[u8], record: &[u8]) -> Result<(String, CollationId)> {
    let damaged = || damaged(name);
    let (name, record) = (text(name)?, text(record)?);
    let name = name.strip_prefix(DATABASE).ok_or_else(damaged)?;
    let row = character_sets::collation_by_name(record).ok_or_else(damaged)?;
    Ok((name.to_owned(), row.id))
}

/// Where a table's rows and indexes are in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trees {
    /// The rows.
    pub(crate) rows: TreeId,
    /// The indexes, in the order of the store.
    pub(crate) indexes: Vec<TreeId>,
}

/// The record of a table; `trees` are those of a table whose rows are durable.
fn table_record(
    definition: &TableDefinition,
    trees: Option<&Trees>,
    next_auto_increment: u64,
) -> Vec<u8> {
    let mut record = format!("created {}\n", definition.created);
    if let Some(trees) = trees {
        let _ = write!(record, "trees {}", trees.rows);
        for tree in &trees.indexes {
            let _ = write!(record, " {tree}");
        }
        record.push('\n');
    }
    let generated = definition.generated_keys();
    if !generated.is_empty() {
        record += "generated_keys";
        for key in generated {
            let _ = write!(record, " {key}");
        }
        record.push('\n');
    }
    record.push('\n');
    record += &show_create::table(
        definition,
        next_auto_increment,
        show_create::NameQuotes::Backticks,
        &TimeZone::UTC,
    );
    record.into_bytes()
}

/// A table from its record. `session` is one whose `sql_mode` lets every definition through.
fn read_table(
    session: &Session,
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
    let mut reader = mayfly_syntax::statements(statement, &session.options().parse);
    let parsed = match reader.next() {
        Some(Ok(parsed)) => parsed.statement,
        _ => return Err(damaged()),
    };
    let Statement::CreateTable(create) = parsed else {
        return Err(damaged());
    };
    // The table names its own character set.
    let collation = CollationId::default();
    let mut definition = create::definition(session, database, collation, &create, Vec::new())?;
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

/// The record of a view.
fn view_record(view: &ViewDefinition) -> Vec<u8> {
    let mut record = format!("created {}\n", view.created);
    let _ = writeln!(record, "character_set {}", view.character_set);
    let _ = writeln!(record, "collation {}", view.collation);
    let _ = writeln!(record, "columns_named {}", u8::from(view.columns_named));
    record.push('\n');
    record += &view.full_text();
    record.into_bytes()
}

/// A view from its record.
fn read_view(session: &Session, name: &[u8], record: &[u8]) -> Result<ViewDefinition> {
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
    let mut reader = mayfly_syntax::statements(statement, &session.options().parse);
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

/// Brings the dictionary from one state of the catalog to another and commits: records in a data
/// directory, and the rows of tables that are gone in any.
pub(crate) fn store(session: &Session, before: &Databases, after: &Databases) -> Result<()> {
    let is_kept = session.database.options.datadir.is_some();
    let gone: Vec<TreeId> = trees_of(before)
        .difference(&trees_of(after))
        .copied()
        .collect();
    if !is_kept && gone.is_empty() && !session.has_durable_changes() {
        return Ok(());
    }
    let transaction = session.durable()?;
    if is_kept {
        let (before, after) = (records_of(before), records_of(after));
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            transaction.set_record(name, None)?;
        }
        for (name, entry) in &after {
            if before.get(name).is_none_or(|old| !old.is_same(entry)) {
                transaction.set_record(name, Some(&entry.record()))?;
            }
        }
    }
    for tree in gone {
        transaction.drop_tree(tree);
        transaction.set_record(&number_name(tree), None)?;
    }
    transaction.participant().commit()
}

/// Brings the records of accounts from one state to another and commits.
pub(crate) fn store_accounts(
    session: &Session,
    before: &AccountTable,
    after: &AccountTable,
) -> Result<()> {
    if session.database.options.datadir.is_none() {
        return Ok(());
    }
    let transaction = session.durable()?;
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        transaction.set_record(&account_name(name), None)?;
    }
    for (name, account) in after {
        if before
            .get(name)
            .is_none_or(|old| !Arc::ptr_eq(old, account))
        {
            let record = accounts::definition::record(account);
            transaction.set_record(&account_name(name), Some(&record))?;
        }
    }
    transaction.participant().commit()
}

/// Fills the table of accounts from a data directory.
fn load_accounts(database: &Database) -> Result<()> {
    let mut table = AccountTable::new();
    for (name, record) in database.store()?.records(ACCOUNT.as_bytes())? {
        let account = accounts::definition::read_record(database, &record);
        let account = account.ok_or_else(|| damaged(&name))?;
        table.insert(account.name.clone(), Arc::new(account));
    }
    database.accounts.load(table);
    Ok(())
}

/// The name of the record of the next AUTO_INCREMENT number.
fn number_name(rows: TreeId) -> Vec<u8> {
    format!("{NUMBER}{rows}").into_bytes()
}

/// The next AUTO_INCREMENT number of a table, as it was kept.
pub(crate) fn next_number(session: &Session, trees: &Trees) -> Result<u64> {
    let record = session.durable()?.record(&number_name(trees.rows))?;
    let number = record.and_then(|record| Some(u64::from_le_bytes(record.try_into().ok()?)));
    Ok(number.unwrap_or(1))
}

/// Keeps it, when the transaction commits.
pub(crate) fn set_next_number(
    transaction: &DurableTransaction,
    trees: &Trees,
    next: u64,
) -> Result<()> {
    transaction.set_record(&number_name(trees.rows), Some(&next.to_le_bytes()))
}

/// The process ends: the numbers that only it knew are kept.
pub(crate) fn close(transaction: &DurableTransaction, catalog: &Catalog) -> Result<()> {
    for table in catalog.all_tables() {
        table.keep_next_number(transaction)?;
    }
    match transaction.has_changes() {
        true => transaction.participant().commit(),
        false => Ok(()),
    }
}

/// The trees of all tables.
fn trees_of(databases: &Databases) -> BTreeSet<TreeId> {
    let tables = databases.values().flat_map(|entry| entry.tables.values());
    let trees = tables.filter_map(|table| table.trees());
    trees
        .flat_map(|trees| std::iter::once(trees.rows).chain(trees.indexes.iter().copied()))
        .collect()
}

/// What a record is of.
enum Entry<'c> {
    Database(CollationId),
    Table(&'c Arc<BaseTable>),
    View(&'c Arc<ViewDefinition>),
}

impl Entry<'_> {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Database(a), Self::Database(b)) => a == b,
            (Self::Table(a), Self::Table(b)) => Arc::ptr_eq(a, b),
            (Self::View(a), Self::View(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn record(&self) -> Vec<u8> {
        match self {
            Self::Database(collation) => database_record(*collation),
            Self::View(view) => view_record(view),
            Self::Table(table) => table_record(
                &table.definition,
                table.trees(),
                table.next_auto_increment(),
            ),
        }
    }
}

fn records_of(databases: &Databases) -> BTreeMap<Vec<u8>, Entry<'_>> {
    let mut records = BTreeMap::new();
    for (database, entry) in databases {
        records.insert(database_name(database), Entry::Database(entry.collation));
        for (name, table) in &entry.tables {
            records.insert(table_name(database, name), Entry::Table(table));
        }
        for (name, view) in &entry.views {
            records.insert(view_name(database, name), Entry::View(view));
        }
    }
    records
}

/// Fills the catalog from a data directory; a new one gets the records of what a new catalog has.
pub(crate) fn load(database: &Arc<Database>) -> Result<()> {
    load_accounts(database)?;
    let store = database.store()?;
    let mut session = database.session();
    // Every definition was checked when it was made, by the modes of then.
    session.execute("SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")?;
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
        return self::store(&session, &Databases::new(), &new);
    }
    for (name, record) in store.records(TABLE.as_bytes())? {
        let (definition, trees) = read_table(&session, &name, &record)?;
        let id = database.catalog.next_table_id();
        let table = BaseTable::loaded(id, definition, trees, &session)?;
        if let Some(entry) = databases.get_mut(&table.definition.database) {
            let name = table.definition.name.clone();
            entry.tables.insert(name, Arc::new(table));
        }
    }
    for (name, record) in store.records(VIEW.as_bytes())? {
        let view = read_view(&session, &name, &record)?;
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
