//! How the running statement reads and locks the rows of tables, and the tables that its plan names.

use std::sync::Arc;

use mayfly_memory::Reservation;
use mayfly_plan::TableId;
use mayfly_storage::{ReadLock, Table};
use mayfly_types::{Error, Result};

use super::StatementContext;
use crate::system_schemas::FIRST_SYSTEM_ID;
use crate::transaction::Isolation;

impl StatementContext<'_> {
    pub(super) fn isolation(&self) -> Isolation {
        let usual = self.session.settings.options().transaction;
        let transaction = self.transaction().characteristics();
        transaction.unwrap_or(usual).isolation
    }

    /// Whether the rows that a SELECT reads are locked without its asking for it: in a transaction of
    /// several statements they must stay as they are.
    #[inline]
    pub(crate) fn locks_what_it_reads(&self) -> bool {
        self.is_in_transaction() && self.isolation() == Isolation::Serializable
    }

    /// Whether what a statement reads for a change, or locks, stays locked, with the gaps between its rows.
    pub(crate) fn keeps_ranges(&self) -> bool {
        self.isolation() >= Isolation::RepeatableRead
    }

    /// A reservation of the session's memory.
    pub(crate) fn reservation(&self) -> Reservation {
        self.session.memory.rows.reservation()
    }

    /// How the rows are read that a statement changes or locks: each that it finds is locked by itself.
    pub(crate) fn lock_of_found(&self, is_limited: bool) -> ReadLock {
        match self.isolation() {
            Isolation::ReadUncommitted | Isolation::ReadCommitted => ReadLock::None,
            // A limited statement need not read its ranges to the end.
            Isolation::RepeatableRead if is_limited => ReadLock::None,
            Isolation::RepeatableRead => ReadLock::Gaps,
            Isolation::Serializable => ReadLock::Exclusive,
        }
    }
}

/// The tables that a statement's plan names.
pub(crate) struct StatementTables(pub(crate) Vec<(TableId, Arc<dyn Table>)>);

impl StatementTables {
    /// How many of them hold rows, and are not made from the engine's state.
    pub(crate) fn stored(&self) -> usize {
        let stored = self.0.iter().filter(|(id, _)| id.0 < FIRST_SYSTEM_ID);
        stored.count()
    }
}

impl mayfly_exec::TableOpener for StatementTables {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        match self.0.iter().find(|(known, _)| *known == id) {
            Some((_, table)) => Ok(Arc::clone(table)),
            None => Err(Error::internal("a plan names a table that it did not list")),
        }
    }
}
