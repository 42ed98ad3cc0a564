//! Temporary tables of a session.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::catalog::BaseTable;
use crate::connections::{SessionShared, TemporaryTable};

/// Temporary tables of a session by database and name.
#[derive(Debug)]
pub(crate) struct TemporaryTables {
    tables: BTreeMap<(String, String), Arc<BaseTable>>,
    /// Version of the set of tables, changed by every addition and removal.
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

    /// Version of the temporary tables' names, unique among all sessions; 0 without any, so that such sessions share
    /// plans.
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

    /// All temporary tables.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<BaseTable>> {
        self.tables.values()
    }

    /// Adds a table, replacing one of the same name.
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
                engine: definition.engine,
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

    /// Removes all tables.
    pub(super) fn clear(&mut self) {
        self.tables.clear();
        self.shared.temporary_tables.lock().clear();
    }
}

/// A process-wide unique version: plans over temporary tables are the session's own.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
