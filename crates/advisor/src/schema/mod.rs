//! Tables, views and indexes of the server, read from the text of `CREATE TABLE` statements: those of a dump, or
//! those that the server itself shows.

mod catalog;
mod dump;
mod types;

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_plan::ViewSource;
use mayfly_types::SqlType;

pub(crate) use catalog::SchemaCatalog;

/// What is known of the server's tables.
#[derive(Debug, Default)]
pub struct Schema {
    tables: BTreeMap<(String, String), Arc<Table>>,
    views: BTreeMap<(String, String), Arc<View>>,
    /// The database of tables in a dump that names none.
    unnamed: bool,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its database; empty when the dump does not say.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Its indexes.
    pub indexes: Vec<Index>,
    /// About how many rows it has.
    pub rows: Option<u64>,
    /// About how many bytes a row takes.
    pub row_bytes: Option<u64>,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What stands behind the type in its definition, such as `CHARACTER SET latin1 NOT NULL`, for statements that
    /// change the type and nothing else.
    pub attributes: String,
    /// It is computed from others.
    pub generated: bool,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its columns, by position, with the length of a prefix; none for an expression.
    pub parts: Vec<(Option<usize>, Option<u64>)>,
    /// UNIQUE or PRIMARY.
    pub unique: bool,
    /// PRIMARY
    pub primary: bool,
    /// Finds values in order: no FULLTEXT, SPATIAL or HASH.
    pub ordered: bool,
}

/// A view.
#[derive(Debug, Clone)]
pub struct View {
    /// How the planner sees it.
    pub source: Arc<ViewSource>,
    /// The text of its query.
    pub text: String,
}

impl Table {
    /// The position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        let mut columns = self.columns.iter();
        columns.position(|column| column.name.eq_ignore_ascii_case(name))
    }
}

impl Schema {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.views.is_empty()
    }

    /// How many tables and views are known.
    pub fn counts(&self) -> (usize, usize) {
        (self.tables.len(), self.views.len())
    }

    fn key(database: &str, name: &str) -> (String, String) {
        (database.to_lowercase(), name.to_lowercase())
    }

    /// Adds a table, in place of one of the same name.
    pub fn add_table(&mut self, table: Table) {
        self.unnamed |= table.database.is_empty();
        let key = Self::key(&table.database, &table.name);
        self.tables.insert(key, Arc::new(table));
    }

    /// Adds a view, in place of a table or view of the same name.
    pub fn add_view(&mut self, view: View) {
        self.unnamed |= view.source.database.is_empty();
        let key = Self::key(&view.source.database, &view.source.name);
        // A dump makes a table first that stands for the view.
        self.tables.remove(&key);
        self.views.insert(key, Arc::new(view));
    }

    /// Changes what is known of a table's contents.
    pub fn set_statistics(
        &mut self,
        database: &str,
        name: &str,
        rows: Option<u64>,
        row_bytes: Option<u64>,
    ) {
        if let Some(table) = self.tables.get_mut(&Self::key(database, name)) {
            let table = Arc::make_mut(table);
            table.rows = rows;
            table.row_bytes = row_bytes;
        }
    }

    /// A table. Those of a dump that names no database are in every database.
    pub fn table(&self, database: &str, name: &str) -> Option<&Arc<Table>> {
        let found = self.tables.get(&Self::key(database, name));
        found.or_else(|| {
            self.unnamed
                .then(|| self.tables.get(&Self::key("", name)))?
        })
    }

    /// A view, likewise.
    pub fn view(&self, database: &str, name: &str) -> Option<&Arc<View>> {
        let found = self.views.get(&Self::key(database, name));
        found.or_else(|| self.unnamed.then(|| self.views.get(&Self::key("", name)))?)
    }

    /// Reads statements that define tables and views, such as those of `mysqldump --no-data`; others are passed
    /// over. `database` is that of names before the first USE. Gives the definitions that could not be read.
    pub fn read_dump(&mut self, text: &str, database: &str) -> Vec<String> {
        dump::read(self, text, database)
    }
}

#[cfg(test)]
mod tests;
