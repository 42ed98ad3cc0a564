//! Trees of a table in the store of durable tables, or in that of shared temporary tables.
//!
//! A table keeps its trees while its rows stay in place, also under another name or definition; a table whose rows are
//! copied has new ones. So trees, not names, identify rows.

use mayfly_storage::TreeId;

/// How long rows of a store last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lifespan {
    /// They are in the data directory, if there is one.
    Lasting,
    /// They end with the process: those of shared temporary tables.
    Volatile,
}

impl Lifespan {
    /// All of them, in the order of [`Self::index`].
    pub(crate) const ALL: [Self; 2] = [Self::Lasting, Self::Volatile];

    /// The position in an array with an element for each.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// Trees of a table's rows and indexes in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trees {
    /// The store that they are in.
    pub(crate) lifespan: Lifespan,
    /// The rows.
    pub(crate) rows: TreeId,
    /// The indexes, in the order of the store.
    pub(crate) indexes: Vec<TreeId>,
}

impl Trees {
    /// All trees, of the rows and of the indexes.
    pub(crate) fn all(&self) -> impl Iterator<Item = TreeId> {
        std::iter::once(self.rows).chain(self.indexes.iter().copied())
    }
}
