//! Databases and tables: names, definitions and the storage behind them.
//!
//! A table never changes its shape: a statement that changes one puts another [`BaseTable`] with
//! another [`TableId`], so a plan made for the old shape cannot read the new table.
//! Statements hold tables by [`Arc`], so a table that is dropped lives until its readers end.

pub(crate) mod base_table;
mod column_statistics;
pub(crate) mod column_uses;
pub(crate) mod definition;
pub(crate) mod dictionary;
pub(crate) mod engines;
pub(crate) mod expression_text;
pub(crate) mod foreign_keys;
pub(crate) mod histogram;
pub(crate) mod indexes;
pub(crate) mod memory_engine;
pub(crate) mod show_create;
pub(crate) mod system_views;
pub(crate) mod table_access;
pub(crate) mod table_store;
pub(crate) mod type_text;
pub(crate) mod view;
pub(crate) mod view_query;
pub(crate) mod zoned_table;

use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mayfly_plan::TableId;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result};

pub(crate) use self::base_table::BaseTable;
use self::definition::{ForeignKeyDefinition, TableDefinition};
use self::foreign_keys::Children;
pub(crate) use self::table_access::TableAccess;
pub(crate) use self::table_store::RowStore;
use self::view::ViewDefinition;
use crate::names::same_name;
use crate::system_schemas;

/// All databases.
#[derive(Debug)]
pub(crate) struct Catalog {
    state: RwLock<Arc<CatalogState>>,
    next_table: AtomicU64,
    version: AtomicU64,
}

/// The catalog between two changes.
#[derive(Debug, Default)]
pub(crate) struct CatalogState {
    databases: Databases,
    /// Made when it is asked for.
    children: OnceLock<Children>,
}

impl CatalogState {
    fn new(databases: Databases) -> Arc<Self> {
        Arc::new(Self {
            databases,
            children: OnceLock::new(),
        })
    }

    /// The foreign keys that refer to a table, by the tables that have them.
    pub(crate) fn children_of(&self, parent: &TableDefinition) -> &[(Arc<BaseTable>, usize)] {
        if parent.temporary {
            return &[];
        }
        let children = self
            .children
            .get_or_init(|| foreign_keys::children(&self.databases));
        if children.is_empty() {
            return &[];
        }
        let key = (parent.database.clone(), parent.name.clone());
        children.get(&key).map_or(&[], Vec::as_slice)
    }
}

impl Deref for CatalogState {
    type Target = Databases;

    fn deref(&self) -> &Databases {
        &self.databases
    }
}

/// A database and a name in it.
pub(crate) type FullName = (String, String);

/// Databases by name.
pub(crate) type Databases = BTreeMap<String, DatabaseEntry>;

/// One database.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseEntry {
    /// The collation of tables that name none.
    pub(crate) collation: CollationId,
    /// Its tables, by name.
    pub(crate) tables: BTreeMap<String, Arc<BaseTable>>,
    /// Its views, by name; no table has the name of one.
    pub(crate) views: BTreeMap<String, Arc<ViewDefinition>>,
}

impl DatabaseEntry {
    /// An empty database.
    pub(crate) fn new(collation: CollationId) -> Self {
        Self {
            collation,
            tables: BTreeMap::new(),
            views: BTreeMap::new(),
        }
    }

    /// Whether a table or view has this name.
    fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name) || self.views.contains_key(name)
    }
}

impl Catalog {
    /// The databases that a new engine has: the system's, and an empty `test`.
    pub(crate) fn new() -> Self {
        let entry = || DatabaseEntry::new(CollationId::UTF8MB4_0900_AI_CI);
        let databases = ["mysql", "test"].map(|name| (name.to_owned(), entry()));
        Self {
            state: RwLock::new(CatalogState::new(BTreeMap::from(databases))),
            next_table: AtomicU64::new(1),
            version: AtomicU64::new(0),
        }
    }

    /// A name for a new table.
    pub(crate) fn next_table_id(&self) -> TableId {
        TableId(self.next_table.fetch_add(1, Ordering::Relaxed))
    }

    /// Changes with every database, table and account that comes, goes or changes.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Something else changed that plans depend on: accounts.
    pub(crate) fn touch(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    fn read(&self) -> Arc<CatalogState> {
        Arc::clone(&self.state.read())
    }

    /// Changes what databases and tables there are: nothing, if `change` or the data directory
    /// refuses. What the session has not committed yet is committed with it.
    fn change<T>(
        &self,
        access: &dyn TableAccess,
        change: impl FnOnce(&mut Databases) -> Result<T>,
    ) -> Result<T> {
        let mut state = self.state.write();
        let mut changed = Databases::clone(&state);
        let done = change(&mut changed)?;
        dictionary::store(access, &state, &changed)?;
        self.version.fetch_add(1, Ordering::AcqRel);
        *state = CatalogState::new(changed);
        Ok(done)
    }

    /// The catalog becomes that of a data directory.
    pub(crate) fn load(&self, loaded: Databases) {
        let mut state = self.state.write();
        self.version.fetch_add(1, Ordering::AcqRel);
        *state = CatalogState::new(loaded);
    }

    /// All databases but those of the system's views.
    pub(crate) fn databases(&self) -> Arc<CatalogState> {
        self.read()
    }

    /// The names of all databases, the system's too.
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

    /// The error of a table that is not there: 1049 without its database, or else 1146.
    pub(crate) fn missing_table(&self, database: &str, name: &str) -> Error {
        let is_wrong = |name: &str| name.is_empty() || name.ends_with(' ');
        if is_wrong(database) {
            codes::ER_WRONG_DB_NAME.with(&[&database])
        } else if is_wrong(name) {
            codes::ER_WRONG_TABLE_NAME.with(&[&name])
        } else if self.has_database(database) {
            codes::ER_NO_SUCH_TABLE.with(&[&database, &name])
        } else {
            codes::ER_BAD_DB_ERROR.with(&[&database])
        }
    }

    /// Makes a database; whether there was none of that name.
    pub(crate) fn create_database(
        &self,
        access: &dyn TableAccess,
        name: &str,
        collation: CollationId,
    ) -> Result<bool> {
        if self.has_database(name) {
            return Ok(false);
        }
        self.change(access, |databases| {
            let entry = DatabaseEntry::new(collation);
            Ok(databases.insert(name.to_owned(), entry).is_none())
        })
    }

    /// Sets the collation of a database.
    pub(crate) fn alter_database(
        &self,
        access: &dyn TableAccess,
        name: &str,
        collation: CollationId,
    ) -> Result<()> {
        self.change(access, |databases| {
            entry_mut(databases, name)?.collation = collation;
            Ok(())
        })
    }

    /// Drops a database with its tables; how many tables it had, or `None` when there is no such
    /// database.
    pub(crate) fn drop_database(
        &self,
        access: &dyn TableAccess,
        name: &str,
    ) -> Result<Option<usize>> {
        if !self.read().contains_key(name) {
            return Ok(None);
        }
        self.change(access, |databases| {
            let entry = databases.remove(name);
            Ok(entry.map(|entry| entry.tables.len() + entry.views.len()))
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

    /// Adds a view, or replaces the one that has its name; 1049 without its database.
    pub(crate) fn put_view(
        &self,
        access: &dyn TableAccess,
        view: Arc<ViewDefinition>,
    ) -> Result<()> {
        self.change(access, |databases| {
            let entry = entry_mut(databases, view.database())?;
            if entry.tables.contains_key(view.name()) {
                return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&view.name()]));
            }
            entry.views.insert(view.name().to_owned(), view);
            Ok(())
        })
    }

    /// Gives tables and views other names, one after the other, all of them or none. `renamed` is a table
    /// under its new name.
    pub(crate) fn rename(
        &self,
        access: &dyn TableAccess,
        renames: &[(FullName, FullName)],
        renamed: impl Fn(&BaseTable, &FullName) -> BaseTable,
    ) -> Result<()> {
        self.change(access, |databases| {
            for (from, to) in renames {
                let taken = || codes::ER_TABLE_EXISTS_ERROR.with(&[&to.1]);
                let is_taken = databases.get(&to.0).is_some_and(|entry| entry.has(&to.1));
                let entry = databases.get(&from.0);
                if let Some(view) = entry.and_then(|entry| entry.views.get(&from.1)) {
                    let view = Arc::new(view.renamed(&to.1));
                    let entry = entry_mut(databases, &to.0)?;
                    if from.0 != to.0 {
                        return Err(codes::ER_FORBID_SCHEMA_CHANGE.with(&[&from.0, &to.0]));
                    }
                    if is_taken {
                        return Err(taken());
                    }
                    entry.views.remove(&from.1);
                    entry.views.insert(to.1.clone(), view);
                    continue;
                }
                let table = entry.and_then(|entry| entry.tables.get(&from.1));
                let missing = || codes::ER_NO_SUCH_TABLE.with(&[&from.0, &from.1]);
                let table = Arc::clone(table.ok_or_else(missing)?);
                if is_taken {
                    return Err(taken());
                }
                let new = Arc::new(renamed(&table, to));
                self.replace_in(databases, &table.definition, new, &[])?;
            }
            Ok(())
        })
    }

    /// Removes views, all or none; those that do not exist do not matter.
    pub(crate) fn drop_views(&self, access: &dyn TableAccess, names: &[FullName]) -> Result<()> {
        self.drop_each(access, names, |entry, name| drop(entry.views.remove(name)))
    }

    /// Removes tables, all or none; those that do not exist do not matter.
    pub(crate) fn drop_tables(&self, access: &dyn TableAccess, names: &[FullName]) -> Result<()> {
        self.drop_each(access, names, |entry, name| drop(entry.tables.remove(name)))
    }

    fn drop_each(
        &self,
        access: &dyn TableAccess,
        names: &[FullName],
        remove: fn(&mut DatabaseEntry, &str),
    ) -> Result<()> {
        self.change(access, |databases| {
            for (database, name) in names {
                if let Some(entry) = databases.get_mut(database) {
                    remove(entry, name);
                }
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

    /// Adds a table, which may replace one of its name if it `replaces`; 1049 without its database,
    /// 1050 when there is one of that name.
    pub(crate) fn add_table(
        &self,
        access: &dyn TableAccess,
        table: Arc<BaseTable>,
        replaces: bool,
    ) -> Result<()> {
        self.change(access, |databases| {
            let definition = &table.definition;
            let entry = entry_mut(databases, &definition.database)?;
            let taken = entry.views.contains_key(&definition.name)
                || (!replaces && entry.tables.contains_key(&definition.name));
            if taken {
                return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&definition.name]));
            }
            let name = definition.name.clone();
            entry.tables.insert(name, table);
            Ok(())
        })
    }

    /// The foreign keys that refer to a table, with the tables that have them.
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

    /// Replaces a table by another, which may have another name and be in another database: 1049
    /// without its database, 1050 when there is one of its name. Foreign keys that refer to the old
    /// table refer to the new one, by the new names of its columns.
    pub(crate) fn replace_table(
        &self,
        access: &dyn TableAccess,
        old: &TableDefinition,
        new: Arc<BaseTable>,
        renamed_columns: &[(String, String)],
    ) -> Result<()> {
        self.change(access, |databases| {
            self.replace_in(databases, old, new, renamed_columns)
        })
    }

    fn replace_in(
        &self,
        databases: &mut Databases,
        old: &TableDefinition,
        new: Arc<BaseTable>,
        renamed_columns: &[(String, String)],
    ) -> Result<()> {
        let definition = Arc::clone(&new.definition);
        let entry = entry_mut(databases, &definition.database)?;
        let moves = (&old.database, &old.name) != (&definition.database, &definition.name);
        if moves && entry.has(&definition.name) {
            return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&definition.name]));
        }
        entry.tables.insert(definition.name.clone(), new);
        if moves && let Some(entry) = databases.get_mut(&old.database) {
            entry.tables.remove(&old.name);
        }
        if !moves && renamed_columns.is_empty() {
            return Ok(());
        }
        for entry in databases.values_mut() {
            for table in entry.tables.values_mut() {
                if let Some(changed) = referring(table, old, &definition, renamed_columns) {
                    *table = Arc::new(table.redefined(self.next_table_id(), changed));
                }
            }
        }
        Ok(())
    }
}

/// A database of a name; 1049 when there is none.
fn entry_mut<'d>(databases: &'d mut Databases, name: &str) -> Result<&'d mut DatabaseEntry> {
    let missing = || codes::ER_BAD_DB_ERROR.with(&[&name]);
    databases.get_mut(name).ok_or_else(missing)
}

/// The definition of a table whose foreign keys refer to one that has other names now.
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
