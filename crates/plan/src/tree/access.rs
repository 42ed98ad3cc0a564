//! Access paths in a plan: the indexes through which a table is read, their ranges, and the hints about them.

use std::sync::Arc;

use mayfly_types::{OrderColumn, SqlType, Value};

use super::expression::{Comparison, Expression};
use super::physical::MergeKind;

/// Access path of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Access {
    /// Full table scan, in any order.
    #[default]
    Table,
    /// Full table scan in an order that the table gives.
    InOrder(Vec<OrderColumn>),
    /// Index scan.
    Index(Box<IndexAccess>),
    /// Index merge.
    Merge(Box<MergeAccess>),
}

impl Access {
    /// For each of the scan's predicates, whether the access path covers it; empty if it covers none.
    pub fn covered(&self) -> &[bool] {
        match self {
            Self::Table | Self::InOrder(_) => &[],
            Self::Index(access) => &access.covered,
            Self::Merge(merge) => &merge.covered,
        }
    }

    /// Indexes that are read.
    pub fn indexes(&self) -> &[IndexAccess] {
        match self {
            Self::Table | Self::InOrder(_) => &[],
            Self::Index(access) => std::slice::from_ref(access),
            Self::Merge(merge) => &merge.parts,
        }
    }

    /// Mutable indexes that are read.
    pub(crate) fn indexes_mut(&mut self) -> &mut [IndexAccess] {
        match self {
            Self::Table | Self::InOrder(_) => &mut [],
            Self::Index(access) => std::slice::from_mut(access),
            Self::Merge(merge) => &mut merge.parts,
        }
    }
}

/// Access path through an index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexAccess {
    /// Position of the index in the table's list.
    pub index: usize,
    /// Ranges to read; `None`: all of the index.
    pub ranges: Option<KeyRanges>,
    /// For each of the scan's predicates, whether the ranges cover it.
    pub covered: Vec<bool>,
    /// Whether the index is read backwards.
    pub reverse: bool,
    /// Whether the reader depends on the order of the rows.
    pub ordered: bool,
    /// Rows of each group to read; `None`: every row.
    pub groups: Option<GroupRows>,
    /// Estimated number of rows read.
    pub rows: f64,
}

/// Rows that a loose index scan reads of each group, which has the same values in some first parts of the index: one
/// row, and the ends selected here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupRows {
    /// Number of leading parts that make a group.
    pub parts: usize,
    /// Whether to read a row with the least value of the next part that is not NULL.
    pub least: bool,
    /// Whether to read a row with the greatest value of the next part.
    pub greatest: bool,
}

/// Index lookup of a join's right side, by keys of the left rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// Position of the index in the table's list.
    pub index: usize,
    /// Values of its first parts, over the left rows.
    pub keys: Vec<LookupKey>,
    /// Estimated number of rows per key.
    pub rows_per_key: f64,
}

/// Value of a key part.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupKey {
    /// Value expression.
    pub value: Expression,
    /// `<=>`: NULL finds NULL.
    pub null_safe: bool,
}

/// Purpose of index hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintPurpose {
    /// Finding rows.
    Join,
    /// ORDER BY
    OrderBy,
    /// GROUP BY
    GroupBy,
    /// Index merges.
    Merge,
}

/// Index hints of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IndexHints {
    /// USE INDEX and FORCE INDEX: only these indexes. With `FORCE`, a table scan is the last resort.
    pub only: Vec<(HintPurpose, Vec<usize>, bool)>,
    /// IGNORE INDEX
    pub ignored: Vec<(HintPurpose, usize)>,
}

impl IndexHints {
    /// Whether an index may be used for a purpose.
    pub(crate) fn allow(&self, purpose: HintPurpose, index: usize) -> bool {
        let mut lists = self
            .only
            .iter()
            .filter(|(of, ..)| *of == purpose)
            .peekable();
        let named = lists.peek().is_none() || lists.any(|(_, named, _)| named.contains(&index));
        named && !self.ignored.contains(&(purpose, index))
    }

    /// Whether indexes are forced for a purpose.
    pub(crate) fn force(&self, purpose: HintPurpose) -> bool {
        self.only
            .iter()
            .any(|(of, _, force)| *of == purpose && *force)
    }
}

/// Access path of an index merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeAccess {
    /// Combination of the rows that the indexes find.
    pub kind: MergeKind,
    /// Access path of each index.
    pub parts: Vec<IndexAccess>,
    /// For each of the scan's predicates, whether the indexes cover it.
    pub covered: Vec<bool>,
    /// Estimated number of rows fetched.
    pub rows: f64,
    /// Total cost.
    pub(crate) cost: f64,
}

/// Ranges of an index that a statement reads: rows that are in one of the boxes.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRanges {
    /// First parts of the index.
    pub parts: Vec<RangePart>,
    /// Boxes, each with conditions for some of the first parts; all but its last part are points.
    pub boxes: Vec<KeyBox>,
}

/// Ranges of an index that hold all rows which meet some conditions.
#[derive(Debug, Clone)]
pub(crate) struct Analysis {
    /// The ranges.
    pub(crate) ranges: KeyRanges,
    /// For each conjunct, whether the ranges cover it completely.
    pub(crate) covered: Vec<bool>,
    /// For each conjunct, whether the number of rows in the ranges accounts for it (nearly).
    pub(crate) counted: Vec<bool>,
}

/// A part of an index's key.
#[derive(Debug, Clone, PartialEq)]
pub struct RangePart {
    /// Type of its column.
    pub ty: SqlType,
    /// Prefix length: only the first `n` characters are in the index.
    pub prefix: Option<u32>,
    /// DESC
    pub descending: bool,
}

/// Conjunction of conditions on the first parts of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyBox {
    /// Conditions by part.
    pub parts: Vec<Vec<Condition>>,
}

/// A condition on the value of a key part.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Comparison with a value, which has the comparison type.
    Compare(Comparison, Expression),
    /// IN (…), with a list of values of a type.
    In(Arc<[Value]>, SqlType),
    /// IS NULL
    IsNull,
    /// IS NOT NULL
    IsNotNull,
    /// LIKE, up to the first wildcard of the pattern; with the escape character.
    Like(Expression, Option<char>),
    /// The array has an element in common with a constant.
    Elements(SoughtElements),
}

/// Elements that a multi-valued index is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct SoughtElements {
    /// A document or a text.
    pub value: Expression,
    /// Whether the value is a single element: a text is no document, and a document no array.
    pub is_element: bool,
    /// Number of elements, or an assumption about it.
    pub count: usize,
}
