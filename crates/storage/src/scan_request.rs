//! Scan request: columns, and a predicate that every wanted row meets, in two forms.
//!
//! Terms are simple predicates that a table can interpret: a file skips the parts whose statistics exclude them,
//! another server gets them as SQL. A [`ScanPredicate`] is opaque, and has all of the predicate: a table that knows the
//! values of some columns before it makes its rows asks which rows to make. Both are approximate: a table may give rows
//! that do not meet them, which the caller filters again, but never leaves out a row that does.

use std::fmt::Debug;

use mayfly_types::{Batch, Value};

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
    /// Conjunction of terms that every wanted row meets. Empty for a table that makes no use of
    /// them.
    pub terms: &'r [ColumnTerm],
    /// The predicate, for a table that makes use of it.
    pub predicate: Option<&'r dyn ScanPredicate>,
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
            terms: &[],
            predicate: None,
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
}

/// Condition on the values of a column. Constants are of the column's physical type, never NULL, and compared by the
/// column's SQL type, strings by its collation.
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
    /// Always false, such as a comparison with NULL.
    Never,
}
