//! `INSERT`, `REPLACE`, `UPDATE` and `DELETE`.

use super::{Expr, Ident, OrderByExpr, Query, SelectItem, TableWithJoins, With};

use super::TableName;

/// `INSERT` and `REPLACE` in their three forms. A value `DEFAULT` is
/// [`crate::encodings::is_default`]; `INSERT ... SET` arrives as columns and one row of values.
#[derive(Debug, Clone, PartialEq)]
pub struct InsertStatement {
    /// `REPLACE` instead of `INSERT`.
    pub replace: bool,
    /// `LOW_PRIORITY`, `DELAYED` or `HIGH_PRIORITY`.
    pub priority: Option<DmlPriority>,
    /// `IGNORE`.
    pub ignore: bool,
    /// The target.
    pub table: TableName,
    /// `PARTITION (...)`.
    pub partitions: Vec<String>,
    /// The columns written; `None` when there is no list, `Some(vec![])` for `()`.
    pub columns: Option<Vec<Vec<Ident>>>,
    /// The rows.
    pub source: InsertSource,
    /// `AS new [(a, b)]`.
    pub row_alias: Option<RowAlias>,
    /// `ON DUPLICATE KEY UPDATE ...`.
    pub on_duplicate_key_update: Vec<SetAssignment>,
    /// `RETURNING ...`, MariaDB's extension.
    pub returning: Vec<SelectItem>,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// Rows of expressions; an empty row means all defaults.
    Values(Vec<Vec<Expr>>),
    /// A query (`SELECT`, `TABLE t`, ...).
    Query(Box<Query>),
}

/// The alias of the row to be inserted, and of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAlias {
    /// The row's alias.
    pub name: String,
    /// The columns' aliases.
    pub columns: Vec<String>,
}

/// Scheduling words of a data change; parsed and without effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DmlPriority {
    /// `LOW_PRIORITY`.
    Low,
    /// `DELAYED`.
    Delayed,
    /// `HIGH_PRIORITY`.
    High,
}

/// `column = value`; the column may be qualified by table and database.
#[derive(Debug, Clone, PartialEq)]
pub struct SetAssignment {
    /// The column.
    pub column: Vec<Ident>,
    /// The value, perhaps [`crate::encodings::is_default`].
    pub value: Expr,
}

/// `UPDATE`.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateStatement {
    /// `WITH ...`.
    pub with: Option<With>,
    /// `LOW_PRIORITY`.
    pub low_priority: bool,
    /// `IGNORE`.
    pub ignore: bool,
    /// The tables; more than one factor or a join makes it a multi-table update.
    pub tables: Vec<TableWithJoins>,
    /// The assignments, in order.
    pub assignments: Vec<SetAssignment>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`; single-table form only.
    pub order_by: Vec<OrderByExpr>,
    /// `LIMIT`; single-table form only.
    pub limit: Option<Expr>,
}

/// `DELETE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// `WITH ...`.
    pub with: Option<With>,
    /// `LOW_PRIORITY`.
    pub low_priority: bool,
    /// `QUICK`.
    pub quick: bool,
    /// `IGNORE`.
    pub ignore: bool,
    /// Multi-table forms: the names or aliases whose rows go. Empty in the single-table form.
    pub targets: Vec<TableName>,
    /// The tables read; in the single-table form the one target.
    pub from: Vec<TableWithJoins>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`; single-table form only.
    pub order_by: Vec<OrderByExpr>,
    /// `LIMIT`; single-table form only.
    pub limit: Option<Expr>,
    /// `RETURNING ...`, MariaDB's extension; single-table form only.
    pub returning: Vec<SelectItem>,
}
