//! A session's settings: its system variables, the options derived from them, the current database, user variables,
//! and the state of RAND().

use std::sync::{Arc, Mutex, PoisonError};

use mayfly_functions::UserVariables;
use mayfly_functions::context::{MysqlRandom, RandomStates};
use mayfly_memory::{FaultInjection, Reservation};
use mayfly_storage::temptable::Resources;

use crate::database::Database;
use crate::statement_options::StatementOptions;
use crate::variables::Settings;

/// System and user variables of a session, and its default database.
#[derive(Debug)]
pub(crate) struct SessionSettings {
    database: Arc<Database>,
    variables: Settings,
    /// Options derived from the variables.
    options: Arc<StatementOptions>,
    pub(super) current_database: Option<Arc<str>>,
    pub(super) user_variables: Arc<UserVariables>,
    pub(super) random: Arc<Mutex<RandomStates>>,
    /// The faults of its temporary files, where the database allows `tmp_debug`.
    faults: Option<Arc<FaultInjection>>,
}

impl SessionSettings {
    /// Settings of a new session; its user variables are charged to `memory`.
    pub(super) fn new(
        database: Arc<Database>,
        variables: Settings,
        current_database: Option<Arc<str>>,
        memory: Reservation,
        seed: u64,
    ) -> Self {
        let allows = database.options.allow_tmp_debug;
        let settings = Self {
            options: database.statement_options(&variables),
            database,
            variables,
            current_database,
            user_variables: Arc::new(UserVariables::charged_to(memory)),
            random: Arc::new(Mutex::new(RandomStates::new(seed))),
            faults: allows.then(Arc::default),
        };
        settings.apply_faults();
        settings
    }

    /// The resources of the session's temporary tables, whose files have the faults of `tmp_debug`.
    pub(crate) fn temp_resources(&self) -> Resources {
        let mut resources = self.database.resources.clone();
        if let Some(faults) = &self.faults {
            resources.temp_space = resources.temp_space.with_faults(Arc::clone(faults));
        }
        resources
    }

    /// Number of rows after which temporary tables overflow, by `tmp_debug`.
    pub(crate) fn spill_after_rows(&self) -> Option<u64> {
        let allowed = self.faults.is_some();
        self.options.tmp_debug.spill_after_rows.filter(|_| allowed)
    }

    /// Begins to count the writes of a statement, for the faults of `tmp_debug`.
    #[inline]
    pub(super) fn begin_statement(&self) {
        if let Some(faults) = &self.faults {
            faults.begin_statement();
        }
    }

    /// The system variables.
    #[inline]
    pub(crate) fn variables(&self) -> &Settings {
        &self.variables
    }

    /// Options derived from the system variables.
    #[inline]
    pub(crate) fn options(&self) -> &Arc<StatementOptions> {
        &self.options
    }

    /// The current database.
    #[inline]
    pub(crate) fn current_database(&self) -> Option<&Arc<str>> {
        self.current_database.as_ref()
    }

    /// `@name`
    pub(crate) fn user_variables(&self) -> &Arc<UserVariables> {
        &self.user_variables
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

    /// Changes system variables.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.variables);
        self.options = self.database.statement_options(&self.variables);
        self.apply_faults();
    }

    fn apply_faults(&self) {
        if let Some(faults) = &self.faults {
            faults.set(self.options.tmp_debug.faults);
        }
    }
}
