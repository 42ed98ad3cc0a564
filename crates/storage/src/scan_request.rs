//! What is asked of a scan: columns, and terms that every wanted row meets.
//!
//! Terms are a small form that a table can look into: a file leaves out the parts whose statistics no row can meet, another
//! server gets them as SQL. They are approximate: a table may give rows that do not meet them, which whoever asks looks at
//! again, and never leaves out a row that does.

use mayfly_types::Value;

/// A column of a table, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub usize);

impl ColumnId {
    /// The rows' positions: Bytes, never NULL.
    pub const POSITION: Self = Self(usize::MAX);
}

/// What a scan is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScanRequest<'r> {
    /// The columns of the rows that it gives, in this order.
    pub columns: &'r [ColumnId],
    /// What every wanted row meets: all of them. Only for tables that [take them](crate::Table::takes_terms).
    pub terms: &'r [ColumnTerm],
}

impl<'r> ScanRequest<'r> {
    /// All rows.
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
    /// The column, which need not be among those of the scan.
    pub column: ColumnId,
    /// What its values meet.
    pub condition: ColumnCondition,
}

/// What the values of a column meet. Values are of the column's physical type, never NULL, and compared as the column's SQL
/// type says, strings by its collation.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnCondition {
    /// =
    Equal(Value),
    /// <
    Less(Value),
    /// <=
    AtMost(Value),
    /// \>
    Greater(Value),
    /// \>=
    AtLeast(Value),
    /// IN
    Among(Vec<Value>),
    /// IS NULL
    Null,
    /// IS NOT NULL
    NotNull,
    /// No value: a comparison with NULL.
    Never,
}
