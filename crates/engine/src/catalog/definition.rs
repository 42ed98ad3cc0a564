//! Table definitions in the catalog: enough to print a table exactly as MySQL's SHOW CREATE TABLE does, and to fill
//! and check the columns of new rows.

use mayfly_plan::{ColumnTraits, DefaultSource};
use mayfly_syntax::ast;
use mayfly_types::convert::implicit_default;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use super::FullName;
use super::histogram::Histogram;
use super::zoned_default;
use crate::engines::Engine;
use crate::names::same_name;

/// The option that names a secondary engine.
pub(crate) const SECONDARY_ENGINE: &str = "SECONDARY_ENGINE";

/// A table's definition. Immutable; an altered table has a new one.
#[derive(Debug, Clone)]
pub(crate) struct TableDefinition {
    /// Its database.
    pub(crate) database: String,
    /// Its name.
    pub(crate) name: String,
    /// Its columns, in order; after the named ones the hidden columns of functional key parts.
    pub(crate) columns: Vec<ColumnDefinition>,
    /// Its keys, in the order in which MySQL lists them.
    pub(crate) keys: Vec<KeyDefinition>,
    /// Its foreign keys, by name.
    pub(crate) foreign_keys: Vec<ForeignKeyDefinition>,
    /// Its CHECK constraints, by name.
    pub(crate) checks: Vec<CheckConstraint>,
    /// The default collation of columns.
    pub(crate) collation: CollationId,
    /// ENGINE
    pub(crate) engine: Engine,
    /// COMMENT
    pub(crate) comment: String,
    /// The other written options, with MySQL's names, in the order in which it prints them.
    pub(crate) options: Vec<(String, String)>,
    /// AUTO_INCREMENT of the definition.
    pub(crate) auto_increment_start: u64,
    /// PARTITION BY …
    pub(crate) partitioning: Option<ast::Partitioning>,
    /// Histograms by ANALYZE TABLE … UPDATE HISTOGRAM, with their columns' names.
    pub(crate) histograms: Vec<Histogram>,
    /// Who sees the definition and the rows.
    pub(crate) kind: ast::TableKind,
    /// What the end of a transaction does to the rows of a temporary table.
    pub(crate) on_commit: ast::OnCommit,
    /// Time to live of a shared temporary table.
    pub(crate) ttl: Option<ast::TimeToLive>,
    /// Time of creation: microseconds since 1970 UTC.
    pub(crate) created: i64,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct ColumnDefinition {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) ty: SqlType,
    /// Whether it may be NULL.
    pub(crate) nullable: bool,
    /// Its value in rows that give none.
    pub(crate) default: ColumnDefault,
    /// ON UPDATE CURRENT_TIMESTAMP
    pub(crate) on_update_now: bool,
    /// AUTO_INCREMENT
    pub(crate) auto_increment: bool,
    /// GENERATED ALWAYS AS
    pub(crate) generated: Option<GeneratedColumn>,
    /// COMMENT
    pub(crate) comment: String,
    /// INVISIBLE
    pub(crate) invisible: bool,
    /// Whether the statement named a character set or collation for it, so that SHOW CREATE prints them.
    pub(crate) explicit_collation: bool,
    /// NOT SECONDARY: a secondary engine does not load it.
    pub(crate) not_secondary: bool,
}

impl TableDefinition {
    /// An InnoDB table without columns.
    pub(crate) fn new(database: &str, name: &str) -> Self {
        Self {
            database: database.to_owned(),
            name: name.to_owned(),
            columns: Vec::new(),
            keys: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            collation: CollationId::default(),
            engine: Engine::InnoDb,
            comment: String::new(),
            options: Vec::new(),
            auto_increment_start: 1,
            partitioning: None,
            histograms: Vec::new(),
            kind: ast::TableKind::Base,
            on_commit: ast::OnCommit::PreserveRows,
            ttl: None,
            created: 0,
        }
    }

    /// Database and name.
    pub(crate) fn full_name(&self) -> FullName {
        (self.database.clone(), self.name.clone())
    }

    /// Whether it is a session's own table: no other session sees it.
    #[inline]
    pub(crate) fn is_temporary(&self) -> bool {
        self.kind == ast::TableKind::Temporary
    }

    /// Whether each session has rows of its own in it, which are never lasting.
    #[inline]
    pub(crate) fn has_private_rows(&self) -> bool {
        self.kind.has_private_rows()
    }

    /// Whether all sessions share its definition and rows until the process ends.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.kind == ast::TableKind::SharedTemporary
    }

    /// Whether its rows are never lasting: it has no foreign keys and no full-text index.
    pub(crate) fn is_volatile(&self) -> bool {
        self.kind != ast::TableKind::Base
    }

    /// The positions of the keys that were created for foreign keys.
    pub(crate) fn generated_keys(&self) -> impl Iterator<Item = usize> {
        (0..self.keys.len()).filter(|key| self.keys[*key].generated)
    }

    /// Metadata of a column for the protocol, besides its type.
    pub(crate) fn column_traits(&self, position: usize) -> ColumnTraits {
        let mut traits = ColumnTraits::default();
        for key in &self.keys {
            let is_it = |part: &KeyPart| part.column() == Some(position);
            let Some(part) = key.parts.iter().position(is_it) else {
                continue;
            };
            traits.key_part = true;
            match (key.kind, part) {
                (ast::KeyKind::Primary, _) => traits.primary_key = true,
                (ast::KeyKind::Unique, 0) if key.parts.len() == 1 => traits.unique_key = true,
                (_, 0) => traits.multiple_key = true,
                _ => {}
            }
        }
        if let Some(column) = self.columns.get(position) {
            let is_now = matches!(column.default, ColumnDefault::Now);
            traits.auto_increment = column.auto_increment;
            // MySQL reports this for TIMESTAMP columns only.
            let is_timestamp = column.ty.kind == TypeKind::Timestamp;
            traits.on_update_now = is_timestamp && column.on_update_now;
            traits.timestamp = is_timestamp && (is_now || column.on_update_now);
            let has_none = match column.default {
                ColumnDefault::None => !column.nullable,
                ColumnDefault::Dropped => true,
                _ => false,
            };
            traits.no_default = has_none && !column.auto_increment && column.generated.is_none();
        }
        traits
    }
}

impl ColumnDefinition {
    /// A nullable column without a default or other attributes.
    pub(crate) fn new(name: impl Into<String>, ty: SqlType) -> Self {
        Self {
            name: name.into(),
            ty,
            nullable: true,
            default: ColumnDefault::None,
            on_update_now: false,
            auto_increment: false,
            generated: None,
            comment: String::new(),
            invisible: false,
            explicit_collation: false,
            not_secondary: false,
        }
    }

    /// Whether it is a virtual generated column.
    pub(crate) fn is_virtual(&self) -> bool {
        let generated = self.generated.as_ref();
        generated.is_some_and(|generated| !generated.stored)
    }

    /// Whether it is the hidden column of a functional key part: no statement can name it.
    pub(crate) fn is_hidden(&self) -> bool {
        self.name.is_empty()
    }

    /// Type of the elements, if it holds the arrays of a multi-valued key part.
    pub(crate) fn elements(&self) -> Option<&SqlType> {
        self.generated.as_ref()?.elements.as_ref()
    }

    /// Type of its values in a key.
    pub(crate) fn key_type(&self) -> &SqlType {
        self.elements().unwrap_or(&self.ty)
    }

    /// Makes SHOW CREATE omit DEFAULT NULL.
    pub(crate) fn forget_null_default(&mut self) {
        if matches!(self.default, ColumnDefault::Null) {
            self.default = ColumnDefault::None;
        }
    }

    /// The default as a session in this time zone sees it, if it is a constant.
    pub(crate) fn default_value(&self, zone: &TimeZone) -> Option<Value> {
        match &self.default {
            ColumnDefault::Value(value) => Some(zoned_default::value_in(zone, value, &self.ty)),
            _ => None,
        }
    }

    /// The value of `DEFAULT(column)`.
    pub(crate) fn default_source(&self, zone: &TimeZone) -> DefaultSource {
        match &self.default {
            ColumnDefault::Expression { .. } => DefaultSource::Expression,
            ColumnDefault::Dropped => DefaultSource::None,
            _ if self.generated.is_some() => DefaultSource::None,
            ColumnDefault::Value(_) => {
                DefaultSource::Value(self.default_value(zone).unwrap_or(Value::Null))
            }
            // The default is the time of the row, not a property of the column.
            _ if self.nullable => DefaultSource::Value(Value::Null),
            ColumnDefault::Now => DefaultSource::Value(implicit_default(&self.ty)),
            ColumnDefault::None | ColumnDefault::Null => DefaultSource::None,
        }
    }
}

/// Default of a column.
#[derive(Debug, Clone)]
pub(crate) enum ColumnDefault {
    /// None was written: NULL for a nullable column, else error 1364.
    None,
    /// DEFAULT NULL was written.
    Null,
    /// DROP DEFAULT: a row must give a value, even if the column is nullable.
    Dropped,
    /// A constant of the column's type; in UTC for a TIMESTAMP.
    Value(Value),
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    Now,
    /// DEFAULT (expression).
    Expression {
        /// The expression.
        expression: Box<ast::Expr>,
        /// As SHOW CREATE prints it, without the outer parentheses.
        text: String,
    },
}

/// Definition of a generated column.
#[derive(Debug, Clone)]
pub(crate) struct GeneratedColumn {
    /// The expression.
    pub(crate) expression: Box<ast::Expr>,
    /// As SHOW CREATE prints it, without the outer parentheses.
    pub(crate) text: String,
    /// STORED instead of VIRTUAL.
    pub(crate) stored: bool,
    /// Type of the elements of a multi-valued key part, of which the column holds arrays.
    pub(crate) elements: Option<SqlType>,
}

impl GeneratedColumn {
    /// STORED or VIRTUAL
    pub(crate) fn storage(&self) -> &'static str {
        if self.stored { "STORED" } else { "VIRTUAL" }
    }
}

/// A key.
#[derive(Debug, Clone)]
pub(crate) struct KeyDefinition {
    /// Its kind.
    pub(crate) kind: ast::KeyKind,
    /// Its name; `PRIMARY` for the primary key.
    pub(crate) name: String,
    /// Its parts.
    pub(crate) parts: Vec<KeyPart>,
    /// USING BTREE or HASH, when it was written.
    pub(crate) using: Option<String>,
    /// COMMENT
    pub(crate) comment: String,
    /// KEY_BLOCK_SIZE, when it was written.
    pub(crate) block_size: Option<String>,
    /// WITH PARSER, when it was written.
    pub(crate) parser: Option<String>,
    /// INVISIBLE
    pub(crate) invisible: bool,
    /// Whether it was created for a foreign key: dropped when another key can replace it.
    pub(crate) generated: bool,
}

/// A part of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPart {
    /// The column, or an expression.
    pub(crate) target: KeyTarget,
    /// Length of the key's prefix in characters.
    pub(crate) prefix: Option<u64>,
    /// DESC
    pub(crate) descending: bool,
}

impl KeyPart {
    /// A whole column, ascending.
    pub(crate) fn of_column(position: usize) -> Self {
        Self {
            target: KeyTarget::Column(position),
            prefix: None,
            descending: false,
        }
    }

    /// The column that it indexes, perhaps by a prefix; `None` for an expression.
    pub(crate) fn column(&self) -> Option<usize> {
        match self.target {
            KeyTarget::Column(position) => Some(position),
            KeyTarget::Expression(_) => None,
        }
    }

    /// The column that it indexes as a whole.
    pub(crate) fn whole_column(&self) -> Option<usize> {
        self.column().filter(|_| self.prefix.is_none())
    }

    /// The column with its values, which is hidden for an expression.
    pub(crate) fn stored_column(&self) -> usize {
        let (KeyTarget::Column(position) | KeyTarget::Expression(position)) = self.target;
        position
    }
}

/// Target of a key part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyTarget {
    /// A column, by position.
    Column(usize),
    /// The hidden column of an expression, by position.
    Expression(usize),
}

/// A foreign key.
#[derive(Debug, Clone)]
pub(crate) struct ForeignKeyDefinition {
    /// The constraint's name.
    pub(crate) name: String,
    /// The columns.
    pub(crate) columns: Vec<String>,
    /// The referenced table and columns.
    pub(crate) references: ast::References,
}

/// A CHECK constraint.
#[derive(Debug, Clone)]
pub(crate) struct CheckConstraint {
    /// Its name.
    pub(crate) name: String,
    /// The condition.
    pub(crate) expression: Box<ast::Expr>,
    /// As SHOW CREATE prints it, without the outer parentheses.
    pub(crate) text: String,
    /// Whether it is enforced.
    pub(crate) enforced: bool,
}

/// Table options that are stored as text, in the order of SHOW CREATE TABLE.
pub(crate) const TABLE_OPTIONS: &[&str] = &[
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "COMPRESSION",
    "CONNECTION",
    SECONDARY_ENGINE,
];

impl TableDefinition {
    /// Sets an option of `TABLE_OPTIONS`, or removes it.
    pub(crate) fn set_option(&mut self, name: &str, value: Option<String>) {
        self.options.retain(|(known, _)| known != name);
        self.options
            .extend(value.map(|value| (name.to_owned(), value)));
        let rank = |name: &str| TABLE_OPTIONS.iter().position(|known| *known == name);
        self.options.sort_by_key(|(name, _)| rank(name));
    }

    /// The value of an option of `TABLE_OPTIONS`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let mut options = self.options.iter();
        let (_, value) = options.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// The name of its secondary engine, as written.
    pub(crate) fn secondary_engine(&self) -> Option<&str> {
        self.option(SECONDARY_ENGINE)
    }

    /// The positions of the columns that a secondary engine loads.
    pub(crate) fn secondary_columns(&self) -> Vec<usize> {
        let columns = self.columns.iter().enumerate();
        let loaded = columns.filter(|(_, column)| !column.is_hidden() && !column.not_secondary);
        loaded.map(|(position, _)| position).collect()
    }

    /// Row format, as SHOW TABLE STATUS names it: the option's, else the engine's default.
    pub(crate) fn row_format(&self) -> String {
        let fixed = self.named_columns().all(|column| {
            let is_variable = matches!(column.ty.kind, TypeKind::VarChar | TypeKind::Json);
            !is_variable && !column.ty.is_blob()
        });
        let name = match (self.engine, self.option("ROW_FORMAT")) {
            (Engine::Memory | Engine::Csv, _) => "Fixed",
            (Engine::MyIsam, Some(asked)) => asked,
            (Engine::MyIsam, None) if fixed => "Fixed",
            (Engine::Aria, _) => "Page",
            (Engine::InnoDb, Some(asked @ ("COMPACT" | "REDUNDANT" | "COMPRESSED"))) => asked,
            (Engine::InnoDb, None) if self.option("KEY_BLOCK_SIZE").is_some_and(|it| it != "0") => {
                "Compressed"
            }
            _ => "Dynamic",
        };
        let (first, rest) = name.split_at(1);
        first.to_owned() + &rest.to_lowercase()
    }

    /// The columns other than hidden ones.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &ColumnDefinition> {
        self.columns.iter().filter(|column| !column.is_hidden())
    }

    /// The expression of a hidden column, as SHOW CREATE prints it.
    pub(crate) fn hidden_text(&self, column: usize) -> &str {
        let column = self.columns.get(column);
        let generated = column.and_then(|column| column.generated.as_ref());
        generated.map_or("", |generated| &generated.text)
    }

    /// The key over the expression of a hidden column.
    pub(crate) fn key_over(&self, hidden: usize) -> Option<&KeyDefinition> {
        let target = KeyTarget::Expression(hidden);
        let is_over = |key: &&KeyDefinition| key.parts.iter().any(|part| part.target == target);
        self.keys.iter().find(is_over)
    }

    /// The position in a key of the part that holds arrays.
    pub(crate) fn array_part(&self, key: &KeyDefinition) -> Option<usize> {
        let is_array = |part: &KeyPart| self.columns[part.stored_column()].elements().is_some();
        key.parts.iter().position(is_array)
    }

    /// Whether the first parts of a key are these whole columns, in this order, and the key finds each row by them.
    pub(crate) fn key_begins_with(&self, key: &KeyDefinition, columns: &[usize]) -> bool {
        key.begins_with(columns) && self.array_part(key).is_none()
    }

    /// The position of a column by its case-insensitive name.
    pub(crate) fn column_position(&self, name: &str) -> Option<usize> {
        let same = |column: &ColumnDefinition| same_name(&column.name, name);
        self.columns.iter().position(same)
    }

    /// The position of the AUTO_INCREMENT column.
    #[inline]
    pub(crate) fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// Whether a key has this name, case-insensitively.
    pub(crate) fn has_key(&self, name: &str) -> bool {
        self.keys.iter().any(|key| same_name(&key.name, name))
    }

    /// The primary key.
    pub(crate) fn primary_key(&self) -> Option<&KeyDefinition> {
        let mut keys = self.keys.iter();
        keys.find(|key| key.kind == ast::KeyKind::Primary)
    }

    /// The primary key and the unique keys.
    pub(crate) fn unique_keys(&self) -> impl Iterator<Item = &KeyDefinition> {
        self.keys.iter().filter(|key| key.is_unique())
    }

    /// Sets of columns that identify a row: unique keys without prefixes over NOT NULL columns.
    pub(crate) fn identifying_columns(&self) -> Vec<Vec<usize>> {
        let whole = |part: &KeyPart| {
            let column = part.whole_column();
            column.filter(|column| !self.columns[*column].nullable)
        };
        self.unique_keys()
            .filter_map(|key| key.parts.iter().map(whole).collect())
            .collect()
    }
}

impl KeyDefinition {
    /// A key without a name or options.
    pub(crate) fn new(kind: ast::KeyKind, parts: Vec<KeyPart>) -> Self {
        Self {
            kind,
            name: String::new(),
            parts,
            using: None,
            comment: String::new(),
            block_size: None,
            parser: None,
            invisible: false,
            generated: false,
        }
    }

    /// Whether it is a hash index.
    pub(crate) fn is_hash(&self) -> bool {
        let using = self.using.as_deref();
        using.is_some_and(|using| using.eq_ignore_ascii_case("hash"))
    }

    /// FULLTEXT or SPATIAL: the key has no index.
    pub(crate) fn has_no_index(&self) -> bool {
        matches!(self.kind, ast::KeyKind::FullText | ast::KeyKind::Spatial)
    }

    /// Its columns, if all of its parts are whole columns.
    pub(crate) fn whole_columns(&self) -> Option<Vec<usize>> {
        self.parts.iter().map(KeyPart::whole_column).collect()
    }

    /// Whether its first parts are these whole columns, in this order.
    fn begins_with(&self, columns: &[usize]) -> bool {
        let mut parts = self.parts.iter().zip(columns);
        self.parts.len() >= columns.len()
            && parts.all(|(part, column)| part.whole_column() == Some(*column))
    }

    /// PRIMARY or UNIQUE.
    pub(crate) fn is_unique(&self) -> bool {
        matches!(self.kind, ast::KeyKind::Primary | ast::KeyKind::Unique)
    }
}
