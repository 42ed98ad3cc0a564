//! The tables of CREATE TEMPORARY TABLE, of ENGINE=MEMORY, and of the engines without transactions.
//!
//! A [`UserTable`] is created once and opened by each statement: [`UserTable::open`] gives the
//! statement's [`Table`](crate::Table), which sees the rows of that moment. Rows keep their position,
//! eight bytes, from when they are added until they are deleted. What a transactional table's writer
//! does is recorded in the session's [`UndoLog`]; the records die with the table.

mod handle;
mod rows;
mod undo;
mod values;

use std::sync::{Arc, RwLock};

use mayfly_memory::Budget;
use mayfly_types::PhysicalType;

use super::context::{Resources, TempTableContext};
use super::registry::StatementOwner;
use crate::key_encoding::KeyEncoder;
use crate::table::{IndexSpec, Table};
use handle::Handle;
use rows::Rows;

pub use undo::UndoLog;

/// How a table takes part in transactions, and where its rows may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserTableEngine {
    /// CREATE TEMPORARY TABLE: changes can be undone, rows overflow to temporary files.
    Transactional,
    /// MyISAM, Aria, CSV: as before, but what is done is done.
    NonTransactional,
    /// MEMORY: seen by all sessions, never in a file, and full with so many bytes.
    Memory(MemoryLimits),
}

/// How the MEMORY engine counts bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Bytes of a row by its declaration: a VARCHAR counts with its full length.
    pub row_bytes: u64,
    /// `max_heap_table_size` of the session that made the table.
    pub max_bytes: u64,
    /// `read_buffer_size`: rows are counted in steps of so many bytes.
    pub step_bytes: u64,
    /// MAX_ROWS, or 0.
    pub max_rows: u64,
}

/// What a table is made with.
#[derive(Debug, Clone)]
pub struct UserTableContext {
    /// What the database shares.
    pub resources: Resources,
    /// Memory: of the session, or of base tables when others see the table too.
    pub memory: Budget,
    /// Temporary space: of the same.
    pub temp_space: Budget,
    /// Bytes of memory that this table may hold before it overflows.
    pub memory_limit: u64,
    /// Whose it is.
    pub owner: StatementOwner,
    /// What users call it.
    pub name: Arc<str>,
    /// How it behaves.
    pub engine: UserTableEngine,
}

#[derive(Debug)]
pub(crate) struct Core {
    context: UserTableContext,
    columns: Vec<PhysicalType>,
    indexes: Vec<IndexSpec>,
    encoders: Vec<KeyEncoder>,
    rows: RwLock<Arc<Rows>>,
}

/// A table; see the module. Cloning gives another handle; the rows go with the last one.
#[derive(Debug, Clone)]
pub struct UserTable(Arc<Core>);

impl UserTable {
    /// An empty table. Its indexes are in the order that [`Table::indexes`] asks for.
    pub fn new(
        context: UserTableContext,
        columns: Vec<PhysicalType>,
        indexes: Vec<IndexSpec>,
    ) -> Self {
        let encoder = |index: &IndexSpec| KeyEncoder::new(&columns, &index.parts);
        let encoders = indexes.iter().map(encoder).collect();
        let rows = Rows::new(indexes.len());
        Self(Arc::new(Core {
            context,
            columns,
            indexes,
            encoders,
            rows: RwLock::new(Arc::new(rows)),
        }))
    }

    /// One statement's handle. Its changes are recorded in `undo`, the session's.
    pub fn open(&self, statement: &TempTableContext, undo: &UndoLog) -> Arc<dyn Table> {
        Arc::new(Handle::new(&self.0, statement, undo))
    }
}
