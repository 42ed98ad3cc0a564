//! Read views of a running statement: its snapshot of tables, and the storage of the rows that it creates.

use std::cell::OnceCell;
use std::sync::Arc;

use mayfly_memory::budget::UNLIMITED;
use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{
    DurableTransaction, Purpose, ReadLock, ReadView, Statement as DurableStatement,
    StatementOptions as DurableStatementOptions, UndoLog, UserTableContext, UserTableEngine,
};
use mayfly_syntax::ast::OnCommit;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{Interrupt, Result};

use super::StatementContext;
use crate::catalog::definition::TableDefinition;
use crate::catalog::private_rows::{PrivateRows, PrivateStore};
use crate::catalog::provided_changes::ProvidedChanges;
use crate::catalog::provider::TableProvider;
use crate::catalog::shared_rows::SharedSpace;
use crate::catalog::trees::{Lifespan, Trees};
use crate::catalog::{BaseTable, RowAccess, TableAccess, memory_engine};
use crate::engines::Engine;
use crate::transaction::Isolation;
use crate::variables::typed;

impl StatementContext<'_> {
    /// Makes the running statement read the newest rows, and lock what it reads until the transaction ends, if the
    /// isolation level requires it.
    pub(crate) fn read_for_change(&mut self) {
        self.read_lock = if self.keeps_ranges() {
            ReadLock::Shared
        } else {
            ReadLock::None
        };
        self.read_newest();
    }

    /// Whether the running statement locks what it reads for a change.
    pub(crate) fn locks_reads(&self) -> bool {
        self.read_lock != ReadLock::None
    }

    /// Makes the running statement read the snapshot of its isolation level from here on.
    pub(crate) fn read_as_usual(&mut self) {
        self.read_newest();
        self.reads_newest = false;
        self.read_lock = ReadLock::None;
    }

    /// Gives the session new rows in a global temporary table, in place of its present ones, which a rollback puts back
    /// if `is_undone`.
    pub(crate) fn put_private_rows(
        &self,
        store: &PrivateStore,
        is_undone: bool,
    ) -> Arc<PrivateRows> {
        let context = self.user_table_context(store.definition());
        let rows = store.new_rows(self.id(), context);
        self.session.temporary_tables.put_private(&rows, is_undone);
        if is_undone || rows.on_commit() != OnCommit::PreserveRows {
            self.session.join_temporary_tables();
        }
        rows
    }

    fn durable_options(&self, view: ReadView) -> DurableStatementOptions {
        DurableStatementOptions {
            view,
            lock_wait: self.options().innodb_lock_wait_timeout,
            interrupt: self.interrupt().clone(),
            batch_rows: self.rows_at_once().0,
            read_lock: ReadLock::None,
        }
    }

    fn read_view(&self) -> ReadView {
        match self.isolation() {
            _ if self.reads_newest || self.locks_what_it_reads() => ReadView::Statement,
            Isolation::ReadUncommitted | Isolation::ReadCommitted => ReadView::Statement,
            Isolation::RepeatableRead | Isolation::Serializable => ReadView::Transaction,
        }
    }

    /// For a statement that changes or locks rows: tables opened from here on show the newest rows as of each call.
    pub(crate) fn read_newest(&mut self) {
        self.reads_newest = true;
        self.close_views();
    }

    /// Drops the statement's views, so that tables opened from here on use a new snapshot.
    pub(super) fn close_views(&mut self) {
        self.durable_statement = Default::default();
        self.direct_statement = OnceCell::new();
    }
}

impl StatementContext<'_> {
    /// The transaction in the store of a table.
    pub(crate) fn transaction_of(&self, table: &BaseTable) -> Result<&DurableTransaction> {
        let transaction = &self.session.transaction;
        if table.changes_directly(self) {
            return Ok(transaction.direct()?.transaction());
        }
        transaction.durable(
            table
                .trees()
                .map_or(Lifespan::Lasting, |trees| trees.lifespan),
        )
    }
}

impl RowAccess for StatementContext<'_> {
    fn is_created(&self, definition: &TableDefinition, trees: &Trees) -> bool {
        let catalog = &self.session.database.catalog;
        let known = catalog.table(&definition.database, &definition.name);
        known.is_some_and(|known| known.trees() == Some(trees))
    }

    fn durable_statement(&self, lifespan: Lifespan) -> Result<&DurableStatement> {
        let known = &self.durable_statement[self.database().store_of(lifespan).index()];
        if let Some(statement) = known.get() {
            return Ok(statement);
        }
        let options = DurableStatementOptions {
            read_lock: self.read_lock,
            ..self.durable_options(self.read_view())
        };
        let transaction = self.session.transaction.durable(lifespan)?;
        let statement = transaction.statement(options);
        Ok(known.get_or_init(|| statement))
    }

    fn direct_statement(&self) -> Result<&DurableStatement> {
        if let Some(statement) = self.direct_statement.get() {
            return Ok(statement);
        }
        let transaction = self.session.transaction.direct()?.transaction();
        let statement = transaction.statement(self.durable_options(ReadView::Statement));
        Ok(self.direct_statement.get_or_init(|| statement))
    }

    fn temp_table_context(&self) -> &TempTableContext {
        StatementContext::temp_table_context(self)
    }

    fn provided_changes(&self, provider: &Arc<dyn TableProvider>) -> ProvidedChanges {
        self.session.transaction.provided_changes(provider)
    }

    fn private_rows(&self, store: &PrivateStore) -> Option<Arc<PrivateRows>> {
        let known = self.session.temporary_tables.private_rows(store);
        Some(known.unwrap_or_else(|| self.put_private_rows(store, false)))
    }

    fn undo_log(&self) -> &UndoLog {
        self.session.transaction.undo_log()
    }

    fn time_zone(&self) -> &TimeZone {
        &self.options().session.time_zone
    }
}

impl TableAccess for StatementContext<'_> {
    fn view_of_row(
        &self,
        lifespan: Lifespan,
        directly: bool,
    ) -> Result<(&DurableTransaction, ReadView)> {
        let transaction = &self.session.transaction;
        if directly {
            return Ok((transaction.direct()?.transaction(), ReadView::Statement));
        }
        // A statement outside of a transaction reads its snapshot only once.
        let view = if self.is_in_transaction() {
            self.read_view()
        } else {
            ReadView::Statement
        };
        Ok((transaction.durable(lifespan)?, view))
    }

    fn undo_of_row(&self) -> Option<&UndoLog> {
        self.session.undo_of_row()
    }

    fn durable(&self, lifespan: Lifespan) -> Result<&DurableTransaction> {
        self.session.transaction.durable(lifespan)
    }

    fn has_durable_changes(&self, lifespan: Lifespan) -> bool {
        let transaction = self.session.transaction.known_durable(lifespan);
        transaction.is_some_and(DurableTransaction::has_changes)
    }

    fn charge(&self, trees: &Trees, name: &str) -> Result<SharedSpace> {
        let store = self.database().volatile_store()?;
        let owner = self.privileges().user();
        let (_, space) = self.database().budgets.of_user(owner);
        let name = Arc::from(name);
        let trees = trees.all();
        Ok(SharedSpace {
            owner: Arc::from(owner),
            _trees: trees
                .map(|tree| store.charge(tree, &space, &name))
                .collect(),
        })
    }

    fn has_data_directory(&self) -> bool {
        self.database().options.datadir.is_some()
    }

    fn user_table_context(&self, definition: &TableDefinition) -> UserTableContext {
        let budgets = &self.database().budgets;
        let (memory, temp_space, resources) = if definition.has_private_rows() {
            let own = &self.session.memory;
            let resources = self.session.settings.temp_resources();
            (&own.rows, &own.temp_space, resources)
        } else {
            let resources = self.database().resources.clone();
            (&budgets.base_tables, &budgets.base_space, resources)
        };
        UserTableContext {
            resources,
            memory: memory.clone(),
            temp_space: temp_space.clone(),
            // A MEMORY table has a limit of its own.
            memory_limit: if definition.engine == Engine::Memory {
                UNLIMITED
            } else {
                self.options().tmp_table_size
            },
            owner: self.statement_owner(),
            purpose: Purpose::UserTable,
            name: Arc::from(definition.name.as_str()),
            engine: match definition.engine {
                Engine::Memory => UserTableEngine::Memory(memory_engine::limits(
                    definition,
                    self.memory_engine_bytes(),
                )),
                Engine::InnoDb => UserTableEngine::Transactional,
                _ => UserTableEngine::NonTransactional,
            },
            interrupt: Interrupt::default(),
            is_private: definition.has_private_rows(),
        }
    }

    fn memory_engine_bytes(&self) -> (u64, u64) {
        (
            self.settings().get(typed::MAX_HEAP_TABLE_SIZE),
            // The step by which MySQL's tables grow: `read_buffer_size` at the server's start.
            self.database().globals().get(typed::READ_BUFFER_SIZE),
        )
    }
}
