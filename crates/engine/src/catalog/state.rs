//! Immutable states of the catalog: databases, their tables and views, and the foreign keys between tables.
//!
//! A change makes a new state, which shares everything unchanged with the old one (Driscoll et al., "Making data
//! structures persistent", 1989), and records the names that it touched: creating a table costs the same among ten
//! thousand others as among ten, and only touched entries are compared and written.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use mayfly_functions::StoredFunction;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};
use rpds::RedBlackTreeMapSync;

use super::base_table::BaseTable;
use super::definition::TableDefinition;
use super::entry_name::EntryName;
use super::foreign_keys::Children;
use super::view::ViewDefinition;
use crate::error::refuse;

/// Databases by name.
pub(crate) type Databases = RedBlackTreeMapSync<String, DatabaseEntry>;

/// One database.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseEntry {
    /// The default collation of tables.
    pub(crate) collation: CollationId,
    /// Its tables, by name.
    pub(crate) tables: RedBlackTreeMapSync<String, Arc<BaseTable>>,
    /// Its views, by name; tables and views share one namespace.
    pub(crate) views: RedBlackTreeMapSync<String, Arc<ViewDefinition>>,
    /// Its stored functions, by name in lower case.
    pub(crate) functions: RedBlackTreeMapSync<String, Arc<StoredFunction>>,
}

impl DatabaseEntry {
    fn new(collation: CollationId) -> Self {
        Self {
            collation,
            tables: RedBlackTreeMapSync::new_sync(),
            views: RedBlackTreeMapSync::new_sync(),
            functions: RedBlackTreeMapSync::new_sync(),
        }
    }

    /// Whether a table or view has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name) || self.views.contains_key(name)
    }
}

/// One state of the catalog.
#[derive(Debug, Clone, Default)]
pub(crate) struct CatalogState {
    databases: Databases,
    children: Children,
}

impl CatalogState {
    /// The foreign keys that refer to a table, by the tables that have them, in the order of the keys' names.
    pub(crate) fn children_of(&self, parent: &TableDefinition) -> &[(Arc<BaseTable>, usize)] {
        if parent.is_volatile() {
            return &[];
        }
        self.children.of(&parent.database, &parent.name)
    }
}

impl Deref for CatalogState {
    type Target = Databases;

    fn deref(&self) -> &Databases {
        &self.databases
    }
}

/// A change in progress: the new state, and the touched names.
#[derive(Debug, Default)]
pub(crate) struct CatalogChange {
    state: CatalogState,
    touched: BTreeSet<EntryName>,
}

impl CatalogChange {
    /// A change that starts from this state.
    pub(crate) fn of(state: &CatalogState) -> Self {
        Self {
            state: state.clone(),
            touched: BTreeSet::new(),
        }
    }

    /// The names of entries that may differ from the initial state.
    pub(crate) fn touched(&self) -> &BTreeSet<EntryName> {
        &self.touched
    }

    /// The new state.
    pub(crate) fn into_state(self) -> CatalogState {
        self.state
    }

    /// Creates a database, or sets its collation.
    pub(crate) fn put_database(&mut self, name: &str, collation: CollationId) {
        self.touched.insert(EntryName::Database(name.to_owned()));
        match self.state.databases.get_mut(name) {
            Some(entry) => entry.collation = collation,
            None => {
                let entry = DatabaseEntry::new(collation);
                self.state.databases.insert_mut(name.to_owned(), entry);
            }
        }
    }

    /// Removes a database with all its entries; returns the number of tables and views.
    pub(crate) fn remove_database(&mut self, name: &str) -> usize {
        let Some(entry) = self.state.databases.get(name).cloned() else {
            return 0;
        };
        for table in entry.tables.keys() {
            self.remove_table(name, table);
        }
        for view in entry.views.keys() {
            self.remove_view(name, view);
        }
        self.touched.insert(EntryName::Database(name.to_owned()));
        self.state.databases.remove_mut(name);
        entry.tables.size() + entry.views.size()
    }

    /// Adds a table, or replaces the one that has its name; 1049 without its database.
    pub(crate) fn put_table(&mut self, table: Arc<BaseTable>) -> Result<()> {
        let definition = &table.definition;
        let name = definition.full_name();
        self.unlink(&name.0, &name.1);
        self.state.children.link(&table);
        let entry = self.entry_mut(&name.0)?;
        entry.tables.insert_mut(name.1.clone(), table);
        self.touched.insert(EntryName::Table(name));
        Ok(())
    }

    /// Removes a table, if there is one of the name.
    pub(crate) fn remove_table(&mut self, database: &str, name: &str) {
        if self.unlink(database, name)
            && let Some(entry) = self.state.databases.get_mut(database)
        {
            entry.tables.remove_mut(name);
            let name = (database.to_owned(), name.to_owned());
            self.touched.insert(EntryName::Table(name));
        }
    }

    /// Adds a view, or replaces the one that has its name; 1049 without its database.
    pub(crate) fn put_view(&mut self, view: Arc<ViewDefinition>) -> Result<()> {
        let name = (view.database().to_owned(), view.name().to_owned());
        let entry = self.entry_mut(&name.0)?;
        entry.views.insert_mut(name.1.clone(), view);
        self.touched.insert(EntryName::View(name));
        Ok(())
    }

    /// Removes a view, if there is one of the name.
    pub(crate) fn remove_view(&mut self, database: &str, name: &str) {
        if let Some(entry) = self.state.databases.get_mut(database)
            && entry.views.remove_mut(name)
        {
            let name = (database.to_owned(), name.to_owned());
            self.touched.insert(EntryName::View(name));
        }
    }

    /// Adds a stored function: 1049 without its database, 1304 when that has a function of the name.
    pub(crate) fn add_function(&mut self, function: StoredFunction) -> Result<()> {
        let entry = self.entry_mut(&function.database)?;
        let name = function.name.to_lowercase();
        refuse(entry.functions.contains_key(&name), || {
            codes::ER_SP_ALREADY_EXISTS.with(&[&"FUNCTION", &function.name])
        })?;
        entry.functions.insert_mut(name, Arc::new(function));
        Ok(())
    }

    /// Removes a stored function; false when there is none of that name.
    pub(crate) fn remove_function(&mut self, database: &str, name: &str) -> bool {
        let entry = self.state.databases.get_mut(database);
        entry.is_some_and(|entry| entry.functions.remove_mut(&name.to_lowercase()))
    }

    /// The database of a name; 1049 when there is none.
    pub(crate) fn entry(&self, name: &str) -> Result<&DatabaseEntry> {
        let missing = || codes::ER_BAD_DB_ERROR.with(&[&name]);
        self.state.databases.get(name).ok_or_else(missing)
    }

    fn entry_mut(&mut self, name: &str) -> Result<&mut DatabaseEntry> {
        let missing = || codes::ER_BAD_DB_ERROR.with(&[&name]);
        self.state.databases.get_mut(name).ok_or_else(missing)
    }

    /// Removes a table's foreign keys from the index of children; returns whether the table exists.
    fn unlink(&mut self, database: &str, name: &str) -> bool {
        let entry = self.state.databases.get(database);
        let Some(table) = entry.and_then(|entry| entry.tables.get(name)).cloned() else {
            return false;
        };
        self.state.children.unlink(&table);
        true
    }
}

impl Deref for CatalogChange {
    type Target = CatalogState;

    fn deref(&self) -> &CatalogState {
        &self.state
    }
}
