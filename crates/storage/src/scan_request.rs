//! Scan request: columns, a predicate that every wanted row meets, in two forms, an order, and a number of rows.
//!
//! Terms are simple predicates that a table can interpret: a file skips the parts whose statistics exclude them,
//! another server gets them as SQL. A table is sent the terms that it has said to make use of; it gives just the rows
//! that meet those which it has promised to answer exactly ([`TermSupport`](mayfly_types::TermSupport)), and the caller
//! filters its rows by the others. A [`ScanPredicate`] is opaque, and has all of the rest: a table that knows the values
//! of some columns before it makes its rows asks which rows to make. A table never leaves out a row that meets
//! everything.

use std::fmt::Debug;

use mayfly_types::{Batch, CollationId, OrderColumn, Value};

/// Column of a table, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub usize);

impl ColumnId {
    /// The row position, of type Bytes and never NULL.
    pub const POSITION: Self = Self(usize::MAX);
}

/// Request to a scan.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScanRequest<'r> {
    /// Output columns, in this order.
    pub columns: &'r [ColumnId],
    /// Conjunction of terms that every wanted row meets. Empty for a table that makes no use of them.
    pub terms: &'r [ColumnTerm],
    /// The rest of the predicate, for a table that makes use of it.
    pub predicate: Option<&'r dyn ScanPredicate>,
    /// Number of rows after which the caller stops reading: a table may stop there itself.
    pub limit: Option<u64>,
    /// Order in which the rows must come: the start of one that the table has declared, or none.
    pub order: &'r [OrderColumn],
}

/// Predicate of a scan, evaluated over some columns of rows that a table has not made yet.
pub trait ScanPredicate: Debug {
    /// Which rows may meet the predicate: one flag for each row of `values`, which returns the values of `columns`.
    /// `None` where no condition of the predicate reads these columns alone.
    fn select(&self, columns: &[ColumnId], values: &dyn Fn() -> Batch) -> Option<Vec<bool>>;
}

impl<'r> ScanRequest<'r> {
    /// A request of all rows.
    pub fn of(columns: &'r [ColumnId]) -> Self {
        Self {
            columns,
            ..Self::default()
        }
    }
}

/// A condition on one column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnTerm {
    /// The column, which need not be an output column.
    pub column: ColumnId,
    /// The condition on its values.
    pub condition: ColumnCondition,
    /// The collation of the comparison, if it is one of strings.
    pub collation: Option<CollationId>,
}

/// Condition on the values of a column. Constants are of the column's physical type, never NULL, and compared by the
/// column's SQL type.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnCondition {
    /// `=`
    Equal(Value),
    /// `<`
    Less(Value),
    /// `<=`
    AtMost(Value),
    /// `>`
    Greater(Value),
    /// `>=`
    AtLeast(Value),
    /// `IN`
    Among(Vec<Value>),
    /// `IS NULL`
    Null,
    /// `IS NOT NULL`
    NotNull,
}
