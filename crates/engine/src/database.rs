//! A database process: everything that sessions share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_types::Result;

use crate::options::DatabaseOptions;
use crate::session::{Session, SessionOptions};

/// A running engine, as one MySQL server: all databases, tables, global variables and budgets.
#[derive(Debug)]
pub struct Database {
    pub(crate) options: DatabaseOptions,
    next_session: AtomicU64,
}

impl Database {
    /// Opens an engine with no data.
    pub fn open(options: DatabaseOptions) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            options,
            next_session: AtomicU64::new(1),
        }))
    }

    /// A session of `root@localhost`.
    pub fn session(self: &Arc<Self>) -> Session {
        self.session_with(SessionOptions::new())
    }

    /// A session of some user.
    pub fn session_with(self: &Arc<Self>, options: SessionOptions) -> Session {
        let id = self.next_session.fetch_add(1, Ordering::Relaxed);
        Session::new(Arc::clone(self), id, options)
    }

    /// Bytes of memory under a reservation: base tables and temporary tables. Zero once every
    /// session and table is dropped.
    pub fn memory_used(&self) -> u64 {
        0
    }

    /// Bytes in temporary files.
    pub fn temp_space_used(&self) -> u64 {
        0
    }

    /// How many temporary tables exist, internal and user-made.
    pub fn temporary_table_count(&self) -> usize {
        0
    }
}
