//! Interface of tables with rows outside of the stores: in files, on another server, in a program that embeds the engine,
//! or, for `information_schema` and its like, computed from the engine's state.

use std::fmt::Debug;
use std::sync::Arc;

use mayfly_offload::{Share, TableCall};
use mayfly_storage::{Participant, ScanRequest};
use mayfly_types::{Batch, Error, OrderColumn, Result, SqlType, TermShape, TermSupport};

/// A column of a [`TableProvider`].
#[derive(Debug, Clone)]
pub struct ProvidedColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// A single pass over the rows of a table, or a worker's part in it.
pub trait ProvidedRows: Send {
    /// The next rows; `None` after the last. Their arrays are of the physical types of the requested columns.
    ///
    /// # Errors
    /// Any error of reading; it ends the statement.
    fn next_batch(&mut self) -> Result<Option<Batch>>;

    /// A part for another worker: the parts of one pass divide the rows between them, and each is read on a thread of its
    /// own. A part that is read alone gives all rows, in order. `None` if one part has all rows: the workers then take turns
    /// with it.
    fn for_another_worker(&self) -> Option<Box<dyn ProvidedRows>> {
        None
    }
}

/// Source of tables for names that lead to no table: objects of the program that embeds the engine, by the names that they
/// have there.
pub trait MissingTables: Debug + Send + Sync {
    /// The table of a name that was written without a database, for one statement; `None` where there is none either. A
    /// statement asks once for each place in which the name stands.
    ///
    /// # Errors
    /// Any error of finding out the columns; it ends the statement.
    fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>>;
}

/// Provider of a table's rows. Of a scan's request it must obey the columns, the terms that it has called exact, and the
/// order, which is one of its own; it may obey the rest.
///
/// What a provider promises never changes, and holds for the scans of its transactions too. TIMESTAMPs are in UTC: a
/// table with such a column is asked for no terms and no order, for statements see them in their session's time zone.
pub trait TableProvider: Debug + Send + Sync {
    /// The columns; they never change.
    fn columns(&self) -> Vec<ProvidedColumn>;

    /// Precision with which scans answer a term of a predicate.
    fn term(&self, term: &TermShape) -> TermSupport {
        let _ = term;
        TermSupport::Inexact
    }

    /// Orders in which scans can give the rows. A scan is asked for one of them, or for its first columns.
    fn orders(&self) -> Vec<Vec<OrderColumn>> {
        Vec::new()
    }

    /// Estimated number of rows.
    fn row_count(&self) -> u64 {
        1000
    }

    /// Starts a scan. Several statements may scan concurrently.
    ///
    /// # Errors
    /// Any error of reading.
    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>>;

    /// The call by which other processes read the rows, of a table of files that they may see too; `None` for others. The
    /// number of its rows is exact.
    fn call(&self) -> Option<TableCall> {
        None
    }

    /// Starts a scan of a share of a table that has a [`Self::call`].
    ///
    /// # Errors
    /// Any error of reading.
    fn scan_share(&self, request: &ScanRequest<'_>, share: Share) -> Result<Box<dyn ProvidedRows>> {
        let _ = (request, share);
        Err(Error::internal("a table that is not divided has no shares"))
    }

    /// Whether no statement may change rows: 1036.
    fn is_read_only(&self) -> bool {
        true
    }

    /// Begins a transaction of a session that changes rows, of a table that is not read only.
    ///
    /// # Errors
    /// Any error of the provider; it ends the statement.
    fn begin(&self) -> Result<Box<dyn ProviderTransaction>> {
        Err(Error::internal(
            "a table that can be changed begins transactions",
        ))
    }
}

/// A transaction's changes of a provider's table.
///
/// A position is the identity of a row, in bytes that the provider chooses. It stays valid until the row is removed or
/// the transaction ends. As a [`Participant`] the transaction begins at savepoint 0.
pub trait ProviderTransaction: Participant {
    /// Starts a scan of the rows as the transaction sees them now. A requested [`ColumnId::POSITION`](mayfly_storage::ColumnId::POSITION) is an array of
    /// type BinaryView.
    ///
    /// # Errors
    /// Any error of reading.
    fn scan(&mut self, request: &ScanRequest<'_>) -> Result<Box<dyn ProvidedRows>>;

    /// All columns of the row at a position; `None` if there is none.
    ///
    /// # Errors
    /// Any error of reading.
    fn row(&mut self, position: &[u8]) -> Result<Option<Batch>>;

    /// Adds rows of all columns.
    ///
    /// # Errors
    /// Any error of writing; the statement is rolled back to its savepoint.
    fn insert(&mut self, rows: &Batch) -> Result<()>;

    /// Replaces the rows at positions, all of which exist: row `n` of the batch is the new one at `positions[n]`.
    ///
    /// # Errors
    /// Any error of writing.
    fn update(&mut self, positions: &[&[u8]], rows: &Batch) -> Result<()>;

    /// Removes the rows at positions; returns how many existed.
    ///
    /// # Errors
    /// Any error of writing.
    fn delete(&mut self, positions: &[&[u8]]) -> Result<u64>;

    /// Removes every row.
    ///
    /// # Errors
    /// Any error of writing.
    fn truncate(&mut self) -> Result<()>;
}
