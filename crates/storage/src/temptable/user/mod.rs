//! Tables of CREATE TEMPORARY TABLE, of ENGINE=MEMORY, and of the engines without transactions.
//!
//! A [`UserTable`] is created once and opened by each statement: [`UserTable::open`] gives the statement's
//! [`Table`], which sees a snapshot. A row keeps its position, eight bytes, for its lifetime. Changes by
//! a transactional table's writer are recorded in the session's [`UndoLog`]; the records end with the table.
//!
//! Rows are in the layout of all temporary tables ([`heap`]), with their long values beside them ([`blobs`]); the
//! indexes are trees ([`tree`]); all of that is in [`pages`] that go to a temporary file when the budget is exceeded,
//! the coldest first. Changes are made in place. A page of a snapshot that is still in use is copied before it is
//! changed. A snapshot is taken for the open handles when another statement begins to write, so that a statement that
//! finds its row and changes it copies nothing.

mod blobs;
mod bulk;
mod content;
mod handle;
mod heap;
mod key_set;
mod memory_engine;
mod ordered_map;
mod pages;
mod piece;
mod pin;
mod point;
mod positions;
mod scan;
mod table_context;
mod table_core;
mod tree;
mod undo;
mod write_lock;
mod writer;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_memory::MemoryError;
use mayfly_memory::sync::{lock, write_lock};
use mayfly_types::PhysicalType;

use self::handle::Handle;
use self::memory_engine::Account;
use self::table_core::Core;
use super::context::TempTableContext;
use super::record::RegistryEntry;
use crate::table::{IndexSpec, Table};

pub(super) use self::key_set::KeySet;
pub use self::memory_engine::{MemoryIndex, MemoryKeyPart, MemoryLimits, VaryingBytes};
pub(crate) use self::ordered_map::{MapSnapshot, OrderedMap};
pub use self::table_context::{UserTableContext, UserTableEngine};
pub use self::undo::UndoLog;

/// User-visible table. Cloning gives another handle; the rows are freed with the last one.
#[derive(Debug, Clone)]
pub struct UserTable(Arc<Core>);

impl UserTable {
    /// An empty table. Its indexes are in the order that [`Table::indexes`] asks for.
    pub fn new(
        context: UserTableContext,
        columns: Vec<PhysicalType>,
        indexes: Vec<IndexSpec>,
    ) -> Self {
        Self(Core::new(context, columns, indexes))
    }

    /// Opens a handle of one statement. Changes of its writers are recorded in `undo`, the session's.
    ///
    /// The handle sees a snapshot of the rows. When a statement writes through a handle and goes on reading through
    /// it, it may see its own changes: open another one to read from.
    pub fn open(&self, statement: &TempTableContext, undo: &UndoLog) -> Arc<dyn Table> {
        self.0.sort_entries();
        Arc::new(Handle::new(&self.0, statement, undo))
    }

    /// The registry entry with the current number of rows, which any session may read, even while a statement changes
    /// the table.
    pub fn entry(&self) -> RegistryEntry {
        let mut entry = self.0.registration.snapshot();
        if let Ok(state) = self.0.state.try_read() {
            entry.rows = state.content.heap.len();
        }
        entry
    }

    /// Whether rows are in a temporary file.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.0.pager.has_overflowed()
    }

    /// Why reads since the last call could not evict pages, if they could not: the rows that they gave are right.
    pub(crate) fn take_unrelieved(&self) -> Option<MemoryError> {
        lock(&self.0.unrelieved).take()
    }

    /// Removes all rows at the end of a transaction, without a statement: open handles keep what they see. Returns
    /// false, at once, for a table that has had no row since it was last emptied.
    pub fn clear(&self) -> bool {
        let core = &self.0;
        let mut state = write_lock(&core.state);
        if core.version.load(Ordering::Relaxed) == state.emptied_at {
            return false;
        }
        let old = core.clear(&mut state);
        drop(state);
        drop(old);
        true
    }

    /// Restarts the account of an empty table of the MEMORY engine with these limits.
    pub fn empty_under(&self, limits: &MemoryLimits) {
        let mut state = write_lock(&self.0.state);
        if let Some(account) = &mut state.account {
            *account = Account::new(limits);
        }
    }
}
