//! The tables that a session knows: by name, in stores, and for the statement that runs.

use std::sync::Arc;

use mayfly_memory::Reservation;
use mayfly_plan::TableId;
use mayfly_storage::{ReadLock, Table};
use mayfly_types::{Error, Result};

use super::StatementContext;
use crate::statement_options::StatementOptions;
use crate::transaction::Isolation;

impl StatementContext<'_> {
    pub(super) fn isolation(&self) -> Isolation {
        let usual = self.session.settings.options().transaction;
        let transaction = self.transaction().characteristics();
        transaction.unwrap_or(usual).isolation
    }

    /// Whether the rows that a SELECT reads are locked without its asking for it: in a transaction of
    /// several statements they must stay as they are.
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
            // It need not come to the end of the ranges that it reads.
            Isolation::RepeatableRead if is_limited => ReadLock::None,
            Isolation::RepeatableRead => ReadLock::Gaps,
            Isolation::Serializable => ReadLock::Exclusive,
        }
    }
}

/// What a plan depends on besides its statement, the database of its names, and the types of its `?`.
#[derive(Debug)]
pub(crate) struct PlanEnvironment {
    catalog: u64,
    temporary_tables: u64,
    options: Arc<StatementOptions>,
    /// Who may run it.
    rights: Arc<str>,
}

impl StatementContext<'_> {
    /// Whether names and settings mean to the statement what they did then.
    pub(crate) fn is_in(&self, environment: &PlanEnvironment) -> bool {
        let PlanEnvironment {
            catalog,
            temporary_tables,
            options,
            rights,
        } = environment;
        *temporary_tables == self.session.temporary_tables.version()
            && Arc::ptr_eq(options, self.options())
            && *catalog == self.database().catalog.version()
            && (Arc::ptr_eq(rights, self.privileges().key()) || rights == self.privileges().key())
    }

    /// What names and settings mean to the statement.
    pub(crate) fn plan_environment(&self) -> PlanEnvironment {
        PlanEnvironment {
            catalog: self.database().catalog.version(),
            temporary_tables: self.session.temporary_tables.version(),
            options: Arc::clone(self.options()),
            rights: Arc::clone(self.privileges().key()),
        }
    }
}

/// The tables that a statement's plan names.
pub(crate) struct StatementTables(pub(crate) Vec<(TableId, Arc<dyn Table>)>);

impl mayfly_exec::TableOpener for StatementTables {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        match self.0.iter().find(|(known, _)| *known == id) {
            Some((_, table)) => Ok(Arc::clone(table)),
            None => Err(Error::internal("a plan names a table that it did not list")),
        }
    }
}
