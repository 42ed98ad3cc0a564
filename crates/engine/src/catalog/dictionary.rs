//! The data dictionary: what of the catalog is in the data directory, beside the rows.
//!
//! A record for each database, each table, each view and each account. A table's is the statement that makes it, as SHOW
//! CREATE TABLE prints it, and what the statement does not say: where its rows are, when it was made.
//! So there is one form of a definition to write, to read and to look at, and it is MySQL's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use mayfly_storage::{DurableTransaction, TreeId};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{CollationId, Result};

use super::definition::TableDefinition;
use super::table_access::TableAccess;
use super::view::ViewDefinition;
use super::{BaseTable, Catalog, Databases, show_create};
use crate::character_sets;

pub(crate) const DATABASE: &str = "database\0";
pub(crate) const TABLE: &str = "table\0";
const NUMBER: &str = "number\0";
pub(crate) const VIEW: &str = "view\0";

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

/// The record of a database.
fn database_record(collation: CollationId) -> Vec<u8> {
    character_sets::row(collation).name.as_bytes().to_vec()
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

/// Brings the dictionary from one state of the catalog to another and commits: records in a data
/// directory, and the rows of tables that are gone in any.
pub(crate) fn store(access: &dyn TableAccess, before: &Databases, after: &Databases) -> Result<()> {
    let is_kept = access.has_data_directory();
    let gone: Vec<TreeId> = trees_of(before)
        .difference(&trees_of(after))
        .copied()
        .collect();
    if !is_kept && gone.is_empty() && !access.has_durable_changes() {
        return Ok(());
    }
    let transaction = access.durable()?;
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

/// The name of the record of the next AUTO_INCREMENT number.
fn number_name(rows: TreeId) -> Vec<u8> {
    format!("{NUMBER}{rows}").into_bytes()
}

/// The next AUTO_INCREMENT number of a table, as it was kept.
pub(crate) fn next_number(access: &dyn TableAccess, trees: &Trees) -> Result<u64> {
    let record = access.durable()?.record(&number_name(trees.rows))?;
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
