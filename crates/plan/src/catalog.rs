//! Catalog interface: what the planner may know of tables.

use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_functions::StoredFunction;
use mayfly_syntax::ast::{Expr, Query, TableFunctionCall};
use mayfly_types::error::codes;
use mayfly_types::{
    Batch, Error, IndexMethod, OrderColumn, Result, SqlType, Stage, TermShape, TermSupport, Value,
};

use crate::statistics::ColumnStatistics;
use crate::trace::Trace;

/// Identifier of a table for as long as a plan may live. A table that is dropped and created again, or altered, gets a
/// new one, so that a plan for the old shape can never read the new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u64);

/// A column as the planner sees it.
#[derive(Debug, Clone)]
pub struct ColumnSource {
    /// Column name, in the case of its definition.
    pub name: String,
    /// Column type.
    pub ty: SqlType,
    /// Whether the column may be NULL.
    pub nullable: bool,
    /// INVISIBLE: left out of `*`.
    pub invisible: bool,
    /// Whether no name refers to the column: it holds the values of an expression that an index is over.
    pub hidden: bool,
    /// Expression of a generated column, if an index is over it.
    pub generated: Option<Arc<Expr>>,
    /// Value of `DEFAULT(column)`.
    pub default: DefaultSource,
    /// Keys and default of the column, as reported to clients.
    pub traits: ColumnTraits,
}

impl ColumnSource {
    /// A visible column without a default.
    pub fn new(name: &str, ty: SqlType, nullable: bool) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            nullable,
            invisible: false,
            hidden: false,
            generated: None,
            default: DefaultSource::None,
            traits: ColumnTraits::default(),
        }
    }
}

/// Attributes of a table column that are reported to clients besides its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnTraits {
    /// The column is a part of the primary key.
    pub primary_key: bool,
    /// The column is a unique key by itself.
    pub unique_key: bool,
    /// The column is the first part of another key.
    pub multiple_key: bool,
    /// The column is a part of some key.
    pub key_part: bool,
    /// AUTO_INCREMENT
    pub auto_increment: bool,
    /// Whether a row must name a value for the column.
    pub no_default: bool,
    /// DEFAULT CURRENT_TIMESTAMP or ON UPDATE CURRENT_TIMESTAMP of a TIMESTAMP.
    pub timestamp: bool,
    /// ON UPDATE CURRENT_TIMESTAMP
    pub on_update_now: bool,
}

impl ColumnTraits {
    /// The attributes that remain in a temporary table which the column was copied into.
    pub fn copied(self) -> Self {
        Self {
            no_default: self.no_default,
            ..Self::default()
        }
    }
}

/// Default of a column, as far as `DEFAULT(column)` is concerned.
#[derive(Debug, Clone, Default)]
pub enum DefaultSource {
    /// No default of a column that may not be NULL: error 1364.
    #[default]
    None,
    /// Value of the column's type.
    Value(Value),
    /// DEFAULT (expression): error 3773.
    Expression,
}

/// A table as the planner sees it: its schema and a few statistics.
#[derive(Debug, Clone)]
pub struct TableSource {
    /// Identifier of the table for the executor.
    pub id: TableId,
    /// Database of the table.
    pub database: String,
    /// Table name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<ColumnSource>,
    /// Sets of columns (by index) in which no two rows are equal: PRIMARY KEY and UNIQUE NOT NULL. Functional
    /// dependence under ONLY_FULL_GROUP_BY is derived from them.
    pub unique_keys: Vec<Vec<usize>>,
    /// Indexes, unique ones first, the primary key before all.
    pub indexes: Vec<IndexSource>,
    /// Estimated number of rows.
    pub row_count: u64,
    /// Whether the table was made by CREATE TEMPORARY TABLE.
    pub temporary: bool,
    /// Whether it is the result of a table function: it belongs to no database.
    pub is_call: bool,
    /// The table was created with PARTITION BY.
    pub partitioned: bool,
    /// Content of its indexes.
    pub index_content: IndexContent,
    /// The secondary engine that reads it in this plan, if one does.
    pub secondary_engine: Option<Arc<str>>,
    /// Capabilities of its scans, if they make use of the predicate.
    pub scans: Option<Arc<dyn ScanCapabilities>>,
}

/// Capabilities of the scans of a table, which are the same for as long as the table exists.
pub trait ScanCapabilities: Debug + Send + Sync {
    /// Precision with which scans answer a term of the predicate.
    fn term(&self, term: &TermShape) -> TermSupport;

    /// Orders in which scans can give the rows.
    fn orders(&self) -> Vec<Vec<OrderColumn>> {
        Vec::new()
    }
}

/// Content of the indexes of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexContent {
    /// No index is possible.
    Unavailable,
    /// Keys that lead to rows, and are not read themselves.
    Keys,
    /// Rows of the index's own columns and the primary key's.
    Rows,
}

/// Equality within one statement: a table looked up twice may have changed in between.
impl PartialEq for TableSource {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl TableSource {
    /// A table without indexes.
    pub fn new(
        id: TableId,
        database: &str,
        name: &str,
        columns: Vec<ColumnSource>,
        row_count: u64,
    ) -> Self {
        Self {
            id,
            database: database.to_owned(),
            name: name.to_owned(),
            columns,
            unique_keys: Vec::new(),
            indexes: Vec::new(),
            row_count,
            temporary: false,
            is_call: false,
            partitioned: false,
            index_content: IndexContent::Unavailable,
            secondary_engine: None,
            scans: None,
        }
    }
}

/// Error for `PARTITION (…)` behind a table name: rows are not stored by partitions, so that a statement about some
/// partitions would be one about all.
pub fn refuse_partitions(partitioned: bool) -> Error {
    if partitioned {
        codes::ER_NOT_SUPPORTED_YET.with(&[&"PARTITION (…)"])
    } else {
        codes::ER_PARTITION_CLAUSE_ON_NONPARTITIONED.error()
    }
}

/// An index as the planner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSource {
    /// Position among the indexes of the stored table; `None` if the store keeps no such index (FULLTEXT, SPATIAL,
    /// expressions).
    pub id: Option<usize>,
    /// Index name; `PRIMARY` for the primary key.
    pub name: String,
    /// Key parts.
    pub parts: Vec<IndexPartSource>,
    /// Whether the index is PRIMARY or UNIQUE.
    pub unique: bool,
    /// Number and order of its entries. Reading a clustered index is reading the table.
    pub method: IndexMethod,
    /// Whether it is visible: not INVISIBLE.
    pub visible: bool,
    /// Columns that can be read without fetching the row (all of them if it is clustered).
    pub covers: Vec<usize>,
}

/// A key part of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPartSource {
    /// Column of the table.
    pub column: usize,
    /// Prefix length: only the first `n` characters (bytes of a binary string) are in the index.
    pub prefix: Option<u32>,
    /// Whether the part is in descending order (DESC).
    pub descending: bool,
    /// Whether the order is only approximately that of the column's values: a range of it may hold rows outside of the
    /// range of values, so that the rows found must be checked, and the index serves no other purpose.
    pub approximate: bool,
    /// Type of the elements, if the column holds arrays: the part of a multi-valued index.
    pub elements: Option<SqlType>,
}

/// Range of keys of an index, in its order, with bounds on its first parts. Fewer values than parts mean all keys with
/// that prefix.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueRange {
    /// Start of the range.
    pub start: Bound<Vec<Value>>,
    /// End of the range.
    pub end: Bound<Vec<Value>>,
}

/// Statistics that the planner may ask of a table's contents.
pub trait TableStatistics: Debug + Send + Sync {
    /// Approximate number of distinct keys of the first `parts` parts of an index.
    fn distinct_keys(&self, index: usize, parts: usize) -> u64;

    /// Approximate number of rows in a range of an index.
    fn rows_in_range(&self, index: usize, range: &ValueRange) -> u64;

    /// Columns of the rows that keys of one part lead to by a unique index. Locks nothing; `None` where that is not
    /// possible.
    fn find(&self, index: usize, keys: &ArrayRef, columns: &[usize]) -> Option<Batch> {
        let _ = (index, keys, columns);
        None
    }

    /// Statistics of the values of a column.
    fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        let _ = column;
        None
    }
}

/// A view as the planner sees it.
#[derive(Debug, Clone)]
pub struct ViewSource {
    /// Database of the view.
    pub database: String,
    /// View name.
    pub name: String,
    /// Column names, in the order of the query's columns.
    pub columns: Vec<String>,
    /// Query of the view, in which every table is qualified by its database.
    pub query: Box<Query>,
    /// ALGORITHM = TEMPTABLE: never merged into the query that reads the view.
    pub materialized: bool,
    /// WITH CHECK OPTION: whether it is CASCADED.
    pub check_option: Option<bool>,
    /// (user, host) of the account whose rights apply below the view; `None`: the rights that apply outside of it.
    pub definer: Option<(String, String)>,
}

/// Use of a table or column by a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Reads it.
    Read,
    /// Reads all columns without naming them.
    ReadAll,
    /// Reads a table, and perhaps changes rows of it.
    ReadOrUpdate,
    /// Names the table that it removes rows from.
    ReadOrDelete,
    /// Changes values.
    Update,
    /// Adds rows.
    Insert,
    /// Removes rows.
    Delete,
}

/// Results of EXPLAIN that the planner finds.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// The rewritten query.
    pub rewritten: String,
    /// For each temporary table the change that would avoid it.
    pub removals: Vec<Option<String>>,
}

/// Place of a `?`, which decides how a value of another type is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterPlace {
    /// An operand or an argument: the value is converted to the type of the place.
    Operand,
    /// An operand of a comparison: a date may be one that no calendar has.
    Comparison,
    /// An operand of an operator that takes the type of its context, if the context has no type itself.
    Context,
    /// The value of an assignment to a column: the column converts the value when it stores it.
    Assignment,
    /// A row count, as of LIMIT: a text is converted to its leading integer.
    Count,
}

/// Access of the planner to tables, variables and rights.
pub trait Catalog {
    /// Called when the planner begins a stage.
    fn enters(&self, stage: Stage) {
        let _ = stage;
    }

    /// Default database, if one is selected.
    fn current_database(&self) -> Option<&str>;

    /// Looks up a table: error 1046, 1049 or 1146 if there is none.
    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>>;

    /// Statistics of a table from [`Self::table`]; `None` if it has neither an index nor rows that could be read.
    fn statistics(&self, id: TableId) -> Option<Arc<dyn TableStatistics>>;

    /// Looks up a table for a statement that calls it `alias`.
    fn table_as(
        &self,
        database: Option<&str>,
        name: &str,
        alias: &str,
    ) -> Result<Arc<TableSource>> {
        let _ = alias;
        self.table(database, name)
    }

    /// Looks up a base table for a view: a temporary table of the name is a different one.
    fn table_of_view(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        self.table(database, name)
    }

    /// The table that a call of a table function gives, for this statement alone.
    fn table_function(&self, call: &TableFunctionCall) -> Result<Arc<TableSource>> {
        let name = call.name.as_ref().map_or("", |name| &name.value);
        Err(codes::ER_SP_DOES_NOT_EXIST.with(&[&"FUNCTION", &name]))
    }

    /// Looks up a view, if there is one of the name.
    fn view(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<ViewSource>>> {
        let _ = (database, name);
        Ok(None)
    }

    /// Looks up a stored function, in the default database unless one is named. Below a view, the default is the
    /// view's database.
    fn function(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<StoredFunction>>> {
        let _ = (database, name);
        Ok(None)
    }

    /// Value and type of a system variable, for `@@name`. `scope` is as written.
    fn system_variable(&self, scope: Option<VariableScope>, name: &str)
    -> Result<(Value, SqlType)>;

    /// Type of the user variable's current value (a NULL string if it was never set).
    fn user_variable_type(&self, name: &str) -> SqlType;

    /// Value of a `?`, if it is known and affects the plan: that of LIMIT, or one whose digits decide how it is
    /// compared.
    fn parameter_value(&self, index: usize) -> Option<Value> {
        let _ = index;
        None
    }

    /// Receives the type that a `?` of unknown type gets from its place, and the place.
    fn parameter_meets(&self, index: usize, ty: &SqlType, place: ParameterPlace) {
        let _ = (index, ty, place);
    }

    /// Receives a warning of the binder.
    fn warn(&self, warning: Error);

    /// Whether the statement is only described, so that its constants are not evaluated.
    fn describes(&self) -> bool {
        false
    }

    /// Whether [`Self::explain`] is to be called.
    fn explains(&self) -> bool {
        false
    }

    /// Receives the results of EXPLAIN.
    fn explain(&self, explanation: Explanation) {
        let _ = explanation;
    }

    /// Optimizer trace; `None` unless the session traces the optimizer.
    fn trace(&self) -> Option<&Trace> {
        None
    }

    /// Checks whether the statement may use a table or view; single columns are checked when they are named.
    fn check_table(&self, database: Option<&str>, name: &str, usage: Usage) -> Result<()> {
        let _ = (database, name, usage);
        Ok(())
    }

    /// Whether the rights to read columns must be checked.
    fn checks_columns(&self) -> bool {
        false
    }

    /// Number of the rights that currently apply.
    fn current_rights(&self) -> usize {
        0
    }

    /// Checks whether these rights allow a column to be read or changed.
    fn check_column(
        &self,
        rights: usize,
        table: (&str, &str),
        column: &str,
        usage: Usage,
    ) -> Result<()> {
        let _ = (rights, table, column, usage);
        Ok(())
    }

    /// Checks whether these rights allow rows to be added to a table or removed from it.
    fn check_change(&self, rights: usize, table: (&str, &str), usage: Usage) -> Result<()> {
        let _ = (rights, table, usage);
        Ok(())
    }

    /// Enters a view: what follows is below it, until [`Self::leave_view`].
    fn enter_view(&self, view: &ViewSource) -> Result<()> {
        let _ = view;
        Ok(())
    }

    /// Leaves a view.
    fn leave_view(&self) {}
}

/// Scope of a system variable as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@global.name`
    Global,
    /// `@@session.name` or `@@local.name`
    Session,
}
