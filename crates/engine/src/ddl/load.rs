//! Loading of the data dictionary when a data directory is opened.

use std::str::FromStr;
use std::sync::Arc;

use mayfly_storage::TreeId;
use mayfly_syntax::ast::Statement;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result};

use super::{account, create};
use crate::accounts::AccountTable;
use crate::catalog::definition::TableDefinition;
use crate::catalog::dictionary::{self, DATABASE, TABLE, VIEW};
use crate::catalog::histogram::Histogram;
use crate::catalog::trees::Lifespan;
use crate::catalog::view::ViewDefinition;
use crate::catalog::{BaseTable, CatalogChange, CatalogState, Trees};
use crate::character_sets;
use crate::database::Database;
use crate::ddl::account::records;
use crate::session::StatementContext;

/// A database from its record; `None` if the record is damaged.
fn read_database(name: &[u8], record: &[u8]) -> Option<(String, CollationId)> {
    let name = std::str::from_utf8(name).ok()?.strip_prefix(DATABASE)?;
    let row = character_sets::collation_by_name(std::str::from_utf8(record).ok()?)?;
    Some((name.to_owned(), row.id))
}

/// The record of a table or view.
struct Record<'r> {
    database: &'r str,
    /// Properties outside of the statement, one per line.
    facts: &'r str,
    /// The CREATE statement of the table or view.
    statement: Statement,
}

impl<'r> Record<'r> {
    /// Parses a record; `None` if it is damaged.
    fn read(
        context: &StatementContext<'_>,
        prefix: &str,
        name: &'r [u8],
        record: &'r [u8],
    ) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix(prefix)?;
        let (facts, statement) = std::str::from_utf8(record).ok()?.split_once("\n\n")?;
        let mut statements = mayfly_syntax::statements(statement, &context.options().parse);
        Some(Self {
            database: name.split_once('\0')?.0,
            facts,
            statement: statements.next()?.ok()?.statement,
        })
    }

    fn fact(&self, name: &str) -> Option<&'r str> {
        self.facts(name).next()
    }

    /// The values of a property that may be repeated.
    fn facts(&self, name: &str) -> impl Iterator<Item = &'r str> {
        let facts = self.facts.lines().filter_map(|line| line.split_once(' '));
        facts.filter_map(move |(fact, value)| (fact == name).then_some(value))
    }

    /// A property's numbers, separated by spaces; empty without the property.
    fn numbers<N: FromStr>(&self, name: &str) -> Option<Vec<N>> {
        let numbers = self
            .fact(name)
            .into_iter()
            .flat_map(|value| value.split(' '));
        numbers.map(|number| number.parse().ok()).collect()
    }
}

/// A table from its record; `None` if the record is damaged. `context` is of a session whose `sql_mode` accepts every
/// definition.
fn read_table(
    context: &StatementContext<'_>,
    record: &Record<'_>,
) -> Option<Result<(TableDefinition, Option<Trees>)>> {
    let Statement::CreateTable(create) = &record.statement else {
        return None;
    };
    let is_known = |line: &str| {
        let fact = line.split_once(' ').map(|(fact, _)| fact);
        fact.is_some_and(|fact| ["created", "trees", "generated_keys", "histogram"].contains(&fact))
    };
    if !record.facts.lines().all(is_known) {
        return None;
    }
    let created = record.fact("created").unwrap_or("0").parse().ok()?;
    let trees: Vec<TreeId> = record.numbers("trees")?;
    let trees = trees.split_first().map(|(rows, indexes)| Trees {
        lifespan: Lifespan::Lasting,
        rows: *rows,
        indexes: indexes.to_vec(),
    });
    // The table names its own character set.
    let collation = CollationId::default();
    let defined = create::definition(context, record.database, collation, create, Vec::new());
    let mut definition = match defined {
        Ok(definition) => definition,
        Err(error) => return Some(Err(error)),
    };
    for key in record.numbers::<usize>("generated_keys")? {
        definition.keys.get_mut(key)?.generated = true;
    }
    definition.created = created;
    let histograms = record.facts("histogram").map(Histogram::of_record);
    definition.histograms = histograms.collect::<Option<_>>()?;
    Some(Ok((definition, trees)))
}

/// A view from its record; `None` if the record is damaged.
fn read_view(record: &Record<'_>) -> Option<ViewDefinition> {
    let Statement::CreateView(create) = &record.statement else {
        return None;
    };
    Some(ViewDefinition {
        created: record.fact("created")?.parse().ok()?,
        character_set: record.fact("character_set")?.to_owned(),
        collation: record.fact("collation")?.to_owned(),
        columns_named: record.fact("columns_named") == Some("1"),
        ..ViewDefinition::of_full_text(create, record.database)
    })
}

/// Loads the accounts from a data directory.
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

/// Loads the catalog from a data directory; a new directory gets the records of a new catalog.
pub(crate) fn load(database: &Arc<Database>) -> Result<()> {
    load_accounts(database)?;
    let store = database.store()?;
    let mut session = database.session();
    // Every definition was checked when it was made, under the sql_mode in force then.
    session.execute("SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")?;
    let context = &StatementContext::internal(&mut session);
    let mut loaded = CatalogChange::default();
    for (name, record) in store.records(DATABASE.as_bytes())? {
        let database = read_database(&name, &record);
        let (name, collation) = database.ok_or_else(|| damaged(&name))?;
        loaded.put_database(&name, collation);
    }
    if loaded.is_empty() {
        for (name, entry) in database.catalog.databases().iter() {
            loaded.put_database(name, entry.collation);
        }
        return dictionary::store(context, &CatalogState::default(), &loaded);
    }
    for (name, record) in store.records(TABLE.as_bytes())? {
        let record = Record::read(context, TABLE, &name, &record);
        let table = record.and_then(|record| read_table(context, &record));
        let (definition, trees) = table.ok_or_else(|| damaged(&name))??;
        let id = database.catalog.next_table_id();
        let table = BaseTable::loaded(id, definition, trees, context)?;
        if loaded.contains_key(&table.definition.database) {
            loaded.put_table(Arc::new(table))?;
        }
    }
    for (name, record) in store.records(VIEW.as_bytes())? {
        let record = Record::read(context, VIEW, &name, &record);
        let view = record.and_then(|record| read_view(&record));
        let view = view.ok_or_else(|| damaged(&name))?;
        if loaded.contains_key(view.database()) {
            loaded.put_view(Arc::new(view))?;
        }
    }
    database.catalog.load(loaded);
    Ok(())
}

fn damaged(name: &[u8]) -> Error {
    let name = String::from_utf8_lossy(name).replace('\0', " ");
    let message = format!("the data dictionary's record of {name} is damaged");
    codes::ER_UNKNOWN_ERROR.with(&[&message])
}
