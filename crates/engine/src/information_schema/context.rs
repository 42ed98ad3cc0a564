//! What relations are computed from: the state of the engine, and of the session that reads them.
//!
//! Rows are made when a scan begins, which may be on another thread, and while the session works on. So a
//! [`RelationContext`] borrows nothing: it has handles to what is shared, and copies of what belongs to the session
//! alone, taken when the statement names its first relation.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use mayfly_exec::ExecutionContext;
use mayfly_functions::UserVariables;
use mayfly_plan::TableSource;
use mayfly_storage::Purpose;
use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{
    DurableTransaction, ReadLock, ReadView, Statement as DurableStatement,
    StatementOptions as DurableStatementOptions, UndoLog,
};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{Diagnostics, Error, Result};

use crate::accounts::rights::Rights;
use crate::catalog::definition::TableDefinition;
use crate::catalog::private_rows::{PrivateRows, PrivateStore};
use crate::catalog::provided_changes::ProvidedChanges;
use crate::catalog::provider::TableProvider;
use crate::catalog::trees::{Lifespan, Trees};
use crate::catalog::{BaseTable, Catalog, RowAccess};
use crate::connections::SessionShared;
use crate::database::Database;
use crate::session::{
    ComputedVariables, KeptTrace, Profile, SessionPrivileges, StatementContext, TemporaryTables,
};
use crate::statement_options::StatementOptions;
use crate::variables::Settings;

/// State that the rows of relations are computed from.
#[derive(Debug)]
pub(crate) struct RelationContext {
    database: Arc<Database>,
    /// The part of the session that other sessions see.
    pub(super) session: Arc<SessionShared>,
    /// All relations, as the planner sees them.
    pub(super) relations: &'static [Arc<TableSource>],
    options: Arc<StatementOptions>,
    settings: Settings,
    pub(super) computed_variables: ComputedVariables,
    pub(super) user_variables: Arc<UserVariables>,
    privileges: SessionPrivileges,
    /// The session's temporary tables.
    pub(super) temporary_tables: Vec<Arc<BaseTable>>,
    own_tables: TemporaryTables,
    pub(super) profiles: Vec<Arc<Profile>>,
    pub(super) traces: Vec<Arc<KeptTrace>>,
    diagnostics: Arc<Diagnostics>,
    /// Context of expressions in views.
    pub(super) execution: Arc<ExecutionContext>,
    undo: UndoLog,
    /// The session's transactions in the stores of durable tables, if it has them, by lifespan.
    transactions: [Option<DurableTransaction>; 2],
    /// Views of durable tables, once they are needed, by lifespan.
    statements: [OnceLock<DurableStatement>; 2],
}

impl RelationContext {
    pub(super) fn new(
        context: &StatementContext<'_>,
        relations: &'static [Arc<TableSource>],
    ) -> Self {
        let (session, options) = (&context.session, context.options());
        let profiles = session.profiles.last(options.profiling_history_size);
        Self {
            database: Arc::clone(context.database()),
            session: Arc::clone(&session.shared),
            relations,
            settings: context.settings().clone(),
            computed_variables: context.computed_variables(),
            user_variables: Arc::clone(session.settings.user_variables()),
            privileges: context.privileges().clone(),
            temporary_tables: session.temporary_tables.all(),
            own_tables: session.temporary_tables.clone(),
            profiles: profiles.cloned().collect(),
            traces: session.traces.shown(&options.trace).cloned().collect(),
            options: Arc::clone(options),
            diagnostics: Arc::clone(context.diagnostics()),
            execution: context.silent_execution(),
            undo: session.transaction.undo_log().clone(),
            transactions: Lifespan::ALL.map(|lifespan| {
                let known = session.transaction.known_durable(lifespan);
                known.cloned()
            }),
            statements: Default::default(),
        }
    }

    /// The sessions for which a secondary engine works now.
    pub(super) fn sessions_on_secondary(&self) -> HashSet<u64> {
        let tables = self.database.resources.registry.entries().into_iter();
        let exchanges = tables.filter(|table| table.purpose == Purpose::Exchange);
        exchanges.map(|table| table.owner.session_id).collect()
    }

    pub(super) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.database.catalog
    }

    pub(super) fn options(&self) -> &StatementOptions {
        &self.options
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn privileges(&self) -> &SessionPrivileges {
        &self.privileges
    }

    pub(super) fn rights(&self) -> Arc<Rights> {
        self.privileges.rights()
    }

    /// `CONNECTION_ID()`
    pub(super) fn id(&self) -> u64 {
        self.session.id
    }

    /// Number of tables and views, this one's relations among them.
    pub(super) fn table_count(&self) -> u64 {
        let databases = self.catalog().databases();
        let stored = databases.values();
        let stored = stored.map(|entry| entry.tables.size() + entry.views.size());
        (stored.sum::<usize>() + self.relations.len()) as u64
    }

    /// Raises a warning of the statement.
    pub(super) fn warn(&self, error: Error) {
        self.diagnostics.warn(error);
    }
}

/// Sizes are those of the newest committed rows, and of the session's own.
impl RowAccess for RelationContext {
    fn is_created(&self, _definition: &TableDefinition, _trees: &Trees) -> bool {
        false
    }

    fn durable_statement(&self, lifespan: Lifespan) -> Result<&DurableStatement> {
        let known = &self.statements[lifespan.index()];
        if let Some(statement) = known.get() {
            return Ok(statement);
        }
        let transaction = match &self.transactions[lifespan.index()] {
            Some(transaction) => transaction.clone(),
            None => {
                let storage = self.database.change_storage();
                let store = match lifespan {
                    Lifespan::Lasting => self.database.store()?,
                    Lifespan::Volatile => self.database.volatile_store()?,
                };
                store.session(storage)
            }
        };
        let statement = transaction.statement(DurableStatementOptions {
            view: ReadView::Statement,
            lock_wait: self.options.innodb_lock_wait_timeout,
            interrupt: self.execution.evaluation.interrupt.clone(),
            batch_rows: self.execution.options.batch_rows,
            read_lock: ReadLock::None,
        });
        Ok(known.get_or_init(|| statement))
    }

    fn direct_statement(&self) -> Result<&DurableStatement> {
        self.durable_statement(Lifespan::Lasting)
    }

    fn provided_changes(&self, _provider: &Arc<dyn TableProvider>) -> ProvidedChanges {
        ProvidedChanges::default()
    }

    fn temp_table_context(&self) -> &TempTableContext {
        &self.execution.temp
    }

    fn private_rows(&self, store: &PrivateStore) -> Option<Arc<PrivateRows>> {
        self.own_tables.private_rows(store)
    }

    fn undo_log(&self) -> &UndoLog {
        &self.undo
    }

    fn time_zone(&self) -> &TimeZone {
        &self.options.session.time_zone
    }
}
