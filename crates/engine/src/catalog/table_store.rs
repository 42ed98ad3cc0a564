//! Where the rows of a table are.

use std::sync::Arc;

use mayfly_storage::{BaseTableContext, ColumnarTable, Table, UserTable, UserTableContext};

use super::definition::TableDefinition;
use super::indexes::index_specs;
use crate::session::Session;

/// A table's store. Cloning gives another handle to the same rows.
#[derive(Debug, Clone)]
pub(crate) enum TableStore {
    /// Columns that rows are appended to.
    Columnar(Arc<ColumnarTable>),
    /// A session's temporary table.
    User(UserTable),
}

impl TableStore {
    /// An empty store in columns.
    pub(crate) fn columnar(definition: &TableDefinition, context: BaseTableContext) -> Self {
        let columns = definition.columns.iter().map(|column| column.ty.physical());
        Self::Columnar(Arc::new(ColumnarTable::new(context, columns.collect())))
    }

    /// An empty store of a session's own.
    pub(crate) fn user(definition: &TableDefinition, context: UserTableContext) -> Self {
        let columns = definition.columns.iter().map(|column| column.ty.physical());
        let indexes = index_specs(definition);
        Self::User(UserTable::new(context, columns.collect(), indexes))
    }

    /// Whether its indexes keep unique keys unique.
    pub(crate) fn has_indexes(&self) -> bool {
        match self {
            Self::Columnar(_) => false,
            Self::User(_) => true,
        }
    }

    /// The handle of a session's statement: it sees the rows of now, and its changes are part of the
    /// session's transaction.
    pub(crate) fn open(&self, session: &Session) -> Arc<dyn Table> {
        match self {
            Self::Columnar(table) => Arc::clone(table) as Arc<dyn Table>,
            Self::User(table) => table.open(session.temp_table_context(), session.undo_log()),
        }
    }
}
