//! Databases, indexes, and dropping or renaming tables.

use super::{KeyDefinition, TableName, TableOption};

/// `CREATE DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateDatabase {
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The database.
    pub name: String,
    /// Its options.
    pub options: Vec<DatabaseOption>,
}

/// `ALTER DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterDatabase {
    /// The database; `None` is the current one.
    pub name: Option<String>,
    /// Its options.
    pub options: Vec<DatabaseOption>,
}

/// An option of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseOption {
    /// `[DEFAULT] CHARACTER SET name`.
    Charset(String),
    /// `[DEFAULT] COLLATE name`.
    Collation(String),
    /// `[DEFAULT] ENCRYPTION 'Y' | 'N'`.
    Encryption(String),
    /// `READ ONLY DEFAULT | 0 | 1`.
    ReadOnly(String),
}

/// `DROP DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropDatabase {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The database.
    pub name: String,
}

/// `DROP [TEMPORARY] TABLE [IF EXISTS] a, b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropTable {
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The tables.
    pub tables: Vec<TableName>,
}

/// `RENAME TABLE a TO b, c TO d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameTable {
    /// Old and new names, in order.
    pub renames: Vec<(TableName, TableName)>,
}

/// `CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX name ON table (...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// The table.
    pub table: TableName,
    /// The index, named.
    pub key: KeyDefinition,
    /// `ALGORITHM` and `LOCK`.
    pub options: Vec<TableOption>,
}

/// `DROP INDEX name ON table`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropIndex {
    /// The index; `PRIMARY` is the primary key.
    pub name: String,
    /// The table.
    pub table: TableName,
    /// `ALGORITHM` and `LOCK`.
    pub options: Vec<TableOption>,
}
