//! Changes of non-transactional tables (MyISAM, Aria, CSV, ARCHIVE): each statement commits its own changes, even if
//! it or the session's transaction fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_storage::{DurableTransaction, Participant};
use mayfly_types::Result;

/// A session's changes to non-transactional tables. Cloning gives another handle.
#[derive(Debug, Clone)]
pub(crate) struct DirectChanges {
    statement: DurableTransaction,
    /// Whether rows were changed since the session's transaction began.
    has_changed: Arc<AtomicBool>,
}

impl DirectChanges {
    /// `statement` is a transaction of its own, used by no other part of the session.
    pub(crate) fn new(statement: DurableTransaction) -> Self {
        Self {
            statement,
            has_changed: Arc::default(),
        }
    }

    /// The transaction of the running statement's changes.
    pub(crate) fn transaction(&self) -> &DurableTransaction {
        &self.statement
    }
}

impl Participant for DirectChanges {
    fn savepoint(&mut self) -> u64 {
        0
    }

    fn roll_back_to(&mut self, _: u64) -> bool {
        self.has_changed.load(Ordering::Relaxed)
    }

    fn commit(&mut self) -> Result<()> {
        self.has_changed.store(false, Ordering::Relaxed);
        self.statement.commit()
    }

    fn roll_back(&mut self) -> bool {
        self.has_changed.swap(false, Ordering::Relaxed)
    }

    fn end_statement(&mut self) -> Result<()> {
        if self.statement.has_changes() {
            self.has_changed.store(true, Ordering::Relaxed);
        }
        self.statement.commit()
    }
}
