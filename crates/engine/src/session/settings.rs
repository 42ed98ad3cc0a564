//! A session's settings: its system variables, the options derived from them, the current database, user variables,
//! and the state of RAND().

use std::sync::{Arc, Mutex, PoisonError};

use mayfly_functions::UserVariables;
use mayfly_functions::context::{MysqlRandom, RandomStates};
use mayfly_memory::Reservation;

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
        Self {
            options: database.statement_options(&variables),
            database,
            variables,
            current_database,
            user_variables: Arc::new(UserVariables::charged_to(memory)),
            random: Arc::new(Mutex::new(RandomStates::new(seed))),
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
    }
}
