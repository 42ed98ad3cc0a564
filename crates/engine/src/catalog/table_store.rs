//! Stores of tables' rows.

use std::sync::Arc;

use mayfly_storage::{IndexId, TableDefinition as DurableDefinition, UserTable};
use mayfly_types::{Result, Value};

use super::definition::TableDefinition;
use super::indexes::{IndexStorage, index_specs};
use super::provided::ProvidedTable;
use super::trees::Trees;

/// A table's store. Cloning gives another handle to the same rows.
#[derive(Debug, Clone)]
pub(crate) enum TableStore {
    /// A session's temporary table, or a table of the MEMORY engine.
    User(UserTable),
    /// In the store of base tables: the data directory, if there is one.
    Durable(Arc<DurableDefinition>, Trees),
    /// A table whose rows are outside of the engine.
    Provided(Arc<ProvidedTable>),
}

impl TableStore {
    /// The store of a table whose rows are in these trees.
    pub(crate) fn durable_of(definition: &TableDefinition, trees: Trees) -> Self {
        let columns = definition.columns.iter().map(|column| column.ty.physical());
        let indexes = index_specs(definition);
        let (rows, index_trees) = (trees.rows, trees.indexes.clone());
        let definition = DurableDefinition::new(columns.collect(), indexes, rows, index_trees);
        Self::Durable(Arc::new(definition), trees)
    }

    /// The storage form of its indexes.
    pub(crate) fn index_storage(&self) -> IndexStorage {
        match self {
            Self::User(_) | Self::Provided(_) => IndexStorage::Keys,
            Self::Durable(..) => IndexStorage::Rows,
        }
    }
}

/// Store of a table whose rows are accessible by a unique key. TIMESTAMP columns are in UTC.
#[derive(Clone, Copy)]
pub(crate) enum RowStore<'t> {
    /// Rows visible to one session only.
    Session(&'t UserTable),
    /// Rows in the data directory.
    Durable(&'t Arc<DurableDefinition>),
}

impl RowStore<'_> {
    /// The encoded key of a row in an index, from non-NULL values of all of its parts.
    #[inline]
    pub(crate) fn row_key<'v>(
        self,
        index: IndexId,
        values: impl IntoIterator<Item = &'v Value>,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        match self {
            Self::Session(rows) => rows.row_key(index, values, key),
            Self::Durable(rows) => rows.row_key(index, values, key),
        }
    }
}
