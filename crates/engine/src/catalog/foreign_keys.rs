//! Foreign keys between tables: referential actions, and the tables that they join.
//!
//! A foreign key belongs to the child, the referring table; the parent knows nothing of it, and need not even exist
//! (`foreign_key_checks = 0`). So the parent is looked up by name whenever the key is used, and the catalog keeps an
//! index of children by the names of their parents.

use std::sync::Arc;

use mayfly_storage::{IndexId, IndexSpec};
use mayfly_types::Error;
use mayfly_types::error::codes;
use rpds::RedBlackTreeMapSync;

use super::base_table::BaseTable;
use super::definition::{ForeignKeyDefinition, TableDefinition};
use super::entry_name::FullName;
use super::{indexes, show_create};

/// Effect on a child's row when the row that it refers to is removed or its key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferentialAction {
    /// Refuses the change: RESTRICT, NO ACTION, and SET DEFAULT, which InnoDB does not implement.
    Restrict,
    /// Deletes or updates the child's row.
    Cascade,
    /// Sets the child's columns to NULL.
    SetNull,
}

impl ReferentialAction {
    fn of(written: Option<&str>) -> Self {
        match written {
            Some("CASCADE") => Self::Cascade,
            Some("SET NULL") => Self::SetNull,
            _ => Self::Restrict,
        }
    }
}

impl ForeignKeyDefinition {
    /// ON DELETE
    pub(crate) fn on_delete(&self) -> ReferentialAction {
        ReferentialAction::of(self.references.on_delete.as_deref())
    }

    /// ON UPDATE
    pub(crate) fn on_update(&self) -> ReferentialAction {
        ReferentialAction::of(self.references.on_update.as_deref())
    }

    /// The parent's database and name, for a child in this database.
    pub(crate) fn parent<'a>(&'a self, database: &'a str) -> (&'a str, &'a str) {
        let table = &self.references.table;
        (table.database.as_deref().unwrap_or(database), &table.name)
    }

    /// Whether this key of a child in `child_database` refers to a table.
    pub(crate) fn refers_to(&self, child_database: &str, parent: &TableDefinition) -> bool {
        self.parent(child_database) == (&parent.database, &parent.name)
    }
}

impl TableDefinition {
    /// The positions of these columns; `None` when one does not exist.
    pub(crate) fn column_positions(&self, names: &[String]) -> Option<Vec<usize>> {
        let positions = names.iter().map(|name| self.column_position(name));
        positions.collect()
    }

    /// An index of the table's store whose keys begin with these columns.
    pub(crate) fn index_beginning_with(&self, columns: &[usize]) -> Option<IndexId> {
        let leads = |index: &IndexSpec| {
            let first = index.parts.iter().take(columns.len());
            let first = first.map(|part| (part.column, part.prefix));
            index.method.is_ordered() && first.eq(columns.iter().map(|column| (*column, None)))
        };
        let indexes = indexes::index_specs(self);
        indexes.iter().position(leads).map(IndexId)
    }
}

/// (table, index): a child, and the position of its foreign key in its definition.
type Child = (Arc<BaseTable>, usize);

/// Index of children: by the parent's database and name, in the order of the keys' names.
#[derive(Debug, Clone, Default)]
pub(super) struct Children(RedBlackTreeMapSync<FullName, Vec<Child>>);

impl Children {
    /// The children of a table.
    pub(super) fn of(&self, database: &str, name: &str) -> &[Child] {
        if self.0.is_empty() {
            return &[];
        }
        let children = self.0.get(&(database.to_owned(), name.to_owned()));
        children.map_or(&[], Vec::as_slice)
    }

    /// Adds the foreign keys of a table.
    pub(super) fn link(&mut self, table: &Arc<BaseTable>) {
        for (position, parent) in parents(table) {
            let child = (Arc::clone(table), position);
            match self.0.get_mut(&parent) {
                Some(children) => {
                    let before = |other: &Child| order(other) <= order(&child);
                    children.insert(children.partition_point(before), child);
                }
                None => self.0.insert_mut(parent, vec![child]),
            }
        }
    }

    /// Removes the foreign keys of a table.
    pub(super) fn unlink(&mut self, table: &Arc<BaseTable>) {
        for (_, parent) in parents(table) {
            let Some(children) = self.0.get_mut(&parent) else {
                continue;
            };
            children.retain(|(child, _)| !Arc::ptr_eq(child, table));
            if children.is_empty() {
                self.0.remove_mut(&parent);
            }
        }
    }
}

/// The parents of a table, with the positions of the foreign keys.
fn parents(table: &BaseTable) -> impl Iterator<Item = (usize, FullName)> {
    let definition = &table.definition;
    let foreign_keys = definition.foreign_keys.iter().enumerate();
    foreign_keys.map(|(position, foreign)| {
        let (database, name) = foreign.parent(&definition.database);
        (position, (database.to_owned(), name.to_owned()))
    })
}

fn order((table, position): &Child) -> (&str, &str) {
    let definition = &table.definition;
    (
        &definition.database,
        &definition.foreign_keys[*position].name,
    )
}

/// Error 1452: the row of a child has no parent.
pub(crate) fn no_referenced_row(child: &TableDefinition, foreign: &ForeignKeyDefinition) -> Error {
    codes::ER_NO_REFERENCED_ROW_2.with(&[&fails(child, foreign)])
}

/// Error 1451: the row of a parent has children.
pub(crate) fn row_is_referenced(child: &TableDefinition, foreign: &ForeignKeyDefinition) -> Error {
    codes::ER_ROW_IS_REFERENCED_2.with(&[&fails(child, foreign)])
}

/// The child and the constraint, as errors name them: with the action on rows, without options that do not act on
/// rows.
fn fails(child: &TableDefinition, foreign: &ForeignKeyDefinition) -> String {
    let name = mayfly_syntax::printer::quoted_identifier;
    let mut shown = foreign.clone();
    let happens = |action: &mut Option<String>| {
        let done = ReferentialAction::of(action.as_deref());
        action.take_if(|_| done == ReferentialAction::Restrict);
    };
    happens(&mut shown.references.on_delete);
    happens(&mut shown.references.on_update);
    format!(
        "{}.{}, {}",
        name(&child.database),
        name(&child.name),
        show_create::foreign_key(child, &shown, show_create::NameQuotes::Backticks)
    )
}
