//! Methods of indexes, which say how many entries an index has for a row and what they are good for (the manual,
//! "Multi-Valued Indexes"; "Comparison of B-Tree and Hash Indexes").

/// Method of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexMethod {
    /// The table's rows themselves are in the order of the index: the primary key. At most one, whose parts are never
    /// NULL.
    Clustered,
    /// An entry per row, in the order of the key.
    BTree,
    /// An entry per row; finds equal keys only and gives no order.
    Hash,
    /// An entry for each distinct element of the array that one key part holds, in the order of the key: none for an
    /// empty array, one with NULL for NULL.
    MultiValued,
}

impl IndexMethod {
    /// Whether the index has exactly one entry for each row, in the order of the key.
    pub fn is_ordered(self) -> bool {
        matches!(self, Self::Clustered | Self::BTree)
    }

    /// Whether the index has exactly one entry for each row, so that a key determines its rows.
    pub fn has_each_row(self) -> bool {
        self != Self::MultiValued
    }
}
