//! Plans of statements that change rows.

use std::sync::{Arc, Weak};

use mayfly_plan::physical::QueryPlan;
use mayfly_plan::{ChangePlan, Expression};

use crate::catalog::BaseTable;
use crate::result::ResultColumn;

/// Plan of an INSERT or REPLACE.
#[derive(Debug)]
pub(crate) struct InsertPlan {
    /// Weak: a cached plan must not keep a dropped table alive.
    pub(crate) table: Weak<BaseTable>,
    /// The view that the rows are inserted through.
    pub(crate) view: Option<RowView>,
    /// The positions of the columns that get values.
    pub(crate) positions: Vec<usize>,
    pub(crate) source: RowSource,
    pub(crate) on_duplicate: DuplicatePlan,
    pub(crate) returning: Vec<ReturnedColumn>,
}

/// Source of the rows.
#[derive(Debug)]
pub(crate) enum RowSource {
    /// VALUES and SET: the values that are neither literals nor `?`, in the order of the statement.
    Values(Vec<ComputedValue>),
    /// A query, whose extra columns ON DUPLICATE KEY UPDATE reads.
    Query(Arc<QueryPlan>),
}

/// A value that is computed for a row.
#[derive(Debug)]
pub(crate) struct ComputedValue {
    pub(crate) expression: Arc<Expression>,
    /// Whether an assignment reads columns that the row itself has set before.
    pub(crate) reads_row: bool,
}

/// A view through which rows are added.
#[derive(Debug)]
pub(crate) struct RowView {
    pub(crate) database: String,
    pub(crate) name: String,
    /// WITH CHECK OPTION
    pub(crate) check: Option<Arc<Expression>>,
}

/// Plan for rows with a duplicate key.
#[derive(Debug)]
pub(crate) enum DuplicatePlan {
    /// Error 1062, or the row is skipped under IGNORE.
    Refuse,
    /// REPLACE
    Replace,
    /// ON DUPLICATE KEY UPDATE: columns with their new values, over the existing row, the new row, and columns of the
    /// source query. `None` is DEFAULT.
    Update(Vec<(usize, Option<Arc<Expression>>)>),
}

/// Plan of an UPDATE or DELETE.
#[derive(Debug)]
pub(crate) struct ChangeStatementPlan {
    pub(crate) change: ChangePlan,
    pub(crate) returning: Vec<ReturnedColumn>,
}

/// A column of a RETURNING clause.
#[derive(Debug)]
pub(crate) struct ReturnedColumn {
    pub(crate) column: ResultColumn,
    pub(crate) expression: Arc<Expression>,
}
