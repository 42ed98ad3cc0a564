//! Read views and row locks of the running statement.

use mayfly_memory::Reservation;
use mayfly_storage::ReadLock;

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
