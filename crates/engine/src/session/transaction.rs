//! A session's transaction with the stores that take part in it, and the locks that the session holds.

use std::cell::OnceCell;
use std::sync::Arc;

use mayfly_functions::context::UserLocks;
use mayfly_storage::{ChangeStorage, DurableTransaction, StatementOwner, UndoLog};
use mayfly_types::Result;

use super::SessionPrivileges;
use super::table_use::LockedTables;
use crate::catalog::BaseTable;
use crate::connections::SessionShared;
use crate::database::Database;
use crate::direct_changes::DirectChanges;
use crate::locks::table::{HeldTable, TransactionTables};
use crate::locks::user::SessionLocks;
use crate::transaction::Transaction;

/// Current transaction of a session, with its participants in the stores and the session's locks.
#[derive(Debug)]
pub(crate) struct SessionTransaction {
    database: Arc<Database>,
    shared: Arc<SessionShared>,
    /// `USER()`
    user_text: Arc<str>,
    pub(super) current: Transaction,
    /// Its changes to temporary tables.
    undo: UndoLog,
    /// The table locks that it holds.
    pub(crate) tables: TransactionTables,
    pub(super) locked_tables: LockedTables,
    /// Locks of FLUSH TABLES WITH READ LOCK: every table, and the lock of definitions.
    pub(super) read_lock: Vec<HeldTable>,
    /// The session's GET_LOCK() locks.
    pub(super) user_locks: Arc<SessionLocks>,
    durable: OnceCell<DurableTransaction>,
    /// Its changes to non-transactional tables.
    direct: OnceCell<DirectChanges>,
}

impl SessionTransaction {
    pub(super) fn new(
        database: &Arc<Database>,
        shared: &Arc<SessionShared>,
        privileges: &SessionPrivileges,
        user_locks: SessionLocks,
    ) -> Self {
        let undo = UndoLog::new();
        let tables = TransactionTables::default();
        Self {
            database: Arc::clone(database),
            shared: Arc::clone(shared),
            user_text: Arc::clone(privileges.user_text()),
            current: Transaction::new(Box::new(undo.clone()), Box::new(tables.clone())),
            undo,
            tables,
            locked_tables: LockedTables::default(),
            read_lock: Vec::new(),
            user_locks: Arc::new(user_locks),
            durable: OnceCell::new(),
            direct: OnceCell::new(),
        }
    }

    /// Ends the transaction, and releases all locks.
    pub(super) fn leave(&mut self) {
        self.current.roll_back();
        self.locked_tables = LockedTables::default();
        self.read_lock.clear();
        self.user_locks.release_all();
    }

    /// The undo log of temporary tables.
    pub(crate) fn undo_log(&self) -> &UndoLog {
        &self.undo
    }

    /// Storage of changes to durable tables until commit.
    fn change_storage(&self) -> ChangeStorage {
        ChangeStorage {
            temp_space: self.shared.memory().temp_space,
            owner: StatementOwner {
                session_id: self.shared.id,
                user: Arc::clone(&self.user_text),
                // Changes belong to no single statement.
                statement: Arc::from(""),
            },
            ..self.database.change_storage()
        }
    }

    /// The session's transaction in the store of durable tables.
    pub(crate) fn durable(&self) -> Result<&DurableTransaction> {
        if let Some(durable) = self.durable.get() {
            return Ok(durable);
        }
        let durable = self.database.store()?.session(self.change_storage());
        self.current.join(durable.participant());
        Ok(self.durable.get_or_init(|| durable))
    }

    /// Whether durable changes wait for commit.
    pub(crate) fn has_durable_changes(&self) -> bool {
        let durable = self.durable.get();
        durable.is_some_and(DurableTransaction::has_changes)
    }

    /// The session's changes to non-transactional tables.
    pub(super) fn direct(&self) -> Result<&DirectChanges> {
        if let Some(direct) = self.direct.get() {
            return Ok(direct);
        }
        let direct = DirectChanges::new(self.durable()?.beside());
        self.current.join(Box::new(direct.clone()));
        Ok(self.direct.get_or_init(|| direct))
    }

    /// Whether changes to a table persist even if the statement fails or the transaction is rolled back. A table that
    /// is still being created is undone with its statement.
    pub(crate) fn changes_directly(&self, table: &BaseTable) -> bool {
        if table.has_transactions {
            return false;
        }
        let definition = &table.definition;
        let catalog = &self.database.catalog;
        let known = || catalog.table(&definition.database, &definition.name);
        let is_it = |trees| known().is_some_and(|known| known.trees() == Some(trees));
        table.trees().is_none_or(is_it)
    }

    /// The transaction in the store of a table.
    #[inline]
    pub(crate) fn of_table(&self, table: &BaseTable) -> Result<&DurableTransaction> {
        if self.changes_directly(table) {
            return Ok(self.direct()?.transaction());
        }
        self.durable()
    }
}
