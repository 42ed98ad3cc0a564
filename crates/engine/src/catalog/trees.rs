//! Trees of a table in the store of durable tables.
//!
//! A table keeps its trees while its rows stay in place, also under another name or definition; a table whose rows are
//! copied has new ones. So trees, not names, identify rows.

use mayfly_storage::TreeId;

/// Trees of a table's rows and indexes in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trees {
    /// The rows.
    pub(crate) rows: TreeId,
    /// The indexes, in the order of the store.
    pub(crate) indexes: Vec<TreeId>,
}

impl Trees {
    /// All trees, of the rows and of the indexes.
    pub(super) fn all(&self) -> impl Iterator<Item = TreeId> {
        std::iter::once(self.rows).chain(self.indexes.iter().copied())
    }
}
