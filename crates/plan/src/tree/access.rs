//! How a table is read in a plan: through which indexes, where in them, and which of them hints allow.

use super::expression::Expression;
use super::key_ranges::KeyRanges;
use super::physical::MergeKind;

/// How the rows of a table are read.
#[derive(Debug, Clone, PartialEq, Default)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct IndexAccess {
    /// Its position in the table's list of indexes.
    pub index: usize,
    /// What is read of it; none: all of it.
    pub ranges: Option<KeyRanges>,
    /// For each of the scan's predicates, whether the ranges make it needless.
    pub covered: Vec<bool>,
    /// From its end to its beginning.
    pub reverse: bool,
    /// The order of the rows matters to their reader.
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
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// The index's position in the table's list.
    pub index: usize,
    /// Values of its first parts, over the left rows.
    pub keys: Vec<LookupKey>,
    /// How many rows each key is thought to find.
    pub rows_per_key: f64,
}

/// A value of a key part.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupKey {
    /// The value.
    pub value: Expression,
    /// `<=>`: NULL finds NULL.
    pub null_safe: bool,
}

/// What index hints are about.
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

/// What index hints allow of a table's indexes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IndexHints {
    /// USE INDEX and FORCE INDEX: these only. With `FORCE`, a scan of the table is the last resort.
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

/// A way to read a table through several indexes.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeAccess {
    /// What is made of the rows that the indexes find.
    pub kind: MergeKind,
    /// How each is read.
    pub parts: Vec<IndexAccess>,
    /// For each of the scan's predicates, whether the indexes make it needless.
    pub covered: Vec<bool>,
    /// How many rows are thought to be fetched.
    pub rows: f64,
    /// What all of it costs.
    pub(crate) cost: f64,
}
