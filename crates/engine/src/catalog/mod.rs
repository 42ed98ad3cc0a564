//! Databases and tables: names, definitions and the storage behind them.
//!
//! A table's definition never changes: a statement that alters a table replaces it by another [`BaseTable`] with
//! another [`TableId`], so a plan made for the old definition cannot read the new table. Statements hold tables by
//! [`Arc`], so a dropped table lives until its readers end.

pub(crate) mod auto_increment;
mod auto_increment_record;
pub(crate) mod base_table;
mod column_statistics;
pub(crate) mod column_uses;
pub(crate) mod definition;
pub(crate) mod dictionary;
pub(crate) mod engine_limits;
mod entry_name;
pub(crate) mod expression_text;
pub(crate) mod file_output;
pub(crate) mod fixed_literals;
pub(crate) mod foreign_keys;
pub(crate) mod histogram;
pub(crate) mod indexes;
pub(crate) mod inner_statements;
pub(crate) mod loaded_tables;
pub(crate) mod memory_engine;
pub(crate) mod private_rows;
mod private_store;
pub(crate) mod provided;
pub(crate) mod provided_changes;
pub(crate) mod provider;
pub(crate) mod row_hooks;
pub(crate) mod selected_type;
pub(crate) mod shared_rows;
pub(crate) mod show_create;
pub(crate) mod state;
pub(crate) mod stored_functions;
pub(crate) mod system_views;
pub(crate) mod table_access;
pub(crate) mod table_functions;
mod table_rows;
pub(crate) mod table_store;
pub(crate) mod trees;
pub(crate) mod type_text;
pub(crate) mod view;
pub(crate) mod view_query;
pub(crate) mod zoned_default;
mod zoned_table;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use mayfly_functions::StoredFunction;
use mayfly_plan::TableId;
use mayfly_storage::DurableTransaction;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result};
use parking_lot::{Mutex, RwLock};

pub(crate) use self::base_table::BaseTable;
use self::definition::{ForeignKeyDefinition, TableDefinition};
use self::entry_name::EntryName;
pub(crate) use self::entry_name::FullName;
use self::file_output::FileOutput;
pub(crate) use self::state::{CatalogChange, CatalogState};
pub(crate) use self::table_access::{RowAccess, TableAccess};
use self::table_functions::TableFunctions;
pub(crate) use self::table_store::{RowRef, RowStatement, RowUpdate, SingleRows};
pub(crate) use self::trees::Trees;
use self::view::ViewDefinition;
use crate::files::ObjectStores;
use crate::locks::table::TableLock;
use crate::names::{check_name, same_name};
use crate::system_schemas;

/// The catalog of all databases.
#[derive(Debug)]
pub(crate) struct Catalog {
    state: RwLock<Arc<CatalogState>>,
    /// Held while the catalog changes, until the change is durable.
    changing: Mutex<()>,
    next_table: AtomicU64,
    version: AtomicU64,
    /// Number of changes of views.
    views_version: AtomicU64,
    /// Locks of used views, by name: a replaced view keeps the lock of its name.
    view_locks: Mutex<HashMap<FullName, Weak<TableLock>>>,
    /// The table functions of the process.
    pub(crate) table_functions: TableFunctions,
    /// The writer of data files of the process.
    pub(crate) file_output: RwLock<Option<Arc<dyn FileOutput>>>,
    /// Stores of the objects that URLs name.
    pub(crate) object_stores: RwLock<Option<Arc<dyn ObjectStores>>>,
}

impl Catalog {
    /// The catalog of a new engine: the system databases, and an empty `test`.
    pub(crate) fn new() -> Self {
        let mut new = CatalogChange::default();
        for name in ["mysql", "test"] {
            new.put_database(name, CollationId::UTF8MB4_0900_AI_CI);
        }
        Self {
            state: RwLock::new(Arc::new(new.into_state())),
            changing: Mutex::new(()),
            next_table: AtomicU64::new(1),
            version: AtomicU64::new(0),
            views_version: AtomicU64::new(0),
            view_locks: Mutex::default(),
            table_functions: TableFunctions::default(),
            file_output: RwLock::default(),
            object_stores: RwLock::default(),
        }
    }

    /// An unused table id.
    pub(crate) fn next_table_id(&self) -> TableId {
        TableId(self.next_table.fetch_add(1, Ordering::Relaxed))
    }

    /// Version of the catalog: changes with every change of a database, table, view or account.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Increments the version after a change of accounts, on which plans depend too.
    pub(crate) fn touch(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    fn read(&self) -> Arc<CatalogState> {
        Arc::clone(&self.state.read())
    }

    /// Changes databases and tables atomically: nothing changes if `change` or the data directory fails. Uncommitted
    /// changes of the session are committed with it.
    fn change<T>(
        &self,
        access: &dyn TableAccess,
        change: impl FnOnce(&mut CatalogChange) -> Result<T>,
    ) -> Result<T> {
        // One change at a time; readers see the old state until the change is durable.
        let _alone = self.changing.lock();
        let before = self.read();
        let mut changing = CatalogChange::of(&before);
        let done = change(&mut changing)?;
        dictionary::store(access, &before, &changing)?;
        self.put(changing);
        Ok(done)
    }

    /// Removes a shared temporary table, with its rows by a transaction of its own, unless the name has another table by
    /// now.
    pub(crate) fn drop_volatile(
        &self,
        table: &Arc<BaseTable>,
        transaction: &DurableTransaction,
    ) -> Result<()> {
        let _alone = self.changing.lock();
        let definition = &table.definition;
        let known = self.table(&definition.database, &definition.name);
        if known.is_none_or(|known| !Arc::ptr_eq(&known, table)) {
            return Ok(());
        }
        let mut changing = CatalogChange::of(&self.read());
        changing.remove_table(&definition.database, &definition.name);
        let trees = table.trees().into_iter().flat_map(Trees::all);
        trees.for_each(|tree| transaction.drop_tree(tree));
        transaction.commit()?;
        self.put(changing);
        Ok(())
    }

    /// Replaces the catalog by the one of a data directory.
    pub(crate) fn load(&self, loaded: CatalogChange) {
        let _alone = self.changing.lock();
        self.put(loaded);
    }

    /// Version of views: changes with every change of a view.
    pub(crate) fn views_version(&self) -> u64 {
        self.views_version.load(Ordering::Acquire)
    }

    fn put(&self, changed: CatalogChange) {
        let is_view = |name: &EntryName| matches!(name, EntryName::View(_));
        if changed.touched().iter().any(is_view) {
            self.views_version.fetch_add(1, Ordering::AcqRel);
        }
        let after = Arc::new(changed.into_state());
        let mut state = self.state.write();
        self.version.fetch_add(1, Ordering::AcqRel);
        let before = std::mem::replace(&mut *state, after);
        drop(state);
        // Dropped outside of the lock: freeing the old state takes time.
        drop(before);
    }

    /// All databases but those with system views.
    pub(crate) fn databases(&self) -> Arc<CatalogState> {
        self.read()
    }

    /// The names of all databases, including the system's.
    pub(crate) fn database_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.read().keys().cloned().collect();
        names.extend(system_schemas::SCHEMAS.iter().copied().map(str::to_owned));
        names.sort();
        names
    }

    /// The collation of a database; `None` when there is none of that name.
    pub(crate) fn database_collation(&self, name: &str) -> Option<CollationId> {
        if system_schemas::is_schema(name) {
            return Some(if name.eq_ignore_ascii_case("performance_schema") {
                CollationId::UTF8MB4_0900_AI_CI
            } else {
                CollationId::UTF8MB3_GENERAL_CI
            });
        }
        self.read().get(name).map(|entry| entry.collation)
    }

    /// Whether there is a database of a name.
    pub(crate) fn has_database(&self, name: &str) -> bool {
        self.database_collation(name).is_some()
    }

    /// The error of a missing table: 1049 without its database, or else 1146.
    pub(crate) fn missing_table(&self, database: &str, name: &str) -> Error {
        let wrong = check_name(database, &codes::ER_WRONG_DB_NAME)
            .and_then(|()| check_name(name, &codes::ER_WRONG_TABLE_NAME));
        if let Err(error) = wrong {
            error
        } else if self.has_database(database) {
            codes::ER_NO_SUCH_TABLE.with(&[&database, &name])
        } else {
            codes::ER_BAD_DB_ERROR.with(&[&database])
        }
    }

    /// Creates a database; returns false if the name is taken.
    pub(crate) fn create_database(
        &self,
        access: &dyn TableAccess,
        name: &str,
        collation: CollationId,
    ) -> Result<bool> {
        if self.has_database(name) {
            return Ok(false);
        }
        self.change(access, |catalog| {
            let is_new = !catalog.contains_key(name);
            catalog.put_database(name, collation);
            Ok(is_new)
        })
    }

    /// Sets the collation of a database.
    pub(crate) fn alter_database(
        &self,
        access: &dyn TableAccess,
        name: &str,
        collation: CollationId,
    ) -> Result<()> {
        self.change(access, |catalog| {
            catalog.entry(name)?;
            catalog.put_database(name, collation);
            Ok(())
        })
    }

    /// Drops a database with its tables; returns the number of tables, or `None` when the database does not exist.
    pub(crate) fn drop_database(
        &self,
        access: &dyn TableAccess,
        name: &str,
    ) -> Result<Option<usize>> {
        if !self.read().contains_key(name) {
            return Ok(None);
        }
        self.change(access, |catalog| {
            let is_there = catalog.contains_key(name);
            Ok(is_there.then(|| catalog.remove_database(name)))
        })
    }

    /// A base table; `None` when there is no such database or table.
    pub(crate) fn table(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        self.read().get(database)?.tables.get(name).cloned()
    }

    /// A view; `None` when there is no such database or view.
    pub(crate) fn view(&self, database: &str, name: &str) -> Option<Arc<ViewDefinition>> {
        let databases = self.read();
        let own = databases
            .get(database)
            .map(|entry| entry.views.get(name).cloned());
        own.unwrap_or_else(|| system_views::view(database, name))
    }

    /// A stored function; `None` when there is no such database or function.
    pub(crate) fn function(&self, database: &str, name: &str) -> Option<Arc<StoredFunction>> {
        let databases = self.read();
        let functions = &databases.get(database)?.functions;
        functions.get(&name.to_lowercase()).cloned()
    }

    /// Adds a stored function: 1049 without its database, 1304 when that has a function of the name.
    pub(crate) fn add_function(
        &self,
        access: &dyn TableAccess,
        function: StoredFunction,
    ) -> Result<()> {
        self.change(access, |catalog| catalog.add_function(function))
    }

    /// Removes a stored function; false when there is none of that name.
    pub(crate) fn drop_function(
        &self,
        access: &dyn TableAccess,
        database: &str,
        name: &str,
    ) -> Result<bool> {
        if self.function(database, name).is_none() {
            return Ok(false);
        }
        self.change(
            access,
            |catalog| Ok(catalog.remove_function(database, name)),
        )
    }

    /// The lock of views of this name.
    pub(crate) fn view_lock(&self, database: &str, name: &str) -> Arc<TableLock> {
        let mut locks = self.view_locks.lock();
        let name = (database.to_owned(), name.to_owned());
        if let Some(lock) = locks.get(&name).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        locks.insert(name, Arc::downgrade(&lock));
        lock
    }

    /// Whether a base table or view has this name.
    pub(crate) fn has(&self, database: &str, name: &str) -> bool {
        let databases = self.read();
        let entry = databases.get(database);
        entry.is_some_and(|entry| entry.has(name))
    }

    /// All views of all databases.
    pub(crate) fn all_views(&self) -> Vec<Arc<ViewDefinition>> {
        let databases = self.read();
        let views = databases.values().flat_map(|entry| entry.views.values());
        let mut all: Vec<_> = views.cloned().collect();
        drop(databases);
        all.extend(system_views::all().cloned());
        all
    }

    /// All stored functions, ordered by database and name.
    pub(crate) fn all_functions(&self) -> Vec<Arc<StoredFunction>> {
        let databases = self.read();
        let mut names: Vec<&String> = databases.keys().collect();
        names.sort_unstable();
        let entries = names.into_iter().filter_map(|name| databases.get(name));
        let functions = entries.flat_map(|entry| entry.functions.values());
        functions.cloned().collect()
    }

    /// Adds a view, or replaces the one that has its name; 1049 without its database.
    pub(crate) fn put_view(
        &self,
        access: &dyn TableAccess,
        view: Arc<ViewDefinition>,
    ) -> Result<()> {
        self.change(access, |catalog| {
            let entry = catalog.entry(view.database())?;
            if entry.tables.contains_key(view.name()) {
                return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&view.name()]));
            }
            catalog.put_view(view)
        })
    }

    /// Renames tables and views, one after the other, all or none. `renamed` is a table under its new name.
    pub(crate) fn rename(
        &self,
        access: &dyn TableAccess,
        renames: &[(FullName, FullName)],
        renamed: impl Fn(&BaseTable, &FullName) -> BaseTable,
    ) -> Result<()> {
        self.change(access, |catalog| {
            for (from, to) in renames {
                let taken = || codes::ER_TABLE_EXISTS_ERROR.with(&[&to.1]);
                let is_taken = catalog.get(&to.0).is_some_and(|entry| entry.has(&to.1));
                let entry = catalog.get(&from.0);
                if let Some(view) = entry.and_then(|entry| entry.views.get(&from.1)) {
                    let view = Arc::new(view.renamed(&to.1));
                    catalog.entry(&to.0)?;
                    if from.0 != to.0 {
                        return Err(codes::ER_FORBID_SCHEMA_CHANGE.with(&[&from.0, &to.0]));
                    }
                    if is_taken {
                        return Err(taken());
                    }
                    catalog.remove_view(&from.0, &from.1);
                    catalog.put_view(view)?;
                    continue;
                }
                let table = entry.and_then(|entry| entry.tables.get(&from.1));
                let missing = || codes::ER_NO_SUCH_TABLE.with(&[&from.0, &from.1]);
                let table = Arc::clone(table.ok_or_else(missing)?);
                if is_taken {
                    return Err(taken());
                }
                let new = Arc::new(renamed(&table, to));
                self.replace_in(catalog, &table.definition, new, &[])?;
            }
            Ok(())
        })
    }

    /// Removes views, all or none; unknown names are ignored.
    pub(crate) fn drop_views(&self, access: &dyn TableAccess, names: &[FullName]) -> Result<()> {
        self.drop_each(access, names, CatalogChange::remove_view)
    }

    /// Removes tables, all or none; unknown names are ignored.
    pub(crate) fn drop_tables(&self, access: &dyn TableAccess, names: &[FullName]) -> Result<()> {
        self.drop_each(access, names, CatalogChange::remove_table)
    }

    fn drop_each(
        &self,
        access: &dyn TableAccess,
        names: &[FullName],
        remove: fn(&mut CatalogChange, &str, &str),
    ) -> Result<()> {
        self.change(access, |catalog| {
            for (database, name) in names {
                remove(catalog, database, name);
            }
            Ok(())
        })
    }

    /// All base tables of all databases.
    pub(crate) fn all_tables(&self) -> Vec<Arc<BaseTable>> {
        let databases = self.read();
        let entries = databases.values().flat_map(|entry| entry.tables.values());
        entries.cloned().collect()
    }

    /// Adds a table, which may replace one of its name if it `replaces`; 1049 without its database, 1050 when the
    /// name is taken.
    pub(crate) fn add_table(
        &self,
        access: &dyn TableAccess,
        table: Arc<BaseTable>,
        replaces: bool,
    ) -> Result<()> {
        self.change(access, |catalog| {
            let definition = &table.definition;
            let entry = catalog.entry(&definition.database)?;
            let taken = entry.views.contains_key(&definition.name)
                || (!replaces && entry.tables.contains_key(&definition.name));
            if taken {
                return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&definition.name]));
            }
            catalog.put_table(table)
        })
    }

    /// The foreign keys that refer to a table, with their tables.
    pub(crate) fn foreign_references(
        &self,
        parent: &TableDefinition,
    ) -> Vec<(Arc<BaseTable>, ForeignKeyDefinition)> {
        let state = self.read();
        let children = state.children_of(parent).iter();
        let foreign = |(child, index): &(Arc<BaseTable>, usize)| {
            let foreign = child.definition.foreign_keys.get(*index)?.clone();
            Some((Arc::clone(child), foreign))
        };
        children.filter_map(foreign).collect()
    }

    /// Replaces a table by another, perhaps with another name or in another database: 1049 without the database, 1050
    /// when the name is taken. Foreign keys that refer to the old table then refer to the new one, by the new names
    /// of its columns.
    pub(crate) fn replace_table(
        &self,
        access: &dyn TableAccess,
        old: &TableDefinition,
        new: Arc<BaseTable>,
        renamed_columns: &[(String, String)],
    ) -> Result<()> {
        self.change(access, |catalog| {
            self.replace_in(catalog, old, new, renamed_columns)
        })
    }

    fn replace_in(
        &self,
        catalog: &mut CatalogChange,
        old: &TableDefinition,
        new: Arc<BaseTable>,
        renamed_columns: &[(String, String)],
    ) -> Result<()> {
        let definition = Arc::clone(&new.definition);
        let moves = (&old.database, &old.name) != (&definition.database, &definition.name);
        if moves && catalog.entry(&definition.database)?.has(&definition.name) {
            return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&definition.name]));
        }
        catalog.put_table(new)?;
        if moves {
            catalog.remove_table(&old.database, &old.name);
        }
        if !moves && renamed_columns.is_empty() {
            return Ok(());
        }
        for (child, _) in catalog.children_of(old).to_vec() {
            if let Some(changed) = referring(&child, old, &definition, renamed_columns) {
                catalog.put_table(Arc::new(child.redefined(self.next_table_id(), changed)))?;
            }
        }
        Ok(())
    }
}

/// The definition of a child whose parent has been renamed.
fn referring(
    table: &BaseTable,
    old: &TableDefinition,
    new: &TableDefinition,
    renamed_columns: &[(String, String)],
) -> Option<TableDefinition> {
    let own = &table.definition.database;
    let is_it = |foreign: &ForeignKeyDefinition| foreign.refers_to(own, old);
    if !table.definition.foreign_keys.iter().any(is_it) {
        return None;
    }
    let mut definition = TableDefinition::clone(&table.definition);
    let foreign_keys = definition.foreign_keys.iter_mut();
    for foreign in foreign_keys.filter(|foreign| is_it(foreign)) {
        let references = &mut foreign.references;
        references.table.name.clone_from(&new.name);
        references.table.database = (new.database != *own).then(|| new.database.clone());
        for column in &mut references.columns {
            let mut renamed = renamed_columns.iter();
            if let Some((_, new)) = renamed.find(|(old, _)| same_name(old, column)) {
                column.clone_from(new);
            }
        }
    }
    Some(definition)
}
