//! The data dictionary: the catalog's records in the data directory.
//!
//! There is a record for each database, table, view and account; none for a shared temporary table, which ends with the
//! process. A table's record is its SHOW CREATE TABLE statement,
//! and what the statement does not say: the trees of its rows, and its time of creation. So there is one form of a
//! definition to write, to read and to look at, and it is MySQL's.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use itertools::Itertools;
use mayfly_storage::{DurableTransaction, TreeId};
use mayfly_types::Result;
use mayfly_types::temporal::TimeZone;

use super::auto_increment_record::number_name;
use super::base_table::BaseTable;
use super::definition::TableDefinition;
use super::entry_name::EntryName;
use super::loaded_tables;
use super::show_create::{self, NameQuotes};
use super::state::{CatalogChange, CatalogState};
use super::table_access::TableAccess;
use super::trees::{Lifespan, Trees};
use super::view::ViewDefinition;
use crate::character_sets;

pub(crate) const DATABASE: &str = "database\0";
pub(crate) const TABLE: &str = "table\0";
pub(crate) const VIEW: &str = "view\0";

/// The record of a table; `trees` are set if its rows are durable.
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

/// Stores a change of the catalog and commits: the records in a data directory, if there is one, and the removal of
/// dropped tables' rows.
pub(crate) fn store(
    access: &dyn TableAccess,
    before: &CatalogState,
    change: &CatalogChange,
) -> Result<()> {
    let is_lasting = |name: &&EntryName| {
        let states = [before, change];
        let mut tables = states.into_iter().filter_map(|state| table_of(state, name));
        !matches!(name, EntryName::Table(_)) || tables.any(|table| !table.definition.is_shared())
    };
    let recorded = change.touched().iter().filter(is_lasting);
    let recorded: Vec<_> = recorded.filter(|_| access.has_data_directory()).collect();
    for lifespan in Lifespan::ALL {
        let remaining = trees_of(change, change.touched(), lifespan);
        let mut dropped = trees_of(before, change.touched(), lifespan);
        dropped.retain(|tree| !remaining.contains(tree));
        let has_records = lifespan == Lifespan::Lasting && !recorded.is_empty();
        if !has_records && dropped.is_empty() && !access.has_durable_changes(lifespan) {
            continue;
        }
        let transaction = access.durable(lifespan)?;
        if has_records {
            for name in &recorded {
                transaction.set_record(&record_name(name), record(change, name).as_deref())?;
            }
        }
        for tree in dropped {
            transaction.drop_tree(tree);
            if lifespan == Lifespan::Lasting {
                transaction.set_record(&number_name(tree), None)?;
                transaction.set_record(&loaded_tables::record_name(tree), None)?;
            }
        }
        match transaction.participant().commit() {
            // What is recorded has happened: rows of shared tables that stay take space until the process ends.
            Err(_) if lifespan == Lifespan::Volatile && !recorded.is_empty() => {}
            committed => committed?,
        }
    }
    Ok(())
}

/// Records the exact AUTO_INCREMENT counters of tables at shutdown.
pub(crate) fn close(transaction: &DurableTransaction, tables: &[Arc<BaseTable>]) -> Result<()> {
    for table in tables {
        table.record_next_number(transaction)?;
    }
    if transaction.has_changes() {
        transaction.participant().commit()
    } else {
        Ok(())
    }
}

/// The table of a name.
fn table_of<'c>(catalog: &'c CatalogState, name: &EntryName) -> Option<&'c Arc<BaseTable>> {
    match name {
        EntryName::Table((database, name)) => catalog.get(database)?.tables.get(name),
        EntryName::Database(_) | EntryName::View(_) => None,
    }
}

/// The trees of the named tables in a store.
fn trees_of(
    catalog: &CatalogState,
    names: &BTreeSet<EntryName>,
    lifespan: Lifespan,
) -> BTreeSet<TreeId> {
    let tables = names.iter().filter_map(|name| table_of(catalog, name));
    let trees = tables.filter_map(|table| table.trees());
    let trees = trees.filter(|trees| trees.lifespan == lifespan);
    trees.flat_map(Trees::all).collect()
}

/// The key of a record.
fn record_name(name: &EntryName) -> Vec<u8> {
    let name = match name {
        EntryName::Database(database) => format!("{DATABASE}{database}"),
        EntryName::Table((database, name)) => format!("{TABLE}{database}\0{name}"),
        EntryName::View((database, name)) => format!("{VIEW}{database}\0{name}"),
    };
    name.into_bytes()
}

/// The record of an entry; `None` when the entry does not exist.
fn record(catalog: &CatalogState, name: &EntryName) -> Option<Vec<u8>> {
    Some(match name {
        EntryName::Database(database) => {
            let collation = catalog.get(database)?.collation;
            character_sets::row(collation).name.into()
        }
        EntryName::View((database, name)) => view_record(catalog.get(database)?.views.get(name)?),
        EntryName::Table(_) => {
            let is_recorded =
                |table: &&Arc<BaseTable>| !table.is_provided() && !table.definition.is_shared();
            let table = table_of(catalog, name).filter(is_recorded)?;
            let next = table.next_recorded();
            table_record(&table.definition, table.trees(), next)
        }
    })
}
