//! The temporary tables that a session has made.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::catalog::BaseTable;
use crate::connections::{SessionShared, TemporaryTable};

/// Temporary tables of a session by database and name.
#[derive(Debug)]
pub(crate) struct TemporaryTables {
    tables: BTreeMap<(String, String), Arc<BaseTable>>,
    /// Changes with every table that comes or goes.
    version: u64,
    shared: Arc<SessionShared>,
}

impl TemporaryTables {
    pub(super) fn new(shared: Arc<SessionShared>) -> Self {
        Self {
            tables: BTreeMap::new(),
            version: 0,
            shared,
        }
    }

    /// A number that is another one when names of temporary tables may mean something else; 0 without any, so
    /// that such sessions share plans.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        if self.tables.is_empty() {
            0
        } else {
            self.version
        }
    }

    /// The table of a name.
    pub(crate) fn get(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        if self.tables.is_empty() {
            return None;
        }
        let key = (database.to_owned(), name.to_owned());
        self.tables.get(&key).cloned()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<BaseTable>> {
        self.tables.values()
    }

    /// Adds a table; one of the same name goes.
    pub(super) fn add(&mut self, table: Arc<BaseTable>) {
        self.version = next_version();
        let definition = &table.definition;
        let key = (definition.database.clone(), definition.name.clone());
        let replaced = self.tables.insert(key, Arc::clone(&table));
        let mut shown = self.shared.temporary_tables.lock();
        if let Some(replaced) = replaced {
            shown.retain(|shown| shown.id != replaced.id.0);
        }
        if let Some(rows) = table.session_rows() {
            shown.push(TemporaryTable {
                id: table.id.0,
                database: definition.database.clone(),
                name: definition.name.clone(),
                engine: definition.engine.clone(),
                columns: definition.named_columns().count(),
                created: definition.created,
                table: rows.clone(),
            });
        }
    }

    /// Removes a table; false without one of that name.
    pub(super) fn remove(&mut self, database: &str, name: &str) -> bool {
        self.version = next_version();
        let key = (database.to_owned(), name.to_owned());
        let dropped = self.tables.remove(&key);
        if let Some(dropped) = &dropped {
            let mut shown = self.shared.temporary_tables.lock();
            shown.retain(|shown| shown.id != dropped.id.0);
        }
        dropped.is_some()
    }

    /// Removes all.
    pub(super) fn clear(&mut self) {
        self.tables.clear();
        self.shared.temporary_tables.lock().clear();
    }
}

/// A number that no session has had: plans over temporary tables are the session's own.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
