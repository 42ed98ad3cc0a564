//! Scan request: columns, and terms that every wanted row meets.
//!
//! Terms are simple predicates that a table can evaluate itself: a file skips the parts whose statistics exclude them,
//! another server gets them as SQL. They are approximate: a table may give rows that do not meet them, which the
//! caller filters again, but never leaves out a row that does.

use mayfly_types::Value;

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
}

impl<'r> ScanRequest<'r> {
    /// A request of all rows.
    pub fn of(columns: &'r [ColumnId]) -> Self {
        Self {
            columns,
            terms: &[],
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
