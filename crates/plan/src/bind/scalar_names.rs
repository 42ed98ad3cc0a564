//! Names in scalar expressions outside of a query.

use mayfly_types::SqlType;

use crate::catalog::{DefaultSource, TableId};

/// A column that a scalar expression may name.
#[derive(Debug, Clone)]
pub struct ScalarColumn<'a> {
    /// Database of its table or view, for which the privilege to read the column is checked; `None` without a check: in
    /// a definition, for the new row, for a temporary table.
    pub database: Option<&'a str>,
    /// Table name, for qualified references.
    pub table: &'a str,
    /// Column name.
    pub name: &'a str,
    /// Column type.
    pub ty: &'a SqlType,
    /// Whether the column may be NULL.
    pub nullable: bool,
    /// Value of `DEFAULT(column)`.
    pub default: DefaultSource,
}

/// Names in a scalar expression.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScalarNames<'a> {
    /// Columns of the row, by position.
    pub columns: &'a [ScalarColumn<'a>],
    /// Position of the first column of the row to be inserted, for `VALUES(column)`; its columns are those of the first
    /// table.
    pub inserted: Option<usize>,
    /// Table that rows are added to, which subqueries may not read.
    pub target: Option<ChangedTable<'a>>,
    /// Name of the index whose key part the expression is: as a whole it may be `CAST(… AS … ARRAY)`.
    pub key_part_of: Option<&'a str>,
}

/// A table that rows are added to.
#[derive(Debug, Clone, Copy)]
pub struct ChangedTable<'a> {
    /// The table.
    pub table: TableId,
    /// Name of the table in the statement.
    pub name: &'a str,
    /// Database of the view, if the name is that of a view.
    pub view_of: Option<&'a str>,
    /// The statement adds a single row, so that the value exists before any row: a subquery may read the table under
    /// another name.
    pub alone: bool,
}
