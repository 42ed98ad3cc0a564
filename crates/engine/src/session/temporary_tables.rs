//! Temporary tables of a session: those of CREATE TEMPORARY TABLE, by name, and the session's rows in global temporary
//! tables (the manual, "CREATE TEMPORARY TABLE Statement"; SQL:2023 F531).
//!
//! Both are rows of the session in its own budget and temporary space; what differs is whose the definition is. They take
//! part in the session's transaction, beside the undo log of their rows: at its end, ON COMMIT acts, and under
//! `temp_ddl_transactional` a rollback gives names the tables that they had.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_storage::Participant;
use mayfly_syntax::ast::OnCommit;
use mayfly_types::Result;
use parking_lot::Mutex;

use crate::catalog::definition::TableDefinition;
use crate::catalog::private_rows::{PrivateRows, PrivateStore};
use crate::catalog::{BaseTable, FullName};
use crate::connections::{SessionShared, TemporaryTable};

/// Temporary tables of a session. Cloning gives another handle, such as the participant of the transaction.
#[derive(Debug, Clone)]
pub(crate) struct TemporaryTables {
    own: Arc<Own>,
    shared: Arc<SessionShared>,
}

#[derive(Debug, Default)]
struct Own {
    /// Version of the set of names, changed by every addition and removal; 0 without any name.
    version: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tables: BTreeMap<FullName, Arc<BaseTable>>,
    /// Rows in global temporary tables.
    private: Vec<Arc<PrivateRows>>,
    /// What the changes of the transaction have replaced, to be put back by a rollback.
    replaced: Vec<Replaced>,
    /// Whether the tables take part in the session's transactions.
    is_participant: bool,
}

/// What a change of a definition has replaced.
#[derive(Debug)]
enum Replaced {
    /// The table of a name, if it had one.
    Table(FullName, Option<Arc<BaseTable>>),
    /// Rows in a global temporary table, which TRUNCATE TABLE has emptied.
    Rows(Arc<PrivateRows>),
}

impl TemporaryTables {
    pub(super) fn new(shared: Arc<SessionShared>) -> Self {
        Self {
            own: Arc::default(),
            shared,
        }
    }

    /// Version of the temporary tables' names, unique among all sessions; 0 without any, so that such sessions share
    /// plans.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.own.version.load(Ordering::Relaxed)
    }

    /// The table of a name.
    pub(crate) fn get(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        if self.version() == 0 {
            return None;
        }
        let key = (database.to_owned(), name.to_owned());
        self.own.state.lock().tables.get(&key).cloned()
    }

    /// All tables with a name of the session's.
    pub(crate) fn all(&self) -> Vec<Arc<BaseTable>> {
        self.own.state.lock().tables.values().cloned().collect()
    }

    /// Adds a table, replacing one of the same name; `is_undone` says whether a rollback removes it.
    pub(super) fn add(&self, table: Arc<BaseTable>, is_undone: bool) {
        let definition = &table.definition;
        let name = definition.full_name();
        self.set(name, Some(table), is_undone);
    }

    /// Removes a table, which a rollback puts back if `is_undone`; false without one of that name.
    pub(super) fn remove(&self, database: &str, name: &str, is_undone: bool) -> bool {
        let name = (database.to_owned(), name.to_owned());
        self.set(name, None, is_undone)
    }

    /// Gives a name another table, or none; returns whether it had one.
    fn set(&self, name: FullName, table: Option<Arc<BaseTable>>, is_undone: bool) -> bool {
        let mut state = self.own.state.lock();
        let before = self.put(&mut state, &name, table);
        let was_there = before.is_some();
        if is_undone {
            state.replaced.push(Replaced::Table(name, before));
        }
        was_there
    }

    fn put(
        &self,
        state: &mut State,
        name: &FullName,
        table: Option<Arc<BaseTable>>,
    ) -> Option<Arc<BaseTable>> {
        let shown = table.as_deref().and_then(shown);
        let before = match table {
            Some(table) => state.tables.insert(name.clone(), table),
            None => state.tables.remove(name),
        };
        self.note_names(state);
        let mut all = self.shared.temporary_tables.lock();
        if let Some(before) = &before {
            all.retain(|shown| shown.id != before.id.0);
        }
        all.extend(shown);
        before
    }

    fn note_names(&self, state: &State) {
        let version = if state.tables.is_empty() {
            0
        } else {
            next_version()
        };
        self.own.version.store(version, Ordering::Relaxed);
    }

    /// The session's rows in the table of a store.
    pub(crate) fn private_rows(&self, store: &PrivateStore) -> Option<Arc<PrivateRows>> {
        let state = self.own.state.lock();
        let mut private = state.private.iter();
        private.find(|rows| rows.is_of(store)).cloned()
    }

    /// Adds rows in a global temporary table, in place of the session's present ones, which a rollback puts back if
    /// `is_undone`.
    pub(super) fn put_private(&self, rows: &Arc<PrivateRows>, is_undone: bool) {
        let mut state = self.own.state.lock();
        state.private.retain(|known| known.has_table());
        if let Some(before) = self.exchange(&mut state, rows)
            && is_undone
        {
            state.replaced.push(Replaced::Rows(before));
        }
    }

    fn exchange(&self, state: &mut State, rows: &Arc<PrivateRows>) -> Option<Arc<PrivateRows>> {
        let mut private = state.private.iter_mut();
        let known = private.find(|known| known.is_beside(rows));
        let before = match known {
            Some(known) => Some(std::mem::replace(known, Arc::clone(rows))),
            None => {
                state.private.push(Arc::clone(rows));
                None
            }
        };
        self.show_private(state);
        before
    }

    /// Forgets the rows in a global temporary table that has been dropped.
    pub(crate) fn forget(&self, table: &BaseTable) {
        let Some(store) = table.private() else {
            return;
        };
        let mut state = self.own.state.lock();
        state.private.retain(|rows| !rows.is_of(store));
        state.replaced.retain(|replaced| match replaced {
            Replaced::Rows(rows) => !rows.is_of(store),
            Replaced::Table(..) => true,
        });
        self.show_private(&state);
    }

    /// Lists the rows in global temporary tables for other sessions.
    fn show_private(&self, state: &State) {
        let mut all = self.shared.temporary_tables.lock();
        all.retain(|shown| !shown.is_global);
        all.extend(state.private.iter().filter_map(|rows| {
            let (definition, name) = rows.definition()?;
            Some(TemporaryTable {
                is_global: true,
                name,
                ..listed(rows.table().entry().id, &definition, rows.table())
            })
        }));
    }

    /// Makes the tables take part in the session's transactions; false if they do.
    pub(super) fn joins(&self) -> bool {
        !std::mem::replace(&mut self.own.state.lock().is_participant, true)
    }

    /// Takes the tables away from a session that ends, for another one of its connection.
    pub(super) fn detached(&mut self) -> Self {
        let kept = self.clone();
        self.own = Arc::default();
        kept.own.state.lock().is_participant = false;
        kept
    }

    /// Whether the end of a transaction does something to one of the tables.
    pub(super) fn act_on_commit(&self) -> bool {
        let state = self.own.state.lock();
        let acts = |on_commit: OnCommit| on_commit != OnCommit::PreserveRows;
        let mut tables = state.tables.values();
        let mut private = state.private.iter();
        tables.any(|table| acts(table.definition.on_commit))
            || private.any(|rows| acts(rows.on_commit()))
    }

    /// Lists the tables for other sessions, which a reset of the connection has removed from the list.
    pub(super) fn show_all(&self) {
        let state = self.own.state.lock();
        let tables = state.tables.values();
        let all = tables.filter_map(|table| shown(table)).collect();
        *self.shared.temporary_tables.lock() = all;
        self.show_private(&state);
    }

    /// Removes all tables.
    pub(super) fn clear(&self) {
        let is_participant = self.own.state.lock().is_participant;
        let left = std::mem::replace(
            &mut *self.own.state.lock(),
            State {
                is_participant,
                ..State::default()
            },
        );
        self.own.version.store(0, Ordering::Relaxed);
        self.shared.temporary_tables.lock().clear();
        drop(left);
    }

    /// ON COMMIT, at the end of a transaction, whether it is committed or rolled back: a transaction begins with no rows.
    fn end(&self, state: &mut State) {
        for rows in &state.private {
            if rows.on_commit() == OnCommit::DeleteRows {
                rows.clear();
            }
        }
        let mut dropped = Vec::new();
        for (name, table) in &state.tables {
            match table.definition.on_commit {
                OnCommit::PreserveRows => {}
                OnCommit::DeleteRows => table.clear_own(),
                OnCommit::Drop => dropped.push(name.clone()),
            }
        }
        for name in dropped {
            self.put(state, &name, None);
        }
    }
}

impl Participant for TemporaryTables {
    fn savepoint(&mut self) -> u64 {
        self.own.state.lock().replaced.len() as u64
    }

    fn roll_back_to(&mut self, savepoint: u64) -> bool {
        let mut state = self.own.state.lock();
        while state.replaced.len() as u64 > savepoint {
            match state.replaced.pop() {
                Some(Replaced::Table(name, table)) => drop(self.put(&mut state, &name, table)),
                Some(Replaced::Rows(rows)) => drop(self.exchange(&mut state, &rows)),
                None => break,
            }
        }
        false
    }

    fn commit(&mut self) -> Result<()> {
        let mut state = self.own.state.lock();
        state.replaced.clear();
        self.end(&mut state);
        Ok(())
    }

    fn roll_back(&mut self) -> bool {
        self.roll_back_to(0);
        self.end(&mut self.own.state.lock());
        false
    }
}

/// A table as other sessions see it.
fn shown(table: &BaseTable) -> Option<TemporaryTable> {
    Some(listed(table.id.0, &table.definition, table.session_rows()?))
}

fn listed(
    id: u64,
    definition: &TableDefinition,
    rows: &mayfly_storage::UserTable,
) -> TemporaryTable {
    TemporaryTable {
        id,
        is_global: false,
        name: Arc::new(Mutex::new(definition.full_name())),
        engine: definition.engine,
        columns: definition.named_columns().count(),
        created: definition.created,
        table: rows.clone(),
    }
}

/// A process-wide unique version: plans over temporary tables are the session's own.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
