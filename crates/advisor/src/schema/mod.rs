//! Tables, views and indexes of the server, read from the text of `CREATE TABLE` statements: of a dump, or shown by the
//! server.

mod catalog;
mod dump;
mod types;

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_plan::ViewSource;
use mayfly_types::SqlType;

pub(crate) use catalog::SchemaCatalog;

/// The known tables of the server.
#[derive(Debug, Default)]
pub struct Schema {
    tables: BTreeMap<(String, String), Arc<Table>>,
    views: BTreeMap<(String, String), Arc<View>>,
    /// Whether there are tables of a dump that names no database.
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
    /// Estimated number of rows.
    pub rows: Option<u64>,
    /// Estimated bytes of a row.
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
    /// The attributes behind its type, such as `CHARACTER SET latin1 NOT NULL`, for statements that change only the
    /// type.
    pub attributes: String,
    /// Whether it is a generated column.
    pub generated: bool,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its columns, by position, with the length of a prefix; `None` for an expression.
    pub parts: Vec<(Option<usize>, Option<u64>)>,
    /// Whether it is UNIQUE or PRIMARY.
    pub unique: bool,
    /// PRIMARY
    pub primary: bool,
    /// Whether it is ordered: not FULLTEXT, SPATIAL or HASH.
    pub ordered: bool,
}

/// A view.
#[derive(Debug, Clone)]
pub struct View {
    /// The planner's form of the view.
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
    /// An empty schema.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.views.is_empty()
    }

    /// Number of tables and of views.
    pub fn counts(&self) -> (usize, usize) {
        (self.tables.len(), self.views.len())
    }

    fn key(database: &str, name: &str) -> (String, String) {
        (database.to_lowercase(), name.to_lowercase())
    }

    /// Adds a table, replacing one of the same name.
    pub fn add_table(&mut self, table: Table) {
        self.unnamed |= table.database.is_empty();
        let key = Self::key(&table.database, &table.name);
        self.tables.insert(key, Arc::new(table));
    }

    /// Adds a view, replacing a table or view of the same name.
    pub(crate) fn add_view(&mut self, view: View) {
        self.unnamed |= view.source.database.is_empty();
        let key = Self::key(&view.source.database, &view.source.name);
        // A dump first creates a placeholder table for the view.
        self.tables.remove(&key);
        self.views.insert(key, Arc::new(view));
    }

    /// Sets the statistics of a table.
    pub(crate) fn set_statistics(
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

    /// A table. Tables of a dump that names no database are in every database.
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

    /// Reads statements that define tables and views, such as those of `mysqldump --no-data`; others are skipped.
    /// `database` is the database of names before the first USE. Returns the definitions that could not be read.
    pub fn read_dump(&mut self, text: &str, database: &str) -> Vec<String> {
        dump::read(self, text, database)
    }
}

#[cfg(test)]
mod tests;
