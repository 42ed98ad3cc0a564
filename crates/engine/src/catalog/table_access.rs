//! What a table asks of the statement that uses it. The catalog knows statements and sessions only by this.

use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{
    DurableTransaction, Statement as DurableStatement, UndoLog, UserTableContext,
};
use mayfly_types::Result;
use mayfly_types::temporal::TimeZone;

use super::BaseTable;
use super::definition::TableDefinition;

/// The statement that uses a table, as the catalog sees it.
pub(crate) trait TableAccess {
    /// The time zone that TIMESTAMP columns are shown in.
    fn time_zone(&self) -> &TimeZone;

    /// The transaction in the store of durable tables.
    fn durable(&self) -> Result<&DurableTransaction>;

    /// Whether the transaction has changed rows of durable tables.
    fn has_durable_changes(&self) -> bool;

    /// Whether there is a data directory, in which the catalog is stored.
    fn has_data_directory(&self) -> bool;

    /// Whether what the statement changes in a table stays, whatever comes of it.
    fn changes_directly(&self, table: &BaseTable) -> bool;

    /// The statement's view of durable tables.
    fn durable_statement(&self) -> Result<&DurableStatement>;

    /// The statement's view of tables without transactions.
    fn direct_statement(&self) -> Result<&DurableStatement>;

    /// Where the statement's temporary tables live.
    fn temp_table_context(&self) -> &TempTableContext;

    /// What the transaction has changed in temporary tables.
    fn undo_log(&self) -> &UndoLog;

    /// Where a temporary table of the session's own lives, or a table of the MEMORY engine.
    fn user_table_context(&self, definition: &TableDefinition) -> UserTableContext;

    /// `max_heap_table_size` of the session and `read_buffer_size` of the server.
    fn memory_engine_bytes(&self) -> (u64, u64);
}
