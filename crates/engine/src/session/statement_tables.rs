//! The tables that a statement's plan names, opened for the statement.

use std::sync::Arc;

use mayfly_plan::TableId;
use mayfly_storage::Table;
use mayfly_types::{Error, Result};

/// The tables that a statement's plan names.
#[derive(Default)]
pub(crate) struct StatementTables {
    pub(crate) tables: Vec<(TableId, Arc<dyn Table>)>,
    /// Number of tables that store rows: the others are computed from the engine's state.
    pub(crate) stored: usize,
}

impl StatementTables {
    /// A table; `None` for one that the plan does not name.
    pub(crate) fn get(&self, id: TableId) -> Option<&Arc<dyn Table>> {
        let mut tables = self.tables.iter();
        tables
            .find(|(known, _)| *known == id)
            .map(|(_, table)| table)
    }
}

impl mayfly_exec::TableOpener for StatementTables {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        let unknown = || Error::internal("a plan names a table that it did not list");
        self.get(id).cloned().ok_or_else(unknown)
    }
}
