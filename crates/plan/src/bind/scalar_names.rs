//! What the names in an expression outside of a query mean.

use mayfly_types::SqlType;

use crate::catalog::{DefaultSource, TableId};

/// A column that a scalar expression may name.
#[derive(Debug, Clone)]
pub struct ScalarColumn<'a> {
    /// The database of the table or view that it is a column of, which who names it must have the right to
    /// read; `None` where nobody is asked: in a definition, for the row that comes, for a temporary table.
    pub database: Option<&'a str>,
    /// Table name, for qualified references.
    pub table: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub ty: &'a SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What `DEFAULT(column)` gives.
    pub default: DefaultSource,
}

/// What the names in a scalar expression mean.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScalarNames<'a> {
    /// The columns of the row: a name means the one at that position.
    pub columns: &'a [ScalarColumn<'a>],
    /// Where the row to be inserted begins among them, whose columns are those of the first table:
    /// `VALUES(column)`.
    pub inserted: Option<usize>,
    /// The table that rows are added to, which subqueries may not read.
    pub target: Option<ChangedTable<'a>>,
}

/// A table that rows are added to.
#[derive(Debug, Clone, Copy)]
pub struct ChangedTable<'a> {
    /// The table.
    pub table: TableId,
    /// The name that the statement has for it.
    pub name: &'a str,
    /// The database of the view which that is the name of.
    pub view_of: Option<&'a str>,
    /// The statement adds a single row, so that the value exists before any row: a subquery may read the table under
    /// another name.
    pub alone: bool,
}
