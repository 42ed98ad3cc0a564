//! `CREATE TABLE` in all its forms. Elements and options stay in the order written, so that
//! `SHOW CREATE TABLE` and error messages can follow it.

use super::{Expr, Query};

use super::{ColumnType, Partitioning, TableName, TableOption};

/// Kind of a table: who sees its definition and its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableKind {
    /// Both lasting, and for all sessions.
    #[default]
    Base,
    /// `TEMPORARY`: both for the session that creates it.
    Temporary,
    /// `GLOBAL TEMPORARY`: a lasting definition for all sessions, and rows of each session.
    GlobalTemporary,
    /// `SHARED TEMPORARY`: both for all sessions, neither of them lasting.
    SharedTemporary,
}

impl TableKind {
    /// Whether the rows are those of one session, and never lasting.
    pub fn has_private_rows(self) -> bool {
        matches!(self, Self::Temporary | Self::GlobalTemporary)
    }
}

/// Number of units of time, as written in TTL and CACHE FOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Number of units.
    pub count: u64,
    /// The unit.
    pub unit: PeriodUnit,
}

/// Unit of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeriodUnit {
    /// `SECOND`
    Second,
    /// `MINUTE`
    Minute,
    /// `HOUR`
    Hour,
    /// `DAY`
    Day,
}

impl PeriodUnit {
    /// The keyword.
    pub fn name(self) -> &'static str {
        match self {
            Self::Second => "SECOND",
            Self::Minute => "MINUTE",
            Self::Hour => "HOUR",
            Self::Day => "DAY",
        }
    }

    /// Number of seconds.
    pub fn seconds(self) -> u64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
            Self::Day => 86_400,
        }
    }
}

/// `CACHE {FOR period | UNTIL CHANGED}`: how long the result that a temporary table is made from is kept for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheClause {
    /// `FOR period`
    For(Period),
    /// `UNTIL CHANGED`
    UntilChanged,
}

/// `TTL period [AFTER {USE | CREATION}]`: time to live of a shared temporary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeToLive {
    /// How long the table lives …
    pub period: Period,
    /// … after its creation, or else after its last use.
    pub after_creation: bool,
}

/// `ON COMMIT ...`: the end of a transaction for a temporary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnCommit {
    /// `PRESERVE ROWS`.
    #[default]
    PreserveRows,
    /// `DELETE ROWS`.
    DeleteRows,
    /// `DROP`.
    Drop,
}

/// `CREATE [OR REPLACE] [[GLOBAL | SHARED] TEMPORARY] TABLE [IF NOT EXISTS] name ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// `OR REPLACE`, MariaDB's extension.
    pub or_replace: bool,
    /// `TEMPORARY`, `GLOBAL TEMPORARY`, `SHARED TEMPORARY`.
    pub kind: TableKind,
    /// `TTL ...`.
    pub ttl: Option<TimeToLive>,
    /// `CACHE ...`, before a query.
    pub cache: Option<CacheClause>,
    /// `ON COMMIT ...`.
    pub on_commit: Option<OnCommit>,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The new table.
    pub name: TableName,
    /// `LIKE other`; nothing else is then set.
    pub like: Option<TableName>,
    /// Columns, keys and constraints.
    pub elements: Vec<TableElement>,
    /// Table options.
    pub options: Vec<TableOption>,
    /// `PARTITION BY ...`.
    pub partitioning: Option<Partitioning>,
    /// `[AS] SELECT ...`.
    pub select: Option<CreateSelect>,
}

impl CreateTable {
    /// Whether the table is the session's own.
    pub fn is_temporary(&self) -> bool {
        self.kind == TableKind::Temporary
    }
}

/// The query of `CREATE TABLE ... SELECT`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSelect {
    /// `IGNORE` or `REPLACE` before the query.
    pub on_duplicate: OnDuplicateRow,
    /// The query.
    pub query: Box<Query>,
}

/// Handling of a row that duplicates a unique key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDuplicateRow {
    /// The statement fails.
    Error,
    /// The new row is dropped.
    Ignore,
    /// The old row is replaced.
    Replace,
}

/// One element between the parentheses of `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub enum TableElement {
    /// A column.
    Column(ColumnDefinition),
    /// A primary, unique, plain, full-text or spatial key.
    Key(KeyDefinition),
    /// A foreign key.
    ForeignKey(ForeignKey),
    /// A `CHECK` constraint.
    Check(CheckDefinition),
}

/// A column: name, type and attributes in the order written.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    /// The column's name.
    pub name: String,
    /// Its type.
    pub data_type: ColumnType,
    /// Its attributes.
    pub attributes: Vec<ColumnAttribute>,
}

/// An attribute of a column. `COLLATE` is part of the type wherever it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnAttribute {
    /// `NULL`.
    Null,
    /// `NOT NULL`.
    NotNull,
    /// `DEFAULT literal | (expression) | NOW()`; parenthesised expressions are `Expr::Nested`.
    Default(Expr),
    /// `ON UPDATE NOW()`.
    OnUpdate(Expr),
    /// `AUTO_INCREMENT`.
    AutoIncrement,
    /// `[PRIMARY] KEY`.
    PrimaryKey,
    /// `UNIQUE [KEY]`.
    UniqueKey,
    /// `COMMENT 'text'`.
    Comment(String),
    /// `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED]`.
    Generated {
        /// The expression.
        expr: Expr,
        /// The expression's source text, without the parentheses.
        text: String,
        /// Whether the value is stored.
        storage: GeneratedStorage,
    },
    /// `[CONSTRAINT name] CHECK (expression) [[NOT] ENFORCED]`.
    Check(CheckDefinition),
    /// `REFERENCES ...`: parsed and ignored by MySQL when written at a column.
    References(References),
    /// `VISIBLE` or `INVISIBLE`.
    Visible(bool),
    /// `SRID number`, of a geometry column.
    Srid(u64),
    /// `NOT SECONDARY`: a secondary engine does not load the column.
    NotSecondary,
    /// `COLUMN_FORMAT`, `STORAGE`, `ENGINE_ATTRIBUTE` and the like: name and value.
    Other(String, String),
}

/// Storage of a generated column's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedStorage {
    /// Computed when read; the default.
    Virtual,
    /// Computed when written.
    Stored,
}

/// A key and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyDefinition {
    /// Kind of the key.
    pub kind: KeyKind,
    /// The key's name, or else the constraint's.
    pub name: Option<String>,
    /// `USING BTREE | HASH`, upper-case.
    pub using: Option<String>,
    /// The columns or expressions.
    pub parts: Vec<KeyPart>,
    /// `COMMENT`, `KEY_BLOCK_SIZE`, `VISIBLE`, `INVISIBLE`, `WITH PARSER`, ...: name and value.
    pub options: Vec<TableOption>,
}

/// Kinds of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own names")]
pub enum KeyKind {
    Primary,
    Unique,
    Plain,
    FullText,
    Spatial,
}

/// One part of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// The column or the expression.
    pub target: KeyPartTarget,
    /// `DESC`.
    pub descending: bool,
    /// Whether `ASC` or `DESC` was written.
    pub is_ordered: bool,
}

/// What a key part indexes.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyPartTarget {
    /// A column, or its first `prefix` characters.
    Column {
        /// The column.
        name: String,
        /// The prefix length.
        prefix: Option<u64>,
    },
    /// A functional key part.
    Expression(Expr),
}

/// `[CONSTRAINT name] FOREIGN KEY [index] (columns) REFERENCES ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: Option<String>,
    /// The index's name.
    pub index_name: Option<String>,
    /// The referencing columns.
    pub columns: Vec<String>,
    /// The table and columns that they refer to.
    pub references: References,
}

/// `REFERENCES table (columns) [MATCH ..] [ON DELETE ..] [ON UPDATE ..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    /// The parent table.
    pub table: TableName,
    /// Its columns.
    pub columns: Vec<String>,
    /// `MATCH FULL | PARTIAL | SIMPLE`.
    pub match_kind: Option<String>,
    /// `ON DELETE` action, upper-case.
    pub on_delete: Option<String>,
    /// `ON UPDATE` action, upper-case.
    pub on_update: Option<String>,
}

/// A `CHECK` constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckDefinition {
    /// The constraint's name.
    pub name: Option<String>,
    /// The condition.
    pub expr: Expr,
    /// The condition's source text, without the parentheses.
    pub text: String,
    /// `false` after `NOT ENFORCED`.
    pub enforced: bool,
}
