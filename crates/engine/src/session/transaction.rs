//! A session's transaction with the stores that take part in it, and the locks that the session holds.

use std::cell::{OnceCell, RefCell};
use std::sync::{Arc, Weak};

use mayfly_functions::context::UserLocks;
use mayfly_storage::{ChangeStorage, DurableTransaction, StatementOwner, UndoLog};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::SessionPrivileges;
use super::locked_tables::{LockedTable, LockedTables};
use crate::catalog::FullName;
use crate::catalog::provided_changes::ProvidedChanges;
use crate::catalog::provider::TableProvider;
use crate::catalog::trees::Lifespan;
use crate::connections::SessionShared;
use crate::database::Database;
use crate::direct_changes::DirectChanges;
use crate::error::refuse;
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
    /// Its transactions in the stores of durable tables, by lifespan.
    durable: [OnceCell<DurableTransaction>; 2],
    /// Its changes to non-transactional tables.
    direct: OnceCell<DirectChanges>,
    /// Its changes to tables of providers.
    provided: RefCell<Vec<(Weak<dyn TableProvider>, ProvidedChanges)>>,
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
            durable: [OnceCell::new(), OnceCell::new()],
            direct: OnceCell::new(),
            provided: RefCell::default(),
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

    /// The session's transaction in a store of durable tables.
    #[inline]
    pub(crate) fn durable(&self, lifespan: Lifespan) -> Result<&DurableTransaction> {
        match self.known_durable(lifespan) {
            Some(durable) => Ok(durable),
            None => self.begin_durable(lifespan),
        }
    }

    #[cold]
    fn begin_durable(&self, lifespan: Lifespan) -> Result<&DurableTransaction> {
        let lifespan = self.database.store_of(lifespan);
        let durable = match lifespan {
            Lifespan::Lasting => self.database.store()?.session(self.change_storage()),
            // Its locks have the owner of the other transaction: a session waits for one lock at a time.
            Lifespan::Volatile => {
                let lasting = self.durable(Lifespan::Lasting)?;
                lasting.in_store(&self.database.volatile_store()?)
            }
        };
        let slot = &self.durable[lifespan.index()];
        if slot.get().is_none() {
            self.current.join(durable.participant());
        }
        Ok(slot.get_or_init(|| durable))
    }

    /// The session's transaction in a store of durable tables, if it has used the store.
    #[inline]
    pub(crate) fn known_durable(&self, lifespan: Lifespan) -> Option<&DurableTransaction> {
        self.durable[self.database.store_of(lifespan).index()].get()
    }

    /// The session's transactions in the stores of durable tables that it has used.
    pub(crate) fn all_durable(&self) -> impl Iterator<Item = &DurableTransaction> {
        self.durable.iter().filter_map(OnceCell::get)
    }

    /// Whether durable changes wait for commit.
    pub(crate) fn has_durable_changes(&self) -> bool {
        self.all_durable().any(DurableTransaction::has_changes)
    }

    /// The session's changes to non-transactional tables.
    pub(super) fn direct(&self) -> Result<&DirectChanges> {
        if let Some(direct) = self.direct.get() {
            return Ok(direct);
        }
        let direct = DirectChanges::new(self.durable(Lifespan::Lasting)?.beside());
        self.current.join(Box::new(direct.clone()));
        Ok(self.direct.get_or_init(|| direct))
    }

    /// The session's changes of a provider's table.
    pub(super) fn provided_changes(&self, provider: &Arc<dyn TableProvider>) -> ProvidedChanges {
        let mut known = self.provided.borrow_mut();
        known.retain(|(other, _)| other.strong_count() > 0);
        let is_it = |other: &Weak<dyn TableProvider>| {
            std::ptr::addr_eq(Arc::as_ptr(provider), other.as_ptr())
        };
        if let Some((_, changes)) = known.iter().find(|(other, _)| is_it(other)) {
            return changes.clone();
        }
        let changes = ProvidedChanges::default();
        self.current.join(Box::new(changes.clone()));
        known.push((Arc::downgrade(provider), changes.clone()));
        changes
    }

    /// Whether LOCK TABLES is in force.
    #[inline]
    pub(crate) fn has_locked_tables(&self) -> bool {
        !self.locked_tables.tables.is_empty()
    }

    /// Sets the tables locked by LOCK TABLES.
    pub(crate) fn set_locked_tables(&mut self, tables: Vec<LockedTable>, held: Vec<HeldTable>) {
        self.locked_tables = LockedTables {
            tables,
            _held: held,
        };
    }

    /// UNLOCK TABLES
    pub(crate) fn unlock_tables(&mut self) {
        self.locked_tables = LockedTables::default();
    }

    /// 1100 for creating or dropping a table while other tables are locked.
    pub(crate) fn refuse_unlocked(&self, database: &str, name: &str) -> Result<()> {
        let mut locked = self.locked_tables.tables.iter();
        let is_other = self.has_locked_tables() && !locked.any(|it| it.is(database, name));
        refuse(is_other, || codes::ER_TABLE_NOT_LOCKED.with(&[&name]))
    }

    /// 1099 for flushing tables of which one is locked for reading.
    pub(crate) fn refuse_read_locks(&self) -> Result<()> {
        let mut locked = self.locked_tables.tables.iter();
        match locked.find(|table| !table.writes) {
            None => Ok(()),
            Some(table) => Err(codes::ER_TABLE_NOT_LOCKED_FOR_WRITE.with(&[&table.name])),
        }
    }

    /// Whether FLUSH TABLES WITH READ LOCK is in force.
    #[inline]
    pub(crate) fn has_read_lock(&self) -> bool {
        !self.read_lock.is_empty()
    }

    /// UNLOCK TABLES after FLUSH TABLES WITH READ LOCK.
    pub(crate) fn end_read_lock(&mut self) {
        self.read_lock.clear();
    }

    /// 1192 for statements not allowed while tables are locked.
    pub(crate) fn refuse_under_locks(&self) -> Result<()> {
        refuse(self.has_locked_tables(), || {
            codes::ER_LOCK_OR_ACTIVE_TRANSACTION.error()
        })
    }

    /// Forgets dropped tables among the locked ones: with the last one LOCK TABLES ends.
    pub(crate) fn forget_locked_tables(&mut self, dropped: &[FullName]) {
        let is_dropped = |it: &LockedTable| dropped.iter().any(|(a, b)| it.is(a, b));
        let tables = &mut self.locked_tables.tables;
        let count = tables.len();
        tables.retain(|table| !is_dropped(table));
        if tables.is_empty() && count > 0 {
            self.unlock_tables();
        }
    }

    /// Renames a table among the locked ones.
    pub(crate) fn rename_locked_table(&mut self, old: (&str, &str), new: (&str, &str)) {
        for table in &mut self.locked_tables.tables {
            if table.is(old.0, old.1) {
                if table.alias.as_deref() == Some(old.1) {
                    table.alias = Some(new.1.to_owned());
                }
                table.database = new.0.to_owned();
                table.name = new.1.to_owned();
            }
        }
    }
}
