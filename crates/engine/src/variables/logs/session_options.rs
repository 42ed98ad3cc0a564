//! Log settings of a session as plain fields, read from its variables at its start and after each SET.

use super::{DISABLED_ADMINISTRATION, GLOBAL_CONTROL_WORDS, MARIADB_WORDS, VERBOSITY_WORDS, bit};
use crate::variables::{Settings, typed};

/// Contents of slow log entries (`log_slow_verbosity`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Verbosity {
    /// Work of the plan: scans, joins, temporary tables, sorts.
    pub(crate) query_plan: bool,
    /// Work of the storage engine.
    pub(crate) engine: bool,
    /// Its EXPLAIN.
    pub(crate) explain: bool,
    /// Its warnings and errors.
    pub(crate) warnings: bool,
    /// Whether words of MariaDB are set.
    pub(crate) is_mariadb: bool,
    /// Whether words of Percona alone are set.
    pub(crate) is_percona: bool,
}

impl Verbosity {
    fn of(bits: u64) -> Self {
        let has = |word| bits & bit(VERBOSITY_WORDS, word) != 0;
        let full = has("full");
        Self {
            query_plan: full || has("query_plan"),
            engine: full || has("innodb") || has("engine") || has("standard"),
            explain: full || has("explain"),
            warnings: full || has("warnings"),
            is_mariadb: bits & MARIADB_WORDS != 0,
            is_percona: bits & !MARIADB_WORDS != 0,
        }
    }
}

/// Log settings of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLogOptions {
    /// `sql_log_off`
    pub(crate) general_off: bool,
    /// `long_query_time`, in seconds.
    pub(crate) long_query_time: f64,
    /// `min_examined_row_limit`
    pub(crate) rows_examined_min: u64,
    /// `log_slow_filter`
    pub(crate) filter: u64,
    /// `log_slow_rate_limit`
    pub(crate) rate_limit: u64,
    /// `log_slow_verbosity`
    pub(crate) verbosity: Verbosity,
    /// `log_slow_max_warnings`
    pub(crate) warnings_max: usize,
    /// `log_slow_disabled_statements` has `admin`.
    pub(crate) no_administration: bool,
}

impl SessionLogOptions {
    /// Reads the variables of a session.
    pub(crate) fn read(settings: &Settings) -> Self {
        let disabled = settings.get(typed::LOG_SLOW_DISABLED_STATEMENTS);
        let warnings_max = settings.get(typed::LOG_SLOW_MAX_WARNINGS);
        Self {
            general_off: settings.get(typed::SQL_LOG_OFF),
            long_query_time: settings.get(typed::LONG_QUERY_TIME),
            rows_examined_min: settings.get(typed::MIN_EXAMINED_ROW_LIMIT),
            filter: settings.get(typed::LOG_SLOW_FILTER),
            rate_limit: settings.get(typed::LOG_SLOW_RATE_LIMIT),
            verbosity: Verbosity::of(settings.get(typed::LOG_SLOW_VERBOSITY)),
            warnings_max: usize::try_from(warnings_max).unwrap_or(usize::MAX),
            no_administration: disabled & DISABLED_ADMINISTRATION != 0,
        }
    }

    /// These options with the global values of the variables that `slow_query_log_use_global_control` names.
    pub(crate) fn under(mut self, control: u64, globals: &Self) -> Self {
        let has = |word| control & bit(GLOBAL_CONTROL_WORDS, word) != 0;
        if has("log_slow_filter") {
            self.filter = globals.filter;
        }
        if has("log_slow_rate_limit") {
            self.rate_limit = globals.rate_limit;
        }
        if has("log_slow_verbosity") {
            self.verbosity = globals.verbosity;
        }
        if has("long_query_time") {
            self.long_query_time = globals.long_query_time;
        }
        if has("min_examined_row_limit") {
            self.rows_examined_min = globals.rows_examined_min;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_verbosity_are_mariadbs() {
        let two = Verbosity::of(2);
        assert!(two.query_plan && !two.engine && !two.explain && two.is_mariadb);
        assert!(Verbosity::of(1).engine && Verbosity::of(8).engine);
        assert!(Verbosity::of(4).explain && Verbosity::of(16).warnings);
        let full = Verbosity::of(32);
        assert!(full.query_plan && full.engine && full.explain && full.warnings);
        let microtime = Verbosity::of(bit(VERBOSITY_WORDS, "microtime"));
        assert!(microtime.is_percona && !microtime.is_mariadb && !microtime.query_plan);
    }
}
