//! State of one running statement: a [`StatementContext`] is made when the statement begins, and dropped when it
//! ends, also by a panic. No state of a statement outlasts it in the session.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;

use mayfly_exec::Measures;
use mayfly_functions::StoredFunction;
use mayfly_plan::Explanation;
use mayfly_plan::catalog::VariableScope;
use mayfly_plan::eras::Prediction;
use mayfly_plan::{ParameterPlace, PlanOptions, TableId};
use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{ReadLock, Statement as DurableStatement};
use mayfly_syntax::VariableUse;
use mayfly_types::error::codes;
use mayfly_types::{Diagnostics, Error, Interrupt, Level, Result, SqlType, Stage, Stages, Value};

use super::lending::LentSession;
use super::parameters::Parameters;
use super::{Session, SessionPrivileges, StatementTables, StatementTrace, TreeMemory};
use crate::accounts::rights::Rights;
use crate::catalog::stored_functions::FunctionUse;
use crate::catalog::table_functions::TypeSampling;
use crate::catalog::{BaseTable, Catalog};
use crate::connections::{RunningPlan, Work};
use crate::database::Database;
use crate::error::refuse;
use crate::instrumentation::{StatementError, StatementIdentity};
use crate::names::check_name;
use crate::result::Outcome;
use crate::session::locked_rows::LockedRows;
use crate::statement_options::StatementOptions;
use crate::status::{Counter, Counters};
use crate::storing::StatementClock;
use crate::transaction::{Savepoint, Transaction, ends_transaction};
use crate::variables::{self, Scope, Setting, Settings, structured};

/// Inferred types of `?`, with the place of each, by index.
pub(crate) type InferredTypes = BTreeMap<usize, (SqlType, ParameterPlace)>;

/// Settings of one statement, and the options derived from them.
#[derive(Debug, Clone)]
struct OwnSettings {
    settings: Settings,
    options: Arc<StatementOptions>,
}

/// State of a statement that is planned, and not run.
#[derive(Debug)]
pub(super) struct PlanningAhead {
    /// Diagnostics area in place of the session's.
    diagnostics: Arc<Diagnostics>,
    /// Inferred types of its `?`.
    inferred_types: RefCell<InferredTypes>,
}

/// A running statement, and its session.
#[derive(Debug)]
pub(crate) struct StatementContext<'s> {
    pub(crate) session: &'s mut Session,
    /// Savepoint before the statement.
    savepoint: Savepoint,
    /// Whether statements have run inside this one.
    pub(super) has_frames: bool,
    /// The tables of its plan, while it runs.
    pub(crate) tables: Weak<StatementTables>,
    /// The table that it adds rows to, which is not among those of its plan.
    pub(crate) target: Option<TableId>,
    /// Stored functions that it calls.
    pub(super) functions: Cell<FunctionUse>,
    /// Whether tables may have been opened before its functions were known.
    has_stale_tables: Cell<bool>,
    /// The place of the session while its functions have it, once needed.
    pub(super) lent: OnceCell<Arc<LentSession>>,
    /// The memory of the statement's tree, until the statement ends.
    pub(crate) tree: TreeMemory,
    /// Set for a statement that is only planned.
    pub(super) ahead: Option<Box<PlanningAhead>>,
    /// Settings of the statement in place of the session's, from SET_VAR hints.
    own_settings: Option<Box<OwnSettings>>,
    /// The database of its unqualified names, if not the session's current one.
    names_database: Option<Option<Arc<str>>>,
    /// The values of its `?`, if there are any.
    parameters: OnceCell<Parameters>,
    /// Identity of the statement in events and logs.
    pub(super) identity: StatementIdentity,
    /// The error that it failed with.
    pub(super) error: Option<StatementError>,
    /// Whether EXPLAIN plans its statement.
    pub(crate) explains: bool,
    /// What the planner reports about the explained statement.
    pub(crate) explanation: RefCell<Option<Explanation>>,
    /// The optimizer trace, if the session has tracing on.
    pub(crate) trace: Option<Box<StatementTrace>>,
    /// Whether other sessions may see its plan.
    offers_plan: Cell<bool>,
    /// Measures of each operator of its plan, where wanted.
    pub(crate) measures: Option<Arc<Measures>>,
    /// What another server's temporary tables would be, under `tmp_table_compat`.
    pub(crate) prediction: Option<Arc<Prediction>>,
    /// Whether that was counted.
    pub(super) is_predicted: Cell<bool>,
    /// How its expressions set user variables.
    pub(crate) variables: VariableUse,
    /// Whether its table functions may sample types.
    pub(crate) sampling: TypeSampling,
    /// Whether FOUND_ROWS() keeps its value.
    pub(crate) keeps_found_rows: bool,
    /// The start of the statement, once asked for.
    started_at: OnceCell<i64>,
    /// The context of its temporary tables, once it needs one.
    pub(super) temp: OnceCell<TempTableContext>,
    /// The interrupt of a statement with a time limit, once asked for.
    pub(super) interrupt: OnceCell<Interrupt>,
    /// Time limit in milliseconds; 0 is none.
    pub(crate) time_limit: u64,
    /// Its views of durable tables, once it needs them, by lifespan.
    pub(super) durable_statement: [OnceCell<DurableStatement>; 2],
    /// Its view of non-transactional tables, once it needs one.
    pub(super) direct_statement: OnceCell<DurableStatement>,
    /// Whether the statement changes or locks rows, and so reads the newest versions.
    pub(super) reads_newest: bool,
    /// Lock mode of its reads.
    pub(super) read_lock: ReadLock,
    /// Rows of locking queries in it.
    pub(crate) locked_rows: Vec<LockedRows>,
    /// Whether the statement uses tables: its end then counts as the end of a statement in a transaction, as in
    /// MySQL.
    has_used_tables: bool,
    has_ended: bool,
}

impl<'s> StatementContext<'s> {
    /// A context for the engine's own work in a session: no client waits for a statement.
    #[inline]
    pub(crate) fn internal(session: &'s mut Session) -> Self {
        Self {
            // Outside of a transaction a statement is undone as a whole.
            savepoint: if session.is_in_transaction() {
                session.transaction.current.new_savepoint()
            } else {
                Savepoint::default()
            },
            has_frames: false,
            tables: Weak::new(),
            target: None,
            functions: Cell::default(),
            has_stale_tables: Cell::new(false),
            lent: OnceCell::new(),
            ahead: None,
            own_settings: None,
            names_database: None,
            session,
            tree: TreeMemory::default(),
            parameters: OnceCell::new(),
            identity: StatementIdentity::default(),
            error: None,
            explains: false,
            variables: VariableUse::NotSet,
            sampling: TypeSampling::default(),
            explanation: RefCell::new(None),
            trace: None,
            offers_plan: Cell::new(false),
            measures: None,
            prediction: None,
            is_predicted: Cell::new(false),
            keeps_found_rows: false,
            started_at: OnceCell::new(),
            temp: OnceCell::new(),
            interrupt: OnceCell::new(),
            time_limit: 0,
            durable_statement: Default::default(),
            direct_statement: OnceCell::new(),
            reads_newest: false,
            read_lock: ReadLock::None,
            locked_rows: Vec::new(),
            has_used_tables: false,
            has_ended: true,
        }
    }

    /// Begins a statement. Unless it keeps the diagnostics of the statement before it, the diagnostics area is
    /// cleared.
    #[inline]
    pub(crate) fn begin(
        session: &'s mut Session,
        work: Work,
        text: &Arc<str>,
        keeps_diagnostics: bool,
    ) -> Self {
        session.settings.begin_statement();
        let options = session.settings.options();
        session.diagnostics.begin(keeps_diagnostics, options);
        session.shared.kill.reset();
        session.progress.rows_read.store(0, Ordering::Relaxed);
        session.progress.rows_expected.store(0, Ordering::Relaxed);
        let now = Instant::now();
        let is_other = !Arc::ptr_eq(&session.statement_text, text);
        if is_other {
            session.statement_text = Arc::clone(text);
        }
        let text = is_other.then_some(text);
        session.shared.activity.begin(work, text, now);
        session.begin_stages();
        session.diagnostics.begin_summary();
        session.diagnostics.finished_temporary_tables.clear();
        if work != Work::Prepare {
            session.shared.counters.add(Counter::Questions, 1);
        }
        session.shared.counters.add(Counter::Queries, 1);
        if session.database.logs.any_is_on() {
            session.begin_log();
        }
        let mut context = Self::internal(session);
        context.has_ended = false;
        context
    }

    /// Runs a client's statement up to its first row: a panic in it becomes an error. After an error its changes are
    /// undone, and it has ended.
    #[inline]
    pub(crate) fn run(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<Outcome>,
    ) -> Result<Outcome> {
        let is_closed = self.session.shared.kill.is_closed();
        let outcome = refuse(is_closed, || codes::ER_QUERY_INTERRUPTED.error());
        let outcome = outcome.and_then(|()| {
            let outcome = catch_unwind(AssertUnwindSafe(|| run(self)));
            outcome.unwrap_or_else(|payload| Err(Error::of_panic(payload.as_ref())))
        });
        // The transaction of a statement that returns rows ends with the last of them.
        let outcome = outcome.and_then(|outcome| match outcome {
            Outcome::Done(_) | Outcome::Found { .. } | Outcome::Several { .. } => {
                self.commit().map(|()| outcome)
            }
            Outcome::Rows { .. } | Outcome::Row { .. } => Ok(outcome),
        });
        if let Err(error) = &outcome {
            self.abandon(error);
        }
        outcome
    }

    /// Records that the statement uses `tables` tables, which are locked for it and unlocked at its end.
    #[inline]
    pub(crate) fn use_tables(&mut self, tables: usize) {
        if tables > 0 {
            self.has_used_tables = true;
            let locks = 2 * tables as u64;
            self.counters().add(Counter::HandlerExternalLock, locks);
        }
    }

    /// Completes the statement: under autocommit its transaction ends here, unless it is inside another one.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.stages().enter(Stage::QueryEnd);
        self.end_reading()?;
        if std::mem::take(&mut self.has_used_tables) {
            self.count(Counter::HandlerCommit);
        }
        if self.is_in_transaction() {
            return Ok(());
        }
        self.stages().enter(Stage::WaitingForHandlerCommit);
        self.transaction_mut().commit()
    }

    /// Ends the statement's reading: an idle session holds no snapshot. What the transaction holds for a statement
    /// inside another one, it holds for both.
    fn end_reading(&mut self) -> Result<()> {
        self.stages().enter(Stage::ClosingTables);
        self.close_views();
        if self.session.is_in_frame() {
            return Ok(());
        }
        self.transaction_mut().end_statement()
    }

    /// Undoes the changes of a failed statement.
    fn roll_back(&mut self, error: &Error) {
        // The statement has failed already.
        let _ = self.end_reading();
        if std::mem::take(&mut self.has_used_tables) {
            self.count(Counter::HandlerRollback);
        }
        if ends_transaction(error) || !self.is_in_transaction() {
            self.transaction_mut().roll_back();
        } else {
            self.undo_changes();
        }
    }

    /// Undoes the changes of the statement, and of those inside it.
    fn undo_changes(&mut self) {
        let session = &mut *self.session;
        session.transaction.current.roll_back_to(&self.savepoint);
    }

    /// Ends the statement with an error, before or after its first row, and undoes its changes.
    pub(crate) fn abandon(&mut self, error: &Error) {
        self.roll_back(error);
        self.fail(error);
    }

    /// Ends the statement with an error, which SHOW ERRORS lists.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.diagnostics().push(Level::Error, error.clone());
        self.session.diagnostics.row_count = -1;
        self.note_error(error);
        self.end();
    }

    /// Ends the statement, whether it succeeded or failed.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if self.offers_plan.take() {
            self.session.shared.running.lock().take();
        }
        self.keep_trace();
        self.stages().enter(Stage::FreeingItems);
        self.tree.free();
        self.stages().enter(Stage::CleaningUp);
        let now = Instant::now();
        let elapsed = self.session.shared.activity.end(now);
        self.session.diagnostics.summary.elapsed = elapsed;
        self.report(now);
    }

    /// Offers the statement's plan to other sessions.
    pub(crate) fn offer_plan(&self, plan: Arc<dyn RunningPlan>) {
        if self.has_ended {
            // A statement of the engine itself.
            return;
        }
        self.offers_plan.set(true);
        *self.session.shared.running.lock() = Some(plan);
    }

    /// Runs a statement whose table functions may sample types, and runs it again without samples if a value refutes one. What
    /// `run` has done until then must be gone with its error.
    pub(crate) fn sampling_types<T>(
        &mut self,
        mut run: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.variables != VariableUse::NotSet {
            return run(self);
        }
        self.sampling = TypeSampling::allowed();
        match run(self) {
            Err(error) if self.sampling.was_used() && error.is(&codes::ER_NEED_REPREPARE) => {}
            outcome => return outcome,
        }
        self.sampling = TypeSampling::default();
        if let Some(traced) = &self.trace {
            traced.trace.restart();
        }
        let session = &mut *self.session;
        session.diagnostics.reset(session.settings.options());
        run(self)
    }

    /// 1615 if types were sampled: for a statement that cannot be run again.
    pub(crate) fn refuse_sampled_types(&self) -> Result<()> {
        refuse(self.sampling.was_used(), TypeSampling::refuted)
    }

    /// As [`Self::refuse_sampled_types`], for a plan that calls stored functions, which may have effects.
    pub(crate) fn refuse_sampled_types_of_functions(&self) -> Result<()> {
        match self.functions() {
            FunctionUse::None => Ok(()),
            _ => self.refuse_sampled_types(),
        }
    }

    /// Prepares a retry, after another transaction has changed rows that the statement found.
    pub(crate) fn retry(&mut self) {
        if let Some(traced) = &self.trace {
            traced.trace.restart();
        }
        if self.has_frames {
            self.undo_changes();
        }
        let session = &mut *self.session;
        session.diagnostics.reset(session.settings.options());
        self.read_newest();
    }

    /// The engine.
    #[inline]
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.session.database
    }

    /// The catalog.
    #[inline]
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.database().catalog
    }

    /// The session's current rights.
    #[inline]
    pub(crate) fn rights(&self) -> Arc<Rights> {
        self.privileges().rights()
    }

    /// The session's temporary table of a name.
    pub(crate) fn temporary_table(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        self.session.temporary_tables.get(database, name)
    }

    /// The table of a name: the session's temporary table, or else the base table.
    pub(crate) fn find_table(&self, database: &str, name: &str) -> Option<Arc<BaseTable>> {
        self.session.find_table(database, name)
    }

    /// Raises a note.
    pub(crate) fn note(&self, error: Error) {
        self.diagnostics().push(Level::Note, error);
    }

    /// Raises an error of IF EXISTS or IF NOT EXISTS as a note, if `is_note`.
    pub(crate) fn note_if(&self, is_note: bool, error: Error) -> Result<()> {
        self.push_if(is_note, Level::Note, error)
    }

    /// Raises an error as a warning, if `is_warning`.
    pub(crate) fn warn_if(&self, is_warning: bool, error: Error) -> Result<()> {
        self.push_if(is_warning, Level::Warning, error)
    }

    fn push_if(&self, is_condition: bool, level: Level, error: Error) -> Result<()> {
        if !is_condition {
            return Err(error);
        }
        self.diagnostics().push(level, error);
        Ok(())
    }

    /// Raises a warning.
    pub(crate) fn warn(&self, error: Error) {
        self.diagnostics().warn(error);
    }

    /// `CONNECTION_ID()`
    pub(crate) fn id(&self) -> u64 {
        self.session.shared.id
    }

    /// The identity and privileges of the session.
    #[inline]
    pub(crate) fn privileges(&self) -> &SessionPrivileges {
        &self.session.privileges
    }

    /// The transaction that the statement is part of.
    #[inline]
    pub(crate) fn transaction(&self) -> &Transaction {
        &self.session.transaction.current
    }

    /// The statement's transaction, mutable.
    #[inline]
    pub(crate) fn transaction_mut(&mut self) -> &mut Transaction {
        &mut self.session.transaction.current
    }

    /// Whether changes wait for COMMIT.
    #[inline]
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.session.is_in_transaction()
    }

    /// The stages of the statement.
    #[inline]
    pub(crate) fn stages(&self) -> &Stages {
        &self.session.shared.activity.stages
    }

    /// The session's counters.
    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.session.shared.counters
    }

    /// Increments a session counter.
    #[inline]
    pub(crate) fn count(&self, counter: Counter) {
        self.counters().add(counter, 1);
    }

    /// When the statement began: microseconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        let now = || match self.options().timestamp {
            0.0 => self.database().options.clock.now_utc_microseconds(),
            seconds => (seconds * 1e6) as i64,
        };
        *self.started_at.get_or_init(now)
    }

    /// The planner's options for the running statement, with the types of its `?`.
    pub(crate) fn plan_options(&self) -> Cow<'_, PlanOptions> {
        let options = &self.options().plan;
        let types = &self.parameters().types;
        let sets_variables = self.variables != VariableUse::NotSet;
        if types.is_empty() && !sets_variables {
            return Cow::Borrowed(options);
        }
        Cow::Owned(PlanOptions {
            parameters: types.to_vec(),
            sets_variables,
            ..options.clone()
        })
    }

    /// Batch size and number of threads of operators. Rows are evaluated one by one where a condition may read what
    /// an expression of the row before has set.
    pub(crate) fn rows_at_once(&self) -> (usize, usize) {
        let options = &self.database().options;
        match (self.variables, self.functions.get()) {
            (VariableUse::InConditions, _) | (_, FunctionUse::ByRow) => (1, 1),
            (_, FunctionUse::InBatches) => (options.batch_size, 1),
            (_, FunctionUse::None) => (options.batch_size, options.threads),
        }
    }

    /// Stored functions that the statement calls, as far as it is planned.
    pub(crate) fn functions(&self) -> FunctionUse {
        self.functions.get()
    }

    /// Records the functions that a cached plan calls, before its tables are opened.
    pub(crate) fn expect_functions(&self, functions: FunctionUse) {
        self.functions.set(self.functions.get().max(functions));
    }

    /// Records a function that the statement calls.
    pub(crate) fn note_function(&self, function: &Arc<StoredFunction>) {
        let before = self.functions.get();
        self.expect_functions(FunctionUse::of(function));
        if self.functions.get() != before {
            self.has_stale_tables.set(true);
        }
    }

    /// Closes tables that may have been opened for more rows at once, or more threads, than the statement's functions
    /// allow, so that it has to be planned again. False if there are none.
    pub(crate) fn closes_stale_tables(&mut self) -> bool {
        if !self.has_stale_tables.take() {
            return false;
        }
        if let Some(traced) = &self.trace {
            traced.trace.restart();
        }
        let session = &mut *self.session;
        session.diagnostics.reset(session.settings.options());
        self.temp = OnceCell::new();
        self.close_views();
        true
    }

    /// The clock for conversions.
    pub(crate) fn clock(&self) -> StatementClock<'_> {
        StatementClock {
            options: self.options(),
            now: self.now(),
        }
    }

    /// A context for planning a statement that is not run yet. Asking tables for statistics fixes no snapshot of the
    /// transaction.
    pub(crate) fn planning_ahead(
        &mut self,
        diagnostics: Arc<Diagnostics>,
        parameters: &[(Value, SqlType)],
    ) -> StatementContext<'_> {
        let mut ahead = StatementContext::internal(self.session);
        ahead.ahead = Some(Box::new(PlanningAhead {
            diagnostics,
            inferred_types: RefCell::default(),
        }));
        ahead.set_parameters(parameters);
        ahead.read_newest();
        ahead
    }

    /// The settings of the statement.
    pub(crate) fn settings(&self) -> &Settings {
        let own = self.own_settings.as_ref().map(|own| &own.settings);
        own.unwrap_or(self.session.settings.variables())
    }

    /// Options derived from the statement's settings.
    #[inline]
    pub(crate) fn options(&self) -> &Arc<StatementOptions> {
        let own = self.own_settings.as_ref().map(|own| &own.options);
        own.unwrap_or(self.session.settings.options())
    }

    /// Sets the statement's own value of a variable.
    pub(crate) fn set_own(&mut self, position: usize, setting: Setting) {
        let mut settings = self.settings().clone();
        settings.set(position, setting);
        let options = self.database().statement_options(&settings);
        self.own_settings = Some(Box::new(OwnSettings { settings, options }));
    }

    /// Runs a part of the statement with variables of its own. The session's variables are unchanged, also when a
    /// panic ends the statement.
    pub(crate) fn with_settings<T>(
        &mut self,
        settings: Vec<(usize, Setting)>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.own_settings.clone();
        for (position, setting) in settings {
            self.set_own(position, setting);
        }
        let done = run(self);
        self.own_settings = outer;
        done
    }

    /// The current database.
    pub(crate) fn current_database(&self) -> Option<&str> {
        match &self.names_database {
            Some(database) => database.as_deref(),
            None => self.session.current_database(),
        }
    }

    /// The database that a statement names, or else the current one: 1046 without either, 1102 for an invalid name.
    pub(crate) fn database_or_current<'n>(&'n self, named: Option<&'n str>) -> Result<&'n str> {
        if let Some(name) = named {
            check_name(name, &codes::ER_WRONG_DB_NAME)?;
        }
        let database = named.or_else(|| self.current_database());
        database.ok_or_else(|| codes::ER_NO_DB_ERROR.error())
    }

    /// Sets the database of the statement's unqualified names.
    pub(crate) fn set_names_database(&mut self, database: Option<&Arc<str>>) {
        if self.current_database() != database.map(|name| &**name) {
            self.names_database = Some(database.cloned());
        }
    }

    /// Raises the warnings of expressions that are errors of a changing statement in strict mode.
    pub(crate) fn refuse_warnings(&self) -> Result<()> {
        self.diagnostics().refused().map_or(Ok(()), Err)
    }

    /// The diagnostics area, for SHOW WARNINGS.
    pub(crate) fn diagnostics(&self) -> &Arc<Diagnostics> {
        let ahead = self.ahead.as_ref().map(|ahead| &ahead.diagnostics);
        ahead.unwrap_or(&self.session.diagnostics.area)
    }

    /// The types and values of the statement's `?`.
    pub(crate) fn parameters(&self) -> &Parameters {
        self.parameters.get_or_init(Parameters::default)
    }

    /// Sets the values of the statement's `?`.
    pub(crate) fn set_parameters(&mut self, parameters: &[(Value, SqlType)]) {
        self.parameters = OnceCell::new();
        if !parameters.is_empty() {
            self.parameters = OnceCell::from(Parameters {
                types: parameters.iter().map(|(_, ty)| ty.clone()).collect(),
                values: parameters.iter().map(|(value, _)| value.clone()).collect(),
            });
        }
    }

    /// Records the type that is inferred for a `?` from its place.
    pub(crate) fn infer_parameter(&self, index: usize, ty: &SqlType, place: ParameterPlace) {
        if let Some(ahead) = &self.ahead {
            let mut types = ahead.inferred_types.borrow_mut();
            let known = types.entry(index).or_insert_with(|| (ty.clone(), place));
            if known.1 == ParameterPlace::Context {
                *known = (ty.clone(), place);
            }
        }
    }

    /// Takes the types recorded by [`Self::infer_parameter`] while planning ahead.
    pub(crate) fn take_inferred_types(&self) -> InferredTypes {
        let ahead = self.ahead.as_ref();
        ahead.map_or_else(BTreeMap::new, |ahead| ahead.inferred_types.take())
    }

    /// The value of a system variable, for `@@name`.
    pub(crate) fn system_variable(
        &self,
        scope: Option<VariableScope>,
        name: &str,
    ) -> Result<(Value, SqlType)> {
        let unknown = || codes::ER_UNKNOWN_SYSTEM_VARIABLE.with(&[&name]);
        let (position, structured) = structured::position(name).ok_or_else(unknown)?;
        let variable = variables::all()[position];
        let wrong =
            |word: &str| codes::ER_INCORRECT_GLOBAL_LOCAL_VAR.with(&[&variable.name, &word]);
        let ty = variable.sql_type();
        if structured.is_some() && scope != Some(VariableScope::Session) {
            let name = format!("@@global.{name}");
            self.warn(codes::ER_WARN_DEPRECATED_STRUCTURED_VARIABLE.with(&[&name]));
        }
        match (scope, variable.scope) {
            (Some(VariableScope::Session), Scope::Global) => Err(wrong("GLOBAL")),
            _ if let Some(name) = structured.filter(|name| !name.is_of_default()) => {
                let cache = self
                    .database()
                    .legacy_engines
                    .key_caches
                    .get(&name.instance);
                let value = cache.map_or(0, |cache| name.component.of(&cache.options()));
                Ok((Value::UInt(value), ty))
            }
            (Some(VariableScope::Global), Scope::Session) => Err(wrong("SESSION")),
            (Some(VariableScope::Global), _) | (None, Scope::Global) => {
                let globals = self.database().globals.read();
                Ok((variable.value(globals.at(position)), ty))
            }
            _ => {
                let setting = || variable.value(self.settings().at(position));
                let computed = self.computed_variables().get(variable.name);
                Ok((computed.unwrap_or_else(setting), ty))
            }
        }
    }

    /// The session variables that are not settings.
    pub(crate) fn computed_variables(&self) -> ComputedVariables {
        let left = &self.session.diagnostics;
        ComputedVariables {
            warning_count: left.before.all,
            error_count: left.before.errors,
            last_insert_id: left.last_insert_id(),
            insert_id: left.insert_id,
            session: self.id(),
            now: self.now(),
        }
    }
}

/// The session variables that are not settings.
#[derive(Debug)]
pub(crate) struct ComputedVariables {
    warning_count: u64,
    error_count: u64,
    last_insert_id: u64,
    insert_id: u64,
    session: u64,
    /// Microseconds since 1970 UTC.
    now: i64,
}

impl ComputedVariables {
    /// The value of a variable; `None` for a setting.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "warning_count" => Value::UInt(self.warning_count),
            "error_count" => Value::UInt(self.error_count),
            "last_insert_id" | "identity" => Value::UInt(self.last_insert_id),
            "insert_id" => Value::UInt(self.insert_id),
            "pseudo_thread_id" => Value::UInt(self.session),
            "timestamp" => Value::Float(self.now as f64 / 1e6),
            _ => return None,
        })
    }
}

impl Session {
    /// Fails a statement before it begins: SHOW ERRORS lists its error.
    pub(crate) fn refuse(&mut self, text: &Arc<str>, error: Error) -> Error {
        StatementContext::begin(self, Work::Query, text, false).fail(&error);
        error
    }
}

impl Drop for StatementContext<'_> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}
