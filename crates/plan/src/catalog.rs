//! What the planner may know of tables.

use std::sync::Arc;

use mayfly_types::{Error, Result, SqlType, Value};

/// Names a table for as long as a plan may live. A table that is dropped and made again, or
/// altered, gets a new one, so that a plan for the old shape can never read the new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u64);

/// A column as the planner sees it.
#[derive(Debug, Clone)]
pub struct ColumnSource {
    /// Its name, in the case of its definition.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Left out of `*`.
    pub invisible: bool,
    /// What `DEFAULT(column)` gives.
    pub default: DefaultSource,
}

/// The default of a column, as far as `DEFAULT(column)` is concerned.
#[derive(Debug, Clone, Default)]
pub enum DefaultSource {
    /// A column that may not be NULL and for which none was written: error 1364.
    #[default]
    None,
    /// A value of the column's type.
    Value(Value),
    /// DEFAULT (expression): error 3773.
    Expression,
}

/// A table as the planner sees it: its shape and a few statistics.
#[derive(Debug, Clone)]
pub struct TableSource {
    /// Which table the executor will open.
    pub id: TableId,
    /// The database that it is in.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<ColumnSource>,
    /// Sets of columns (by index) in which no two rows are equal: PRIMARY KEY and UNIQUE NOT NULL.
    /// Functional dependence under ONLY_FULL_GROUP_BY rests on them.
    pub unique_keys: Vec<Vec<usize>>,
    /// How many rows it is thought to have.
    pub row_count: u64,
    /// CREATE TEMPORARY TABLE.
    pub temporary: bool,
}

/// The planner's only way to tables.
pub trait Catalog {
    /// The database of unqualified names, if one is selected.
    fn current_database(&self) -> Option<&str>;

    /// The table of that name: 1046, 1049 or 1146 when there is none.
    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>>;

    /// The value and type of a system variable, for `@@name`. `scope` is as written.
    fn system_variable(&self, scope: Option<VariableScope>, name: &str)
    -> Result<(Value, SqlType)>;

    /// The type of the user variable's current value (a NULL string when it was never set).
    fn user_variable_type(&self, name: &str) -> SqlType;

    /// The value of a `?`, when it is known and the plan cannot be made without it (LIMIT).
    fn parameter_value(&self, index: usize) -> Option<Value> {
        let _ = index;
        None
    }

    /// Takes a warning that binding raises.
    fn warn(&self, warning: Error);
}

/// How a system variable was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@global.name`
    Global,
    /// `@@session.name` or `@@local.name`
    Session,
}
