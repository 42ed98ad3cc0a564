//! Sessions: the state of one client's connection. A session runs one statement at a time,
//! and others only inside it.
//!
//! A session consists of parts, each with a purpose of its own: its privileges ([`SessionPrivileges`]), its settings
//! ([`SessionSettings`]), its transaction with the locks ([`SessionTransaction`]), its temporary tables
//! ([`TemporaryTables`]), what statements leave for the next one ([`SessionDiagnostics`]), its client's state
//! ([`ClientState`]), its budgets ([`SessionMemory`]), what the logs need of it ([`SessionLog`]), its profiles
//! ([`SessionProfiles`]) and its optimizer traces ([`SessionTraces`]). The state of the running statement alone is in its
//! [`StatementContext`]; a statement inside another one runs in a [`Frame`].

mod client;
mod client_state;
mod diagnostics;
mod events;
mod execution;
mod frame;
mod kept_results;
mod lending;
pub(crate) mod locked_rows;
mod locked_tables;
mod log_state;
mod logging;
mod memory;
mod opening;
mod parameters;
mod privileges;
mod profiles;
mod read_view;
mod settings;
mod state_changes;
mod statement;
mod statement_tables;
pub(crate) mod status;
mod table_use;
mod tables;
mod temporary_tables;
mod traces;
mod tracking;
mod transaction;
mod tree_memory;

use std::cell::OnceCell;
use std::sync::Arc;

use mayfly_exec::Progress;
use mayfly_functions::StoredFunction;
use mayfly_legacy::SessionDisk;
use mayfly_plan::TableId;
use mayfly_storage::UndoLog;
use mayfly_storage::temptable::RegistryEntry;
use mayfly_syntax::ast::OnCommit;
use mayfly_types::{Condition, Error, Interrupt, Value};

pub use self::client::{Command, InitConnectFailed, SessionState};
pub(crate) use self::client_state::ClientState;
pub use self::client_state::LocalFiles;
pub(crate) use self::diagnostics::SessionDiagnostics;
pub(crate) use self::execution::constant_value;
pub(crate) use self::frame::Frame;
pub(crate) use self::locked_tables::LockedTable;
pub(crate) use self::log_state::{ExplainedPlan, SessionLog};
pub use self::memory::KeptMemory;
pub(crate) use self::memory::ParseError;
pub use self::opening::ConnectionSlot;
pub(crate) use self::privileges::{LoggedIn, SessionPrivileges};
pub(crate) use self::profiles::{Profile, SessionProfiles};
pub(crate) use self::settings::SessionSettings;
pub use self::state_changes::StateChanges;
pub(crate) use self::state_changes::TransactionWork;
pub(crate) use self::statement::{ComputedVariables, StatementContext};
pub(crate) use self::statement_tables::StatementTables;
pub(crate) use self::temporary_tables::TemporaryTables;
pub(crate) use self::traces::{KeptTrace, SessionTraces, StatementTrace, measured};
pub(crate) use self::transaction::SessionTransaction;
pub(crate) use self::tree_memory::TreeMemory;
use crate::budgets::SessionMemory;
use crate::catalog::BaseTable;
use crate::catalog::provider::MissingTables;
use crate::connections::{
    ConnectAttributes, Identity, KillHandle, ProgressHandle, SessionOptions, SessionShared,
};
use crate::database::Database;
use crate::instrumentation::DigestSummary;
use crate::locks::user::SessionLocks;
use crate::statement_cache::TextScope;
use crate::status::Counters;
use crate::variables::typed;
use crate::variables::{Setting, Settings};

/// One client's session. Dropping it drops its temporary tables and releases all its memory.
#[derive(Debug)]
pub struct Session {
    pub(crate) database: Arc<Database>,
    /// The part that other sessions see.
    pub(crate) shared: Arc<SessionShared>,
    /// The slot of its connection; `None` once another session has taken it over.
    slot: Option<ConnectionSlot>,
    pub(crate) privileges: SessionPrivileges,
    pub(crate) settings: SessionSettings,
    pub(crate) transaction: SessionTransaction,
    pub(crate) temporary_tables: TemporaryTables,
    pub(crate) diagnostics: SessionDiagnostics,
    pub(crate) client: ClientState,
    pub(crate) memory: SessionMemory,
    pub(crate) log: SessionLog,
    pub(crate) profiles: SessionProfiles,
    pub(crate) traces: SessionTraces,
    /// Row buffer of a statement that returns at most one row.
    pub(crate) row: Vec<Value>,
    /// Buffers of point statements; `None` while a statement uses them.
    pub(crate) scratch: Option<Box<RowScratch>>,
    /// The session's directory of the legacy temporary table engines, once used.
    legacy_disk: OnceCell<SessionDisk>,
    /// The most recently found digest summary.
    digest: Option<Arc<DigestSummary>>,
    /// The interrupt of statements without a time limit.
    interrupt: Interrupt,
    progress: Arc<Progress>,
    missing_tables: Option<Arc<dyn MissingTables>>,
    statement_text: Arc<str>,
    /// Number of frames around the running statement.
    frames: usize,
    /// The tables that the statements around it use.
    used_tables: Vec<TableId>,
    /// The stored functions around it.
    functions: Vec<Arc<StoredFunction>>,
}

/// Reusable buffers for the values of one row and the bytes of its key.
#[derive(Debug, Default)]
pub(crate) struct RowScratch {
    pub(crate) values: Vec<Value>,
    /// The stored values from which new ones are computed.
    pub(crate) old: Vec<Value>,
    pub(crate) key: Vec<u8>,
}

impl Session {
    pub(crate) fn new(slot: ConnectionSlot, options: SessionOptions, login: LoggedIn) -> Self {
        let database = Arc::clone(slot.database());
        let identity = identity(&database, &options, &login);
        let memory = SessionMemory::new(&database.budgets, &options.user);
        let shared = SessionShared::new(
            slot.id(),
            slot.port(),
            Arc::clone(&identity),
            memory,
            database.instrumentation.history_sizes(),
        );
        let shared = Arc::new(shared);
        database.connections.begin(&shared);
        Self::over(
            (database, Some(slot), shared),
            identity,
            options,
            login,
            None,
        )
    }

    /// A new session in a slot, which another session may have used before, with that one's budgets if it keeps tables.
    fn over(
        (database, slot, shared): (Arc<Database>, Option<ConnectionSlot>, Arc<SessionShared>),
        identity: Arc<Identity>,
        options: SessionOptions,
        login: LoggedIn,
        memory: Option<SessionMemory>,
    ) -> Self {
        database.connections.note_attributes(&identity.attributes);
        let mut variables = database.globals();
        client_state::begin_settings(&mut variables, &options);
        let memory = memory.unwrap_or_else(|| SessionMemory::new(&database.budgets, &options.user));
        let accounts = &database.instrumentation.accounts;
        let account = accounts.enter(&identity.user, &identity.host);
        shared.change(Arc::clone(&identity), memory.clone(), account);
        let actors = &database.instrumentation.actors;
        shared.set_seen(actors.sees(&identity.user, &identity.host));
        let current_database: Option<Arc<str>> = options.database.as_deref().map(Arc::from);
        shared.activity.use_database(current_database);
        Self::of_parts(
            (database, slot, shared),
            identity,
            options,
            login,
            (variables, memory),
        )
    }

    /// A session that runs no statement, in the place of this one while it is away. No other session sees it.
    fn idle(&self) -> Self {
        let (database, identity) = (
            Arc::clone(&self.database),
            Arc::clone(self.privileges.identity()),
        );
        let memory = SessionMemory::new(&database.budgets, &identity.user);
        let shared = SessionShared::new(0, None, Arc::clone(&identity), memory.clone(), (0, 0));
        let variables = self.settings.variables().clone();
        Self::of_parts(
            (database, None, Arc::new(shared)),
            identity,
            SessionOptions::new(),
            LoggedIn::default(),
            (variables, memory),
        )
    }

    /// A session of its connection, account, variables and budgets.
    fn of_parts(
        (database, slot, shared): (Arc<Database>, Option<ConnectionSlot>, Arc<SessionShared>),
        identity: Arc<Identity>,
        options: SessionOptions,
        login: LoggedIn,
        (variables, memory): (Settings, SessionMemory),
    ) -> Self {
        let current_database: Option<Arc<str>> = options.database.as_deref().map(Arc::from);
        let clock = &database.options.clock;
        let seed = clock.now_utc_microseconds().cast_unsigned() ^ shared.id;
        let own = memory.kept.reservation();
        let settings = SessionSettings::new(
            Arc::clone(&database),
            variables,
            current_database,
            own,
            seed,
        );
        memory.set_limits(settings.options());
        let interrupt = Interrupt::in_stages(shared.kill.killed(), shared.activity.stages.clone())
            .with_checkpoint(database.options.checkpoint.clone());
        let user_locks = Arc::clone(&database.user_locks);
        let user_locks = SessionLocks::new(user_locks, Arc::clone(&shared), &memory.kept);
        let privileges = SessionPrivileges::new(Arc::clone(&database), identity, &options, login);
        Self {
            transaction: SessionTransaction::new(&database, &shared, &privileges, user_locks),
            slot,
            privileges,
            temporary_tables: TemporaryTables::new(Arc::clone(&shared)),
            diagnostics: SessionDiagnostics::new(settings.options()),
            client: ClientState::new(&options),
            settings,
            memory,
            log: SessionLog::default(),
            profiles: SessionProfiles::default(),
            traces: SessionTraces::default(),
            row: Vec::new(),
            scratch: None,
            legacy_disk: OnceCell::new(),
            digest: None,
            interrupt,
            progress: Arc::default(),
            missing_tables: None,
            statement_text: Arc::from(""),
            frames: 0,
            used_tables: Vec::new(),
            functions: Vec::new(),
            shared,
            database,
        }
    }

    /// `CONNECTION_ID()`
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// The account's name.
    pub fn user(&self) -> &str {
        self.privileges.user()
    }

    /// The client's host.
    pub fn host(&self) -> &str {
        self.privileges.host()
    }

    /// The current database.
    pub fn current_database(&self) -> Option<&str> {
        self.settings.current_database().map(|name| &**name)
    }

    /// Whether changes wait for COMMIT, or for the end of a statement around the running one.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.transaction.current.is_begun()
            || !self.settings.options().autocommit
            || self.is_in_frame()
    }

    /// Whether the running statement is inside another one.
    pub(crate) fn is_in_frame(&self) -> bool {
        self.frames > 0
    }

    /// The table of a name: the session's temporary table, or else the base table.
    pub(crate) fn find_table(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        let temporary = self.temporary_tables.get(database, name);
        temporary.or_else(|| self.database.catalog.table(database, name))
    }

    /// The scope in which a text is looked up in caches: it decides what the text's names mean.
    pub(crate) fn text_scope(&self) -> TextScope<'_> {
        let temporary = self.temporary_tables.version();
        TextScope {
            options: self.settings.options(),
            database: self.settings.current_database(),
            rights: self.privileges.key(),
            names_version: self.database.catalog.version() ^ temporary.rotate_left(32),
            session: (temporary != 0).then_some(self.shared.id),
        }
    }

    /// `collation_connection`, the collation of string literals.
    #[inline]
    pub fn connection_collation(&self) -> mayfly_types::CollationId {
        self.settings.options().session.collation_connection
    }

    /// `time_zone`, in which TIMESTAMPs are shown.
    pub fn time_zone(&self) -> mayfly_types::temporal::TimeZone {
        self.settings.options().session.time_zone.clone()
    }

    /// The conditions that SHOW WARNINGS lists.
    pub fn warnings(&self) -> Vec<Condition> {
        self.diagnostics.conditions()
    }

    /// The records of the temporary tables that the last statement used and released.
    pub fn finished_temporary_tables(&self) -> Vec<RegistryEntry> {
        self.diagnostics.finished_temporary_tables.clone()
    }

    /// A handle to end the running statement from another thread.
    pub fn kill_handle(&self) -> KillHandle {
        self.shared.kill.clone()
    }

    /// A handle to watch the running statement from another thread. Each statement needs a handle of its own.
    pub fn progress_handle(&self) -> ProgressHandle {
        ProgressHandle {
            progress: Arc::clone(&self.progress),
        }
    }

    /// Sets the source of tables for names that lead to no table.
    pub fn set_missing_tables(&mut self, tables: Option<Arc<dyn MissingTables>>) {
        self.missing_tables = tables;
    }

    /// The error that disconnects the client because the server is offline for all but administrators.
    pub fn shut_out(&self) -> Option<Error> {
        self.privileges.shut_out()
    }

    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    pub(crate) fn set_current_database(&mut self, name: Option<&str>) {
        self.settings.current_database = name.map(Arc::from);
        let database = self.settings.current_database.clone();
        self.shared.activity.use_database(database);
        self.note_database();
    }

    /// Sets the session's value of a variable.
    pub(crate) fn set_setting(&mut self, position: usize, setting: Setting) {
        self.change_settings(|variables| variables.set(position, setting));
    }

    fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        self.settings.change(change);
        self.memory.set_limits(self.settings.options());
    }

    /// The undo log for a statement that changes one row of a temporary table; `None` if the change can never be
    /// undone.
    pub(super) fn undo_of_row(&self) -> Option<&UndoLog> {
        if self.is_in_transaction() {
            return Some(self.transaction.undo_log());
        }
        self.transaction.current.changed_alone();
        None
    }

    pub(crate) fn add_temporary_table(&mut self, table: Arc<BaseTable>) {
        let is_undone = self.undoes_definitions();
        if is_undone || table.definition.on_commit != OnCommit::PreserveRows {
            self.join_temporary_tables();
        }
        self.temporary_tables.add(table, is_undone);
        self.note_state_change();
    }

    pub(crate) fn drop_temporary_table(&mut self, database: &str, name: &str) -> bool {
        self.note_state_change();
        let is_undone = self.undoes_definitions();
        if is_undone {
            self.join_temporary_tables();
        }
        self.temporary_tables.remove(database, name, is_undone)
    }

    /// Whether a rollback undoes changes of temporary tables' definitions.
    pub(crate) fn undoes_definitions(&self) -> bool {
        self.settings.options().temp_ddl_transactional
    }

    /// Makes the temporary tables take part in the session's transactions.
    pub(super) fn join_temporary_tables(&self) {
        if self.temporary_tables.joins() {
            let participant = self.temporary_tables.clone();
            self.transaction.current.join(Box::new(participant));
        }
    }

    /// FLUSH STATUS
    pub(crate) fn flush_status(&self) {
        self.database.flush_status(&self.shared.counters);
        self.memory.temp_space.reset_peak();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.leave();
        self.write_pending();
        if self.slot.is_some() {
            self.shared.leave_account();
            self.database
                .session_ended(self.shared.id, &self.shared.counters);
        }
    }
}

fn identity(database: &Database, options: &SessionOptions, login: &LoggedIn) -> Arc<Identity> {
    let globals = database.globals.read();
    let bytes_max = globals.get(typed::PERFORMANCE_SCHEMA_SESSION_CONNECT_ATTRS_SIZE);
    Arc::new(Identity {
        attributes: ConnectAttributes::within(bytes_max, &options.attributes),
        user: options.user.clone(),
        host: options.host.clone(),
        account: login.account.clone(),
    })
}
