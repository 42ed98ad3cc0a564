//! Interfaces of tables to the running statement. They are all that the catalog knows of statements and sessions.

use std::sync::Arc;

use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{
    DurableTransaction, ReadView, Statement as DurableStatement, UndoLog, UserTableContext,
};
use mayfly_types::Result;
use mayfly_types::temporal::TimeZone;

use super::definition::TableDefinition;
use super::private_rows::{PrivateRows, PrivateStore};
use super::provided_changes::ProvidedChanges;
use super::provider::TableProvider;
use super::shared_rows::SharedSpace;
use super::trees::{Lifespan, Trees};

/// Access to the rows of tables that exist.
pub(crate) trait RowAccess {
    /// Whether the statement that creates a table with these trees has ended.
    fn is_created(&self, definition: &TableDefinition, trees: &Trees) -> bool;

    /// The statement's view of durable tables.
    fn durable_statement(&self, lifespan: Lifespan) -> Result<&DurableStatement>;

    /// The statement's view of non-transactional tables.
    fn direct_statement(&self) -> Result<&DurableStatement>;

    /// The context of the statement's temporary tables.
    fn temp_table_context(&self) -> &TempTableContext;

    /// The session's changes of a provider's table.
    fn provided_changes(&self, provider: &Arc<dyn TableProvider>) -> ProvidedChanges;

    /// The session's rows in a global temporary table, which a statement that may add some makes at their first use;
    /// `None` if there are none and the statement only reads.
    fn private_rows(&self, store: &PrivateStore) -> Option<Arc<PrivateRows>>;

    /// The undo log of changes to temporary tables.
    fn undo_log(&self) -> &UndoLog;

    /// The time zone that TIMESTAMP columns are shown in.
    fn time_zone(&self) -> &TimeZone;
}

/// The statement that uses a table, as the catalog sees it.
pub(crate) trait TableAccess: RowAccess {
    /// The transaction, and the read view of a statement that reads nothing but one row of a table, whose changes are
    /// made `directly` or not.
    fn view_of_row(
        &self,
        lifespan: Lifespan,
        directly: bool,
    ) -> Result<(&DurableTransaction, ReadView)>;

    /// The undo log for a statement that changes one row of a temporary table; `None` if the change can never be
    /// undone.
    fn undo_of_row(&self) -> Option<&UndoLog>;

    /// The transaction in a store of durable tables.
    fn durable(&self, lifespan: Lifespan) -> Result<&DurableTransaction>;

    /// Whether the transaction has changed rows of a store of durable tables.
    fn has_durable_changes(&self, lifespan: Lifespan) -> bool;

    /// Charges trees of a new table to the temporary space of the statement's user.
    fn charge(&self, trees: &Trees, name: &str) -> Result<SharedSpace>;

    /// Whether there is a data directory, in which the catalog is stored.
    fn has_data_directory(&self) -> bool;

    /// The context of a session's temporary table, or of a table of the MEMORY engine.
    fn user_table_context(&self, definition: &TableDefinition) -> UserTableContext;

    /// `max_heap_table_size` of the session and `read_buffer_size` of the server.
    fn memory_engine_bytes(&self) -> (u64, u64);
}
