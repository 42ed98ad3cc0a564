//! Access paths: which index of a table is read, and where (the manual, "Optimization and Indexes").
//!
//! [`analysis`] finds what conditions say about the keys of an index, [`keys`] makes ranges of that
//! when the plan runs, [`path`] compares the ways to read one table, and [`lookup`] the ways to follow
//! a join into it. The rules `access_paths` and `index_orders` put the choice into the logical plan.

pub(crate) mod analysis;
pub(crate) mod constant;
mod interval;
pub mod keys;
pub(crate) mod lookup;
pub mod merge;
pub(crate) mod path;
#[cfg(test)]
mod tests;

use mayfly_types::{PhysicalType, Value};

pub use merge::MergeAccess;

pub use keys::{Condition, KeyBox, KeyRanges, RangePart};

use crate::expression::Expression;

/// How the rows of a table are read.
#[derive(Debug, Clone, Default)]
pub enum Access {
    /// All of them, in any order.
    #[default]
    Table,
    /// Through an index.
    Index(Box<IndexAccess>),
    /// Through several.
    Merge(Box<MergeAccess>),
}

impl Access {
    /// For each of the scan's predicates, whether what is read makes it needless; nothing when none is.
    pub fn covered(&self) -> &[bool] {
        match self {
            Self::Table => &[],
            Self::Index(access) => &access.covered,
            Self::Merge(merge) => &merge.covered,
        }
    }

    /// The indexes that are read.
    pub fn indexes(&self) -> &[IndexAccess] {
        match self {
            Self::Table => &[],
            Self::Index(access) => std::slice::from_ref(access),
            Self::Merge(merge) => &merge.parts,
        }
    }

    /// The indexes that are read.
    pub fn indexes_mut(&mut self) -> &mut [IndexAccess] {
        match self {
            Self::Table => &mut [],
            Self::Index(access) => std::slice::from_mut(access),
            Self::Merge(merge) => &mut merge.parts,
        }
    }
}

/// A way through an index.
#[derive(Debug, Clone)]
pub struct IndexAccess {
    /// Its place in the table's list of indexes.
    pub index: usize,
    /// What is read of it; none: all of it.
    pub ranges: Option<KeyRanges>,
    /// For each of the scan's predicates, whether the ranges make it needless.
    pub covered: Vec<bool>,
    /// From its end to its beginning.
    pub reverse: bool,
    /// Its order matters to whoever reads the rows.
    pub ordered: bool,
    /// Which rows of each group are read; none: every row.
    pub groups: Option<GroupRows>,
    /// How many rows are thought to be read.
    pub rows: f64,
}

/// Which rows of an index are enough for its groups, rows with the same values in some first parts: of
/// each group one row, and those that are asked for here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupRows {
    /// How many first parts make a group.
    pub parts: usize,
    /// A row with the least value of the next part that is not NULL.
    pub least: bool,
    /// A row with the greatest value of the next part.
    pub greatest: bool,
}

/// How the right side of a join is read: by keys of the left rows.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// The index's place in the table's list.
    pub index: usize,
    /// Values of its first parts, over the left rows.
    pub keys: Vec<LookupKey>,
    /// How many rows each key is thought to find.
    pub rows_per_key: f64,
}

/// A value of a key part.
#[derive(Debug, Clone)]
pub struct LookupKey {
    /// The value.
    pub value: Expression,
    /// `<=>`: NULL finds NULL.
    pub null_safe: bool,
}

/// A value in the physical type of a column that it is compared with; NULL when no value of the
/// column is equal to it.
pub fn key_value(value: &Value, column: PhysicalType) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    match interval::fit(value, column) {
        interval::Fit::Exact(value) => value,
        _ => Value::Null,
    }
}
