//! The data dictionary: what of the catalog is in the data directory, beside the rows.
//!
//! A record for each database, each table, each view and each account. A table's is the statement that makes it, as SHOW
//! CREATE TABLE prints it, and what the statement does not say: where its rows are, when it was made.
//! So there is one form of a definition to write, to read and to look at, and it is MySQL's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use itertools::Itertools;
use mayfly_storage::{DurableTransaction, TreeId};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{CollationId, Result};

use super::definition::TableDefinition;
use super::show_create::{self, NameQuotes};
use super::table_access::TableAccess;
use super::view::ViewDefinition;
use super::{BaseTable, Catalog, Databases};
use crate::character_sets;

pub(crate) const DATABASE: &str = "database\0";
pub(crate) const TABLE: &str = "table\0";
const NUMBER: &str = "number\0";
pub(crate) const VIEW: &str = "view\0";

/// Where a table's rows and indexes are in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trees {
    /// The rows.
    pub(crate) rows: TreeId,
    /// The indexes, in the order of the store.
    pub(crate) indexes: Vec<TreeId>,
}

impl Trees {
    /// Those of the rows and of the indexes.
    fn all(&self) -> impl Iterator<Item = TreeId> {
        std::iter::once(self.rows).chain(self.indexes.iter().copied())
    }
}

/// The record of a table; `trees` are those of a table whose rows are durable.
fn table_record(
    definition: &TableDefinition,
    trees: Option<&Trees>,
    next_auto_increment: u64,
) -> Vec<u8> {
    let mut record = format!("created {}\n", definition.created);
    if let Some(trees) = trees {
        let _ = writeln!(record, "trees {}", trees.all().join(" "));
    }
    let generated = definition.generated_keys().join(" ");
    if !generated.is_empty() {
        let _ = writeln!(record, "generated_keys {generated}");
    }
    for histogram in &definition.histograms {
        let _ = writeln!(record, "histogram {}", histogram.record());
    }
    record.push('\n');
    let quotes = NameQuotes::Backticks;
    record += &show_create::table(definition, next_auto_increment, quotes, &TimeZone::UTC);
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
    let is_durable = access.has_data_directory();
    let remaining = trees_of(after);
    let mut dropped = trees_of(before);
    dropped.retain(|tree| !remaining.contains(tree));
    if !is_durable && dropped.is_empty() && !access.has_durable_changes() {
        return Ok(());
    }
    let transaction = access.durable()?;
    if is_durable {
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
    for tree in dropped {
        transaction.drop_tree(tree);
        transaction.set_record(&number_name(tree), None)?;
    }
    transaction.participant().commit()
}

/// The name of the record of the next AUTO_INCREMENT number.
fn number_name(rows: TreeId) -> Vec<u8> {
    format!("{NUMBER}{rows}").into_bytes()
}

/// The next AUTO_INCREMENT number of a table, as it was recorded.
pub(crate) fn next_number(access: &dyn TableAccess, trees: &Trees) -> Result<u64> {
    let record = access.durable()?.record(&number_name(trees.rows))?;
    let number = record.and_then(|record| Some(u64::from_le_bytes(record.try_into().ok()?)));
    Ok(number.unwrap_or(1))
}

/// Records it, when the transaction commits.
pub(crate) fn set_next_number(
    transaction: &DurableTransaction,
    trees: &Trees,
    next: u64,
) -> Result<()> {
    transaction.set_record(&number_name(trees.rows), Some(&next.to_le_bytes()))
}

/// The process ends: the numbers that only it knew are recorded.
pub(crate) fn close(transaction: &DurableTransaction, catalog: &Catalog) -> Result<()> {
    for table in catalog.all_tables() {
        table.record_next_number(transaction)?;
    }
    if transaction.has_changes() {
        transaction.participant().commit()
    } else {
        Ok(())
    }
}

/// The trees of all tables.
fn trees_of(databases: &Databases) -> BTreeSet<TreeId> {
    let tables = databases.values().flat_map(|entry| entry.tables.values());
    let trees = tables.filter_map(|table| table.trees());
    trees.flat_map(Trees::all).collect()
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
            Self::Database(collation) => character_sets::row(*collation).name.into(),
            Self::View(view) => view_record(view),
            Self::Table(table) => {
                let next = table.next_auto_increment();
                table_record(&table.definition, table.trees(), next)
            }
        }
    }
}

/// The records of all databases, tables and views, by their names.
fn records_of(databases: &Databases) -> BTreeMap<Vec<u8>, Entry<'_>> {
    let mut records = BTreeMap::new();
    let mut insert = |name: String, entry| records.insert(name.into_bytes(), entry);
    for (database, entry) in databases {
        insert(
            format!("{DATABASE}{database}"),
            Entry::Database(entry.collation),
        );
        for (name, table) in &entry.tables {
            insert(format!("{TABLE}{database}\0{name}"), Entry::Table(table));
        }
        for (name, view) in &entry.views {
            insert(format!("{VIEW}{database}\0{name}"), Entry::View(view));
        }
    }
    records
}
