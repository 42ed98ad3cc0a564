//! Read views and row locks of the running statement, and the tables that its plan names.

use std::sync::Arc;

use mayfly_memory::Reservation;
use mayfly_plan::TableId;
use mayfly_storage::{ReadLock, Table};
use mayfly_types::{Error, Result};

use super::StatementContext;
use crate::transaction::Isolation;

impl StatementContext<'_> {
    pub(super) fn isolation(&self) -> Isolation {
        let usual = self.session.settings.options().transaction;
        let transaction = self.transaction().characteristics();
        transaction.unwrap_or(usual).isolation
    }

    /// Whether a SELECT locks what it reads without FOR SHARE: in a SERIALIZABLE transaction of several statements.
    #[inline]
    pub(crate) fn locks_what_it_reads(&self) -> bool {
        self.is_in_transaction() && self.isolation() == Isolation::Serializable
    }

    /// Whether reads for changes, and locks, keep the gaps between rows locked.
    pub(crate) fn keeps_ranges(&self) -> bool {
        self.isolation() >= Isolation::RepeatableRead
    }

    /// A reservation of the session's memory.
    pub(crate) fn reservation(&self) -> Reservation {
        self.session.memory.rows.reservation()
    }

    /// Lock mode of reads for a change or a lock: each found row is locked separately.
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
