//! The tables that a session knows: by name, in stores, and for the statement that runs.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use mayfly_memory::Reservation;
use mayfly_memory::budget::UNLIMITED;
use mayfly_plan::TableId;
use mayfly_storage::{
    ChangeStorage, DurableTransaction, Purpose, ReadLock, ReadView, Statement as DurableStatement,
    StatementOptions as DurableStatementOptions, StatementOwner, Table, UndoLog, UserTableContext,
    UserTableEngine,
};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::Session;
use crate::catalog::BaseTable;
use crate::catalog::definition::TableDefinition;
use crate::catalog::{engines, memory_engine};
use crate::direct_changes::DirectChanges;
use crate::statement_options::StatementOptions;
use crate::transaction::Isolation;

impl Session {
    /// A table of a name: the session's temporary table, or else the base table.
    pub(crate) fn find_table(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        self.temporary_table(database, name)
            .or_else(|| self.database.catalog.table(database, name))
    }

    /// Whether names and settings mean to the session what they did then.
    pub(crate) fn is_in(&self, surroundings: &Surroundings) -> bool {
        let Surroundings {
            catalog,
            temporary_tables,
            options,
        } = surroundings;
        *temporary_tables == self.temporary_version
            && Arc::ptr_eq(options, &self.options)
            && *catalog == self.database.catalog.version()
    }

    /// What names and settings mean to the session now.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings {
            catalog: self.database.catalog.version(),
            temporary_tables: self.temporary_version,
            options: Arc::clone(&self.options),
        }
    }

    /// A number that is another one when names of tables may mean something else, nearly always.
    pub(crate) fn names_version(&self) -> u64 {
        self.database.catalog.version() ^ self.temporary_version.rotate_left(32)
    }

    /// The session's temporary table of a name.
    pub(crate) fn temporary_table(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        if self.temporary_tables.is_empty() {
            return None;
        }
        self.temporary_tables
            .get(&(database.to_owned(), name.to_owned()))
            .cloned()
    }

    /// The running statement adds rows to a table.
    pub(crate) fn writes_rows_to(&mut self, table: &BaseTable) {
        let name = || (table.id, table.definition.name.clone());
        self.written_temporary = table.definition.temporary.then(name);
    }

    /// The temporary table that the running statement adds rows to, and its name.
    pub(crate) fn written_temporary_table(&self) -> Option<(TableId, String)> {
        self.written_temporary.clone()
    }

    /// The session's temporary tables.
    pub(crate) fn temporary_tables(&self) -> impl Iterator<Item = &Arc<BaseTable>> {
        self.temporary_tables.values()
    }

    pub(crate) fn add_temporary_table(&mut self, table: Arc<BaseTable>) {
        self.temporary_version = next_version();
        self.note_state_change();
        let definition = &table.definition;
        let key = (definition.database.clone(), definition.name.clone());
        let replaced = self.temporary_tables.insert(key, Arc::clone(&table));
        let mut shown = self.shown_temporary_tables();
        if let Some(replaced) = replaced {
            shown.retain(|(id, _)| *id != replaced.id.0);
        }
        if table.definition.engine == "InnoDB" {
            shown.push((table.id.0, table.definition.named_columns().count()));
        }
    }

    /// What other sessions may see of the temporary tables.
    fn shown_temporary_tables(&self) -> MutexGuard<'_, Vec<(u64, usize)>> {
        let tables = &self.shared.temporary_tables;
        tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn drop_temporary_table(&mut self, database: &str, name: &str) -> bool {
        self.temporary_version = next_version();
        self.note_state_change();
        let key = (database.to_owned(), name.to_owned());
        let dropped = self.temporary_tables.remove(&key);
        if let Some(dropped) = &dropped {
            let id = dropped.id.0;
            self.shown_temporary_tables()
                .retain(|(shown, _)| *shown != id);
        }
        dropped.is_some()
    }

    /// Where a temporary table of the session's own lives, or a table of the MEMORY engine.
    pub(crate) fn user_table_context(&self, definition: &TableDefinition) -> UserTableContext {
        let budgets = &self.database.budgets;
        let (memory, temp_space) = match definition.temporary {
            true => (&self.memory, &self.temp_space),
            false => (&budgets.base_tables, &budgets.base_space),
        };
        UserTableContext {
            resources: self.database.resources.clone(),
            memory: memory.clone(),
            temp_space: temp_space.clone(),
            // A MEMORY table has a limit of its own.
            memory_limit: match definition.engine == "MEMORY" {
                true => UNLIMITED,
                false => self.options.tmp_table_size,
            },
            owner: self.statement_owner(),
            purpose: Purpose::UserTable,
            name: Arc::from(definition.name.as_str()),
            engine: match definition.engine.as_str() {
                "MEMORY" => UserTableEngine::Memory(memory_engine::limits(definition, self)),
                "InnoDB" => UserTableEngine::Transactional,
                _ => UserTableEngine::NonTransactional,
            },
        }
    }

    /// Where changes of durable tables are until they are committed.
    fn change_storage(&self) -> ChangeStorage {
        ChangeStorage {
            temp_space: self.temp_space.clone(),
            owner: StatementOwner {
                session_id: self.id(),
                user: Arc::clone(&self.user),
                // They belong to no single one.
                statement: Arc::from(""),
            },
            ..self.database.change_storage()
        }
    }

    /// The session's part in the store of durable tables.
    pub(crate) fn durable(&self) -> Result<&DurableTransaction> {
        if let Some(durable) = self.durable.get() {
            return Ok(durable);
        }
        let durable = self.database.store()?.session(self.change_storage());
        self.transaction.join(durable.participant());
        Ok(self.durable.get_or_init(|| durable))
    }

    /// Whether rows of durable tables wait for a commit.
    pub(crate) fn has_durable_changes(&self) -> bool {
        self.durable
            .get()
            .is_some_and(DurableTransaction::has_changes)
    }

    /// The running statement's view of durable tables: all that it opens are of one moment.
    pub(crate) fn durable_statement(&self) -> Result<&DurableStatement> {
        if let Some(statement) = self.durable_statement.get() {
            return Ok(statement);
        }
        let view = match self.isolation() {
            _ if self.reads_newest.get() || self.locks_what_it_reads() => ReadView::Statement,
            Isolation::ReadUncommitted | Isolation::ReadCommitted => ReadView::Statement,
            Isolation::RepeatableRead | Isolation::Serializable => ReadView::Transaction,
        };
        let options = DurableStatementOptions {
            read_lock: self.read_lock.get(),
            ..self.durable_options(view)
        };
        let statement = self.durable()?.statement(options);
        Ok(self.durable_statement.get_or_init(|| statement))
    }

    fn isolation(&self) -> Isolation {
        let transaction = self.transaction.characteristics();
        transaction.unwrap_or(self.options.transaction).isolation
    }

    /// Whether the rows that a SELECT reads are locked without its asking for it: in a transaction of
    /// several statements they must stay as they are.
    pub(crate) fn locks_what_it_reads(&self) -> bool {
        self.is_in_transaction() && self.isolation() == Isolation::Serializable
    }

    /// Whether what a statement reads for a change, or locks, is kept as it is, with the gaps between
    /// its rows.
    pub(crate) fn keeps_ranges(&self) -> bool {
        self.isolation() >= Isolation::RepeatableRead
    }

    /// The rows that the running statement reads are those of now, and what it reads is kept so until
    /// the transaction ends, if the isolation level says so.
    pub(crate) fn read_for_change(&mut self) {
        let is_kept = self.keeps_ranges();
        self.read_lock.set(match is_kept {
            true => ReadLock::Shared,
            false => ReadLock::None,
        });
        self.read_newest();
    }

    /// The rows that the running statement reads from here on are those that the isolation level says.
    pub(crate) fn read_as_usual(&mut self) {
        self.read_newest();
        self.reads_newest.set(false);
        self.read_lock.set(ReadLock::None);
    }

    /// Plans a statement that is not run yet: to ask tables for their statistics fixes no snapshot of the
    /// transaction.
    pub(crate) fn plan_ahead<T>(&mut self, plan: impl FnOnce(&mut Self) -> T) -> T {
        self.read_newest();
        let planned = plan(self);
        self.read_as_usual();
        planned
    }

    /// A reservation of the session's memory.
    pub(crate) fn reservation(&self) -> Reservation {
        self.memory.reservation()
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

    fn durable_options(&self, view: ReadView) -> DurableStatementOptions {
        DurableStatementOptions {
            view,
            lock_wait: self.options.innodb_lock_wait_timeout,
            interrupt: self.interrupt().clone(),
            batch_rows: self.database.options.batch_size,
            read_lock: ReadLock::None,
        }
    }

    /// The session's part in tables without transactions.
    fn direct(&self) -> Result<&DirectChanges> {
        if let Some(direct) = self.direct.get() {
            return Ok(direct);
        }
        let direct = DirectChanges::new(self.durable()?.beside());
        self.transaction.join(Box::new(direct.clone()));
        Ok(self.direct.get_or_init(|| direct))
    }

    /// The running statement's view of tables without transactions.
    pub(crate) fn direct_statement(&self) -> Result<&DurableStatement> {
        if let Some(statement) = self.direct_statement.get() {
            return Ok(statement);
        }
        let transaction = self.direct()?.transaction();
        let statement = transaction.statement(self.durable_options(ReadView::Statement));
        Ok(self.direct_statement.get_or_init(|| statement))
    }

    /// Whether what a statement changes in a table stays, whatever comes of it and of the session's
    /// transaction. A table that is still being made goes with whoever makes it.
    pub(crate) fn changes_directly(&self, table: &BaseTable) -> bool {
        let definition = &table.definition;
        if engines::has_transactions(&definition.engine) {
            return false;
        }
        let catalog = &self.database.catalog;
        let known = || catalog.table(&definition.database, &definition.name);
        let is_it = |trees| known().is_some_and(|known| known.trees() == Some(trees));
        table.trees().is_none_or(is_it)
    }

    /// The transaction that changes a table.
    pub(crate) fn transaction_of(&self, table: &BaseTable) -> Result<&DurableTransaction> {
        match self.changes_directly(table) {
            true => Ok(self.direct()?.transaction()),
            false => self.durable(),
        }
    }

    /// The running statement changes or locks rows: the tables that it opens from here on show those
    /// of now. Asked again, those of a later moment.
    pub(crate) fn read_newest(&mut self) {
        self.reads_newest.set(true);
        self.durable_statement = OnceCell::new();
        self.direct_statement = OnceCell::new();
    }

    /// Where a statement that changes one row of a temporary table records it: nowhere, when nobody can
    /// ask for it to be undone.
    pub(crate) fn undo_of_row(&mut self) -> Option<&UndoLog> {
        if !self.is_in_transaction() {
            self.transaction.changed_alone();
            return None;
        }
        Some(&self.undo)
    }

    /// What the session's transaction has changed in its temporary tables.
    pub(crate) fn undo_log(&self) -> &UndoLog {
        &self.undo
    }
}

/// A number that no session has had: what one knows of its temporary tables is nobody else's.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// What a plan depends on besides its statement, the database of its names, and the types of its `?`.
#[derive(Debug)]
pub(crate) struct Surroundings {
    catalog: u64,
    temporary_tables: u64,
    options: Arc<StatementOptions>,
}

/// The tables that a statement's plan names.
pub(crate) struct StatementTables(pub(crate) Vec<(TableId, Arc<dyn Table>)>);

impl mayfly_exec::TableOpener for StatementTables {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        let found = self.0.iter().find(|(known, _)| *known == id);
        let missing =
            || codes::ER_UNKNOWN_ERROR.with(&[&"a plan names a table that it did not list"]);
        found
            .map(|(_, table)| Arc::clone(table))
            .ok_or_else(missing)
    }
}
