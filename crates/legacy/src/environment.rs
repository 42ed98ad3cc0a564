//! Resources that legacy tables share in a database and in a session.

use std::sync::{Arc, Mutex};

use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, Result};

use crate::file::LegacyDirectory;
use crate::innodb::{BufferPool, SessionTablespace, TemporaryTablespaces};
use crate::key_cache::KeyCache;

/// Resources shared by all sessions of a database. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct LegacyEnvironment {
    /// Directory of the files of MyISAM-style tables.
    pub directory: Arc<LegacyDirectory>,
    /// Tablespaces of InnoDB-style tables.
    pub tablespaces: TemporaryTablespaces,
    /// Buffer pool of the tablespaces.
    pub buffer_pool: BufferPool,
}

/// Resources shared by the tables of one session. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct SessionDisk {
    /// Key cache of the session's MyISAM-style tables.
    pub key_cache: KeyCache,
    /// The session's budget of temporary space.
    session: Budget,
    tablespace: Arc<Mutex<Option<Arc<SessionTablespace>>>>,
}

impl SessionDisk {
    /// A session without a tablespace yet. `session` is charged for the pages of its tablespace that no table uses.
    pub fn new(key_cache: KeyCache, session: &Budget) -> Self {
        Self {
            key_cache,
            session: session.clone(),
            tablespace: Arc::default(),
        }
    }

    /// The session's tablespace, taken with its first table on disk.
    pub(crate) fn tablespace(
        &self,
        environment: &LegacyEnvironment,
    ) -> Result<Arc<SessionTablespace>> {
        let mut tablespace = lock(&self.tablespace);
        if let Some(tablespace) = &*tablespace {
            return Ok(Arc::clone(tablespace));
        }
        let taken = Arc::new(environment.tablespaces.take(&self.session)?);
        Ok(Arc::clone(tablespace.insert(taken)))
    }

    /// The session's tablespace, if it has one.
    pub fn taken_tablespace(&self) -> Option<Arc<SessionTablespace>> {
        lock(&self.tablespace).clone()
    }

    /// Returns the tablespace to the pool. Tables that still use it keep it until they are dropped.
    pub fn give_back(&self) {
        *lock(&self.tablespace) = None;
    }
}
