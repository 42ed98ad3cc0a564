//! A session: one client's place in the engine. It runs one statement at a time.
//!
//! A statement goes text → tree → plan → operators → result. What it needs of the session is
//! gathered once, in [`Session::statement_context`]; what it leaves (warnings, counters, the numbers
//! of LAST_INSERT_ID(), ROW_COUNT() and FOUND_ROWS()) is kept here for the next one.

mod activity;
mod admission;
mod client;
mod conditions;
mod connect_attributes;
mod context;
mod from_client;
mod own_memory;
mod parameterized;
mod shared;
mod tables;
mod texts;
mod tracking;
mod transaction_work;
mod visible;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mayfly_exec::Progress;
use mayfly_functions::UserVariables;
use mayfly_functions::context::{MysqlRandom, RandomStates};
use mayfly_memory::Budget;
use mayfly_plan::TableId;
use mayfly_plan::catalog::VariableScope;
use mayfly_storage::temptable::{RegistryEntry, TempTableContext};
use mayfly_storage::{DurableTransaction, ReadLock, Statement as DurableStatement, UndoLog};
use mayfly_types::error::codes;
use mayfly_types::{Condition, Diagnostics, Error, Interrupt, Level, Result, SqlType, Value};

pub(crate) use self::activity::{Stage, Work};
pub(crate) use self::admission::Admission;
use self::admission::KnownRights;
pub use self::client::{ClientLimits, Command, LocalFiles, SessionState};
use self::conditions::ConditionCounts;
pub(crate) use self::connect_attributes::ConnectAttributes;
pub(crate) use self::own_memory::{ParseError, TreeMemory};
pub use self::shared::{
    ClientCertificate, Compression, Encryption, KillHandle, ProgressHandle, SessionOptions,
    Transport,
};
pub(crate) use self::shared::{Identity, SessionShared};
pub(crate) use self::tables::{StatementTables, Surroundings};
pub use self::tracking::StateChanges;
use self::tracking::Tracker;
use crate::catalog::BaseTable;
use crate::connections::ConnectionPlace;
use crate::database::{Database, space_limit};
use crate::direct_changes::DirectChanges;
use crate::result::{Outcome, ResultStream, StatementSummary};
use crate::statement_options::StatementOptions;
use crate::statements::locking_subqueries::LockedRows;
use crate::statements::prepared::Prepared;
use crate::status::{Counter, Counters, SessionStatus};
use crate::table_locks::{LockedTables, TransactionTables};
use crate::transaction::{Mark, Transaction, ends_transaction};
use crate::user_locks::SessionLocks;
use crate::variables::{self, Scope, Setting, Settings};

/// One client's session. Dropping it drops its temporary tables and gives back all its memory.
#[derive(Debug)]
pub struct Session {
    pub(crate) database: Arc<Database>,
    shared: Arc<SessionShared>,
    /// Where its connection is counted; nothing once another session has taken its place.
    place: Option<ConnectionPlace>,
    identity: Arc<Identity>,
    admission: Admission,
    rights: RefCell<KnownRights>,
    is_interactive: bool,
    /// An UPDATE tells the rows that it found.
    pub(crate) counts_found_rows: bool,
    ignores_space: bool,
    user: Arc<str>,
    /// What decides about its rights, as a text.
    rights_text: Arc<str>,
    current_database: Option<Arc<str>>,
    settings: Settings,
    options: Arc<StatementOptions>,
    user_variables: Arc<UserVariables>,
    random: Arc<Mutex<RandomStates>>,
    temporary_tables: BTreeMap<(String, String), Arc<BaseTable>>,
    pub(crate) prepared: HashMap<String, Arc<Prepared>>,
    diagnostics: Arc<Diagnostics>,
    /// `max_error_count` and `sql_notes` of the diagnostics area.
    diagnostics_made_for: (usize, bool),
    /// What the statement before the running one had left there when this one began.
    conditions_before: ConditionCounts,
    /// Conditions in the diagnostics area that are not the running statement's own.
    conditions_kept: u64,
    progress: Arc<Progress>,
    memory: Budget,
    /// What it holds beside rows.
    own_memory: Budget,
    /// The tree of the running statement.
    tree: TreeMemory,
    temp_space: Budget,
    last_insert_id: Arc<AtomicU64>,
    pub(crate) insert_id: u64,
    /// EXPLAIN plans its statement.
    pub(crate) explains: bool,
    pub(crate) row_count: i64,
    pub(crate) found_rows: u64,
    /// The statement at hand leaves that as it is.
    pub(crate) keeps_found_rows: bool,
    pub(crate) last_summary: StatementSummary,
    finished_temporary_tables: Vec<RegistryEntry>,
    statement_text: Arc<str>,
    /// When the running statement began, once somebody asks.
    started_at: OnceCell<i64>,
    /// The row of a statement that gives one at most.
    row: Vec<Value>,
    /// The values of the running statement's `?`.
    parameters: Vec<(Value, SqlType)>,
    /// The types of what the `?` of the statement that is being prepared meet.
    parameters_meet: RefCell<BTreeMap<usize, SqlType>>,
    /// Where LOAD DATA LOCAL reads, if not the files of the process.
    local_files: Option<Box<dyn LocalFiles>>,
    tracker: Option<Box<Tracker>>,
    pub(crate) transaction: Transaction,
    undo: UndoLog,
    /// The tables that its transaction holds.
    pub(crate) transaction_tables: TransactionTables,
    pub(crate) locked_tables: LockedTables,
    /// What it holds of GET_LOCK().
    user_locks: Arc<SessionLocks>,
    durable: OnceCell<DurableTransaction>,
    /// The running statement's view of durable tables, once it needs one.
    durable_statement: OnceCell<DurableStatement>,
    /// The same for tables without transactions.
    direct: OnceCell<DirectChanges>,
    direct_statement: OnceCell<DurableStatement>,
    /// The running statement changes or locks rows: it sees those of now.
    reads_newest: Cell<bool>,
    /// How the running statement locks what it reads.
    read_lock: Cell<ReadLock>,
    /// Rows of queries in the running statement that have locked them.
    pub(crate) locked_rows: Vec<LockedRows>,
    /// The temporary table that the running statement adds rows to.
    written_temporary: Option<(TableId, String)>,
    /// Changes with what names mean to the session alone: with every temporary table that comes or
    /// goes, and with its roles.
    temporary_version: u64,
    /// The running statement's place for temporary tables, once it needs one.
    temp: OnceCell<TempTableContext>,
    /// What may end the running statement, once somebody asks.
    interrupt: OnceCell<Interrupt>,
    /// After how many milliseconds the running statement ends; 0 is never.
    time_limit: Cell<u64>,
}

impl Session {
    pub(crate) fn new(
        place: ConnectionPlace,
        options: SessionOptions,
        admission: Admission,
    ) -> Self {
        let database = Arc::clone(place.database());
        let identity = identity(&database, &options, &admission);
        let (memory, temp_space) = database.budgets.of_user(&options.user);
        let memories = [
            memory,
            database.budgets.memory.child("session limit", u64::MAX),
        ];
        let shared = SessionShared::new(
            place.id(),
            place.port(),
            Arc::clone(&identity),
            memories,
            temp_space,
        );
        let shared = Arc::new(shared);
        database.connections.begin(&shared);
        Self::over(
            (database, Some(place), shared),
            identity,
            options,
            admission,
        )
    }

    /// A session as it begins, in a place where there may have been another one.
    fn over(
        (database, place, shared): (Arc<Database>, Option<ConnectionPlace>, Arc<SessionShared>),
        identity: Arc<Identity>,
        options: SessionOptions,
        admission: Admission,
    ) -> Self {
        let user_text = format!("{}@{}", options.user, options.host);
        database.connections.note_attributes(&identity.attributes);
        let rights_text = admission.rights_text(&user_text);
        let mut settings = database.globals();
        client::begin_settings(&mut settings, &options);
        let statement_options = database.statement_options(&settings);
        let (memory, temp_space) = database.budgets.of_user(&options.user);
        let limit = statement_options.connection_memory_limit;
        let memory = memory.child("connection_memory_limit", limit);
        let own_memory = database.budgets.memory.child("session limit", u64::MAX);
        let variables_memory = own_memory.reservation();
        let limit = space_limit(statement_options.max_tmp_session_space_usage);
        let temp_space = temp_space.child("max_tmp_session_space_usage", limit);
        let current_database: Option<Arc<str>> = options.database.as_deref().map(Arc::from);
        let memories = [memory.clone(), own_memory.clone()];
        shared.change(Arc::clone(&identity), memories, temp_space.clone());
        shared.activity.use_database(current_database.clone());
        let seed = database
            .options
            .clock
            .now_utc_microseconds()
            .cast_unsigned()
            ^ shared.id;
        let user_locks = SessionLocks::new(
            Arc::clone(&database.user_locks),
            Arc::clone(&shared),
            &own_memory,
        );
        let user_locks = Arc::new(user_locks);
        let undo = UndoLog::new();
        let transaction_tables = TransactionTables::default();
        Self {
            shared,
            place,
            rights: RefCell::new(KnownRights::of(&options.user, &options.host)),
            identity,
            admission,
            is_interactive: options.interactive,
            counts_found_rows: options.found_rows,
            ignores_space: options.ignore_space,
            user: Arc::from(user_text),
            rights_text,
            current_database,
            diagnostics: Arc::new(Diagnostics::new(statement_options.max_error_count)),
            diagnostics_made_for: (statement_options.max_error_count, true),
            conditions_before: ConditionCounts::default(),
            conditions_kept: 0,
            options: statement_options,
            settings,
            user_variables: Arc::new(UserVariables::charged_to(variables_memory)),
            random: Arc::new(Mutex::new(RandomStates::new(seed))),
            temporary_tables: BTreeMap::new(),
            prepared: HashMap::new(),
            progress: Arc::default(),
            memory,
            own_memory,
            tree: TreeMemory::default(),
            temp_space,
            last_insert_id: Arc::default(),
            insert_id: 0,
            explains: false,
            row_count: -1,
            found_rows: 0,
            keeps_found_rows: false,
            last_summary: StatementSummary::default(),
            finished_temporary_tables: Vec::new(),
            statement_text: Arc::from(""),
            started_at: OnceCell::new(),
            row: Vec::new(),
            parameters: Vec::new(),
            parameters_meet: RefCell::default(),
            local_files: None,
            tracker: None,
            transaction: Transaction::new(
                Box::new(undo.clone()),
                Box::new(transaction_tables.clone()),
            ),
            undo,
            transaction_tables,
            locked_tables: LockedTables::default(),
            user_locks,
            durable: OnceCell::new(),
            durable_statement: OnceCell::new(),
            direct: OnceCell::new(),
            direct_statement: OnceCell::new(),
            reads_newest: Cell::new(false),
            read_lock: Cell::default(),
            locked_rows: Vec::new(),
            written_temporary: None,
            temporary_version: 0,
            temp: OnceCell::new(),
            interrupt: OnceCell::new(),
            time_limit: Cell::new(0),
            database,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<SessionShared> {
        &self.shared
    }

    /// `CONNECTION_ID()`
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// The account's name.
    pub fn user(&self) -> &str {
        &self.identity.user
    }

    /// Where the client is.
    pub fn host(&self) -> &str {
        &self.identity.host
    }

    /// The database of unqualified names.
    pub fn current_database(&self) -> Option<&str> {
        self.current_database.as_deref()
    }

    /// The same, to be kept.
    pub(crate) fn current_database_handle(&self) -> Option<Arc<str>> {
        self.current_database.clone()
    }

    /// Puts another in its place for a while, unseen by others; gives the one that was.
    pub(crate) fn replace_database(&mut self, database: Option<Arc<str>>) -> Option<Arc<str>> {
        std::mem::replace(&mut self.current_database, database)
    }

    /// A statement that cannot even begin is one all the same: its error is what SHOW ERRORS lists.
    pub(crate) fn refuse(&mut self, text: &Arc<str>, error: Error) -> Error {
        self.begin(Work::Query, text, false);
        self.fail(&error);
        error
    }

    /// Runs what is one statement to the client: a panic in it becomes an error, and its end is
    /// counted.
    pub(crate) fn run_statement(
        &mut self,
        work: Work,
        text: &Arc<str>,
        keeps_diagnostics: bool,
        run: impl FnOnce(&mut Self) -> Result<Outcome>,
    ) -> Result<ResultStream<'_>> {
        let outcome = self.run_to_outcome(work, text, keeps_diagnostics, run)?;
        Ok(ResultStream::new(self, outcome))
    }

    /// The same up to the first row.
    pub(crate) fn run_to_outcome(
        &mut self,
        work: Work,
        text: &Arc<str>,
        keeps_diagnostics: bool,
        run: impl FnOnce(&mut Self) -> Result<Outcome>,
    ) -> Result<Outcome> {
        self.begin(work, text, keeps_diagnostics);
        let before = self.transaction.mark();
        let run = |session: &mut Self| match session.shared.kill.is_closed() {
            true => Err(codes::ER_QUERY_INTERRUPTED.error()),
            false => run(session),
        };
        let outcome = match catch_unwind(AssertUnwindSafe(|| run(self))) {
            Ok(outcome) => outcome,
            Err(payload) => Err(Error::of_panic(payload.as_ref())),
        };
        // The transaction of a statement that gives rows ends with the last of them.
        let outcome = outcome.and_then(|outcome| match outcome {
            Outcome::Done(_) | Outcome::Found { .. } => self.commit_statement().map(|()| outcome),
            Outcome::Rows { .. } | Outcome::Row { .. } => Ok(outcome),
        });
        outcome.inspect_err(|error| {
            self.undo_statement(&before, error);
            self.fail(error);
        })
    }

    /// Whether changes wait for COMMIT.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.transaction.is_begun() || !self.options.autocommit
    }

    /// The statement is done: alone, it is a transaction that ends here.
    pub(crate) fn commit_statement(&mut self) -> Result<()> {
        self.end_statement()?;
        match self.is_in_transaction() {
            true => Ok(()),
            false => self.transaction.commit(),
        }
    }

    /// The statement reads no more: as long as a session waits for the next one, nothing is kept for it.
    fn end_statement(&mut self) -> Result<()> {
        self.durable_statement = OnceCell::new();
        self.direct_statement = OnceCell::new();
        self.transaction.end_statement()
    }

    /// The statement has failed: what it did is undone.
    fn undo_statement(&mut self, before: &Mark, error: &Error) {
        // It has failed already.
        let _ = self.end_statement();
        if ends_transaction(error) || !self.is_in_transaction() {
            self.transaction.roll_back();
        } else {
            self.transaction.roll_back_to(before);
        }
    }

    /// The rows of a statement could not all be made.
    pub(crate) fn abandon_rows(&mut self, error: &Error) {
        let _ = self.end_statement();
        if ends_transaction(error) || !self.is_in_transaction() {
            self.transaction.roll_back();
        }
    }

    /// `collation_connection`: that of texts in statements.
    pub fn connection_collation(&self) -> mayfly_types::CollationId {
        self.options.collation_connection
    }

    /// What SHOW WARNINGS would list.
    pub fn warnings(&self) -> Vec<Condition> {
        self.diagnostics.conditions()
    }

    /// What the last statement did with temporary tables, and how long it took.
    pub fn last_summary(&self) -> &StatementSummary {
        &self.last_summary
    }

    /// The records of the temporary tables that the last statement used and gave back.
    pub fn finished_temporary_tables(&self) -> Vec<RegistryEntry> {
        self.finished_temporary_tables.clone()
    }

    /// Ends the running statement from another thread.
    pub fn kill_handle(&self) -> KillHandle {
        self.shared.kill.clone()
    }

    /// Watches the running statement from another thread. Ask for it anew for each statement.
    pub fn progress_handle(&self) -> ProgressHandle {
        ProgressHandle {
            progress: Arc::clone(&self.progress),
        }
    }

    /// A statement begins; unless it asks for what the one before it left, the diagnostics area is
    /// empty from here on.
    fn begin(&mut self, work: Work, text: &Arc<str>, keeps_diagnostics: bool) {
        self.conditions_before = ConditionCounts::of(&self.diagnostics);
        if keeps_diagnostics {
            self.conditions_kept = self.conditions_before.all;
        } else {
            self.reset_diagnostics();
        }
        self.shared.kill.reset();
        // An EXPLAIN before this one may have ended in a panic.
        self.explains = false;
        self.progress.rows_read.store(0, Ordering::Relaxed);
        self.progress.rows_expected.store(0, Ordering::Relaxed);
        let now = Instant::now();
        let is_other = !Arc::ptr_eq(&self.statement_text, text);
        if is_other {
            self.statement_text = Arc::clone(text);
        }
        let text = is_other.then_some(text);
        self.shared.activity.begin(work, text, now);
        self.started_at = OnceCell::new();
        self.temp = OnceCell::new();
        self.interrupt = OnceCell::new();
        self.time_limit.set(0);
        self.durable_statement = OnceCell::new();
        self.direct_statement = OnceCell::new();
        self.reads_newest.set(false);
        self.read_lock.set(ReadLock::None);
        self.locked_rows.clear();
        self.written_temporary = None;
        self.last_summary = StatementSummary::begin(now);
        self.finished_temporary_tables.clear();
        if work != Work::Prepare {
            self.shared.counters.add(Counter::Questions, 1);
        }
        self.shared.counters.add(Counter::Queries, 1);
    }

    /// The running statement starts anew: what it found was changed meanwhile.
    pub(crate) fn begin_anew(&mut self) {
        self.reset_diagnostics();
        self.read_newest();
    }

    /// The statement ended with an error.
    pub(crate) fn fail(&mut self, error: &mayfly_types::Error) {
        self.diagnostics.push(Level::Error, error.clone());
        self.row_count = -1;
        self.end();
    }

    /// The statement ended, one way or the other.
    pub(crate) fn end(&mut self) {
        self.tree.free();
        let now = Instant::now();
        self.shared.activity.end(now);
        self.last_summary.elapsed = self
            .last_summary
            .begun
            .map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
    }

    /// The moment at which the statement began: microseconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        *self
            .started_at
            .get_or_init(|| match self.options.timestamp {
                0.0 => self.database.options.clock.now_utc_microseconds(),
                seconds => (seconds * 1e6) as i64,
            })
    }

    /// The row of a statement that gives one at most.
    pub(crate) fn row(&self) -> &[Value] {
        &self.row
    }

    /// The place for it.
    pub(crate) fn row_mut(&mut self) -> &mut Vec<Value> {
        &mut self.row
    }

    /// The types and values of the running statement's `?`, where they are not given with it.
    pub(crate) fn parameter_values(&self) -> (Vec<SqlType>, Vec<Value>) {
        let parameters = self.parameters.iter();
        parameters
            .map(|(value, ty)| (ty.clone(), value.clone()))
            .unzip()
    }

    /// A `?` is compared with a value of a type, or assigned to one.
    pub(crate) fn note_parameter(&self, index: usize, ty: &SqlType) {
        let mut types = self.parameters_meet.borrow_mut();
        types.entry(index).or_insert_with(|| ty.clone());
    }

    /// What [`Self::note_parameter`] has noted since the last time.
    pub(crate) fn take_noted_parameters(&self) -> BTreeMap<usize, SqlType> {
        self.parameters_meet.take()
    }

    /// Puts others in their place; gives those that were.
    pub(crate) fn replace_parameters(
        &mut self,
        parameters: Vec<(Value, SqlType)>,
    ) -> Vec<(Value, SqlType)> {
        std::mem::replace(&mut self.parameters, parameters)
    }

    /// Who asks, and with which rights: nobody else may run what was planned for it.
    pub(crate) fn rights_text(&self) -> &Arc<str> {
        &self.rights_text
    }

    /// Whose it is.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn options_handle(&self) -> &Arc<StatementOptions> {
        &self.options
    }

    pub(crate) fn options(&self) -> &StatementOptions {
        &self.options
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn user_variables(&self) -> &UserVariables {
        &self.user_variables
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    pub(crate) fn last_insert_id(&self) -> u64 {
        self.last_insert_id.load(Ordering::Relaxed)
    }

    pub(crate) fn set_last_insert_id(&self, id: u64) {
        self.last_insert_id.store(id, Ordering::Relaxed);
    }

    pub(crate) fn set_current_database(&mut self, name: Option<&str>) {
        self.current_database = name.map(Arc::from);
        let database = self.current_database.clone();
        self.shared.activity.use_database(database);
        self.note_database();
    }

    /// `rand_seed1` and `rand_seed2`: the state of RAND() without an argument.
    pub(crate) fn set_random_seed(&self, name: &str, number: u64) {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let (seed1, seed2) = random.session.seeds();
        random.session = match name {
            "rand_seed1" => MysqlRandom::from_seeds(number, seed2),
            _ => MysqlRandom::from_seeds(seed1, number),
        };
    }

    /// The session's own value of a variable.
    pub(crate) fn set_setting(&mut self, position: usize, setting: Setting) {
        self.settings.set(position, setting);
        self.reread_options();
    }

    pub(crate) fn set_setting_by_name(&mut self, name: &'static str, setting: Setting) {
        self.settings.set_by_name(name, setting);
        self.reread_options();
    }

    fn reread_options(&mut self) {
        let options = self.database.statement_options(&self.settings);
        self.temp_space
            .set_limit(space_limit(options.max_tmp_session_space_usage));
        self.memory.set_limit(options.connection_memory_limit);
        self.options = options;
    }

    /// What the session's SHOW STATUS adds to the engine's.
    pub(crate) fn status(&self) -> SessionStatus<'_> {
        SessionStatus {
            counters: &self.shared.counters,
            temp_space_used: self.temp_space.used(),
            temp_space_peak: self.temp_space.peak(),
            transport: self.shared.transport.get(),
        }
    }

    /// FLUSH STATUS
    pub(crate) fn flush_status(&self) {
        self.database.flush_status(&self.shared.counters);
        self.temp_space.reset_peak();
    }

    /// The value of a system variable, for `@@name`.
    pub(crate) fn system_variable(
        &self,
        scope: Option<VariableScope>,
        name: &str,
    ) -> Result<(Value, SqlType)> {
        let unknown = || codes::ER_UNKNOWN_SYSTEM_VARIABLE.with(&[&name]);
        let position = variables::position(name).ok_or_else(unknown)?;
        let variable = variables::all()[position];
        let wrong =
            |word: &str| codes::ER_INCORRECT_GLOBAL_LOCAL_VAR.with(&[&variable.name, &word]);
        let ty = variable.sql_type();
        match (scope, variable.scope) {
            (Some(VariableScope::Session), Scope::Global) => Err(wrong("GLOBAL")),
            (Some(VariableScope::Global), Scope::Session) => Err(wrong("SESSION")),
            (Some(VariableScope::Global), _) | (None, Scope::Global) => {
                let globals = self
                    .database
                    .globals
                    .read()
                    .unwrap_or_else(PoisonError::into_inner);
                Ok((variable.value(globals.at(position)), ty))
            }
            _ => {
                let computed = self.computed_variable(variable.name);
                let value = computed.unwrap_or_else(|| variable.value(self.settings.at(position)));
                Ok((value, ty))
            }
        }
    }

    /// The value of a session variable that is no setting.
    pub(crate) fn computed_variable(&self, name: &str) -> Option<Value> {
        Some(match name {
            "warning_count" => Value::UInt(self.conditions_before.all),
            "error_count" => Value::UInt(self.conditions_before.errors),
            "last_insert_id" | "identity" => Value::UInt(self.last_insert_id()),
            "insert_id" => Value::UInt(self.insert_id),
            "pseudo_thread_id" => Value::UInt(self.id()),
            "timestamp" => Value::Float(self.now() as f64 / 1e6),
            _ => return None,
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.leave();
        if self.place.is_some() {
            self.database
                .session_ended(self.shared.id, &self.shared.counters);
        }
    }
}

fn identity(database: &Database, options: &SessionOptions, admission: &Admission) -> Arc<Identity> {
    let globals = database.globals.read();
    let globals = globals.unwrap_or_else(PoisonError::into_inner);
    let bytes_max = globals.unsigned("performance_schema_session_connect_attrs_size");
    Arc::new(Identity {
        attributes: ConnectAttributes::within(bytes_max, &options.attributes),
        user: options.user.clone(),
        host: options.host.clone(),
        account: admission.account.clone(),
    })
}
