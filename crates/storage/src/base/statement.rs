//! Statements of a transaction, which open tables.

use std::sync::Arc;

use mayfly_types::Result;

use super::definition::TableDefinition;
use super::store::transaction::{DurableTransaction, StatementOptions, StatementState};
use super::table::DurableTable;

/// A statement of a transaction; all tables that it opens are of one snapshot. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Statement(pub(super) Arc<StatementState>);

impl DurableTransaction {
    /// Begins a statement.
    pub fn statement(&self, options: StatementOptions) -> Statement {
        Statement(StatementState::new(&self.0, options))
    }
}

impl Statement {
    /// Opens a table.
    pub fn table(&self, definition: &Arc<TableDefinition>) -> Result<DurableTable> {
        let snapshot = self.0.snapshot()?;
        Ok(DurableTable::new(&self.0, definition, snapshot))
    }
}
