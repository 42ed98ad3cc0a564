//! Variables of the slow log and the general log.

use super::Settings;
use super::definition::{
    Kind, SystemVariable, U32_MAX, YEAR, both, choice, global, number, switch, text,
};
use super::typed;

pub(super) const VARIABLES: &[SystemVariable] = variables! {
    global("general_log", switch(false), "Whether what clients ask for is in the general log.");
    global("general_log_file", text("mayfly.log"), "The file of the general log; by default the machine's name and .log in the data directory.");
    global("log_output", Kind::Flags { default: FILE, words: &["NONE", "FILE", "TABLE"] }, "Where the logs are written: to files, to tables of the database mysql, or nowhere.");
    global("log_queries_not_using_indexes", switch(false), "Whether statements that read a table without an index are in the slow log, however fast they are.");
    global("log_raw", switch(false), "Whether the general log has statements as they came, with their passwords.");
    global("log_slow_admin_statements", switch(false), "Whether ALTER TABLE, ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE, CREATE INDEX and DROP INDEX may be in the slow log.");
    both("log_slow_disabled_statements", Kind::Flags { default: 1 << 3, words: &["admin", "call", "slave", "sp"] }, "Kinds of statements that are not in the slow log: of those, only administrative ones exist.");
    global("log_slow_extra", switch(false), "Whether the slow log has counters of each statement, in MySQL's format.");
    both("log_slow_filter", Kind::Flags { default: FILTER_DEFAULT, words: FILTER_WORDS }, "The slow log has only statements of one of these kinds; of all kinds where it is empty.");
    both("log_slow_max_warnings", number(10, 0, 1000), "The most warnings of a statement in the slow log.");
    both("log_slow_rate_limit", number(1, 1, U32_MAX), "Each n-th slow statement is in the slow log.");
    global("log_slow_rate_type", choice(RATE_OF_QUERIES as usize, &["session", "query"]), "Whether log_slow_rate_limit chooses among sessions or among statements.");
    both("log_slow_verbosity", Kind::Flags { default: 0, words: VERBOSITY_WORDS }, "What the slow log has of each statement, in MariaDB's words and in Percona's.");
    global("log_throttle_queries_not_using_indexes", number(0, 0, u64::MAX), "How many statements a minute are in the slow log only because they use no index; 0 is all.");
    global("log_timestamps", choice(0, &["UTC", "SYSTEM"]), "The time zone of the times in log files.");
    both("long_query_time", Kind::Double { default: 10.0, min: 0.0, max: YEAR as f64 }, "From how many seconds on a statement is slow.");
    both("min_examined_row_limit", number(0, 0, u64::MAX), "A statement that reads fewer rows is not slow.").hintable();
    global("slow_query_log", switch(false), "Whether slow statements are in the slow log.");
    global("slow_query_log_always_write_time", Kind::Double { default: 10.0, min: 0.0, max: YEAR as f64 }, "A statement that takes longer is in the slow log whatever log_slow_rate_limit says.");
    global("slow_query_log_file", text("mayfly-slow.log"), "The file of the slow log; by default the machine's name and -slow.log in the data directory.");
    global("slow_query_log_format", choice(0, &["AUTO", "MYSQL", "MARIADB", "MARIADB_5_3", "PERCONA"]), "Whose format the file of the slow log has. AUTO: MySQL's, until log_slow_verbosity has words of MariaDB or Percona.");
    global("slow_query_log_use_global_control", Kind::Flags { default: 0, words: GLOBAL_CONTROL_WORDS }, "Variables of the slow log whose global value holds for all sessions.");
    both("sql_log_off", switch(false), "Whether what the session asks for is left out of the general log.");
};

/// `log_output`
pub(crate) const FILE: u64 = 1 << 1;
/// `log_output`
pub(crate) const TABLE: u64 = 1 << 2;
/// `log_output`: NONE overrides the other words.
pub(crate) const NONE: u64 = 1;

/// `log_slow_rate_type`
pub(crate) const RATE_OF_QUERIES: u64 = 1;

/// `log_slow_disabled_statements`
const DISABLED_ADMINISTRATION: u64 = 1;

/// `log_slow_filter`, in MariaDB's order. Percona's `qc_miss` is `query_cache_miss`.
const FILTER_WORDS: &[&str] = &[
    "admin",
    "filesort",
    "filesort_on_disk",
    "filesort_priority_queue",
    "full_join",
    "full_scan",
    "not_using_index",
    "query_cache",
    "query_cache_miss",
    "tmp_table",
    "tmp_table_on_disk",
];
/// All but `not_using_index`.
const FILTER_DEFAULT: u64 = (1 << FILTER_WORDS.len()) - 1 - kind_bit("not_using_index");

/// The bit of a statement kind in `log_slow_filter`.
pub(crate) const fn kind_bit(word: &str) -> u64 {
    bit(FILTER_WORDS, word)
}

/// `log_slow_verbosity`: MariaDB's words first, so that numeric values agree, then Percona's own.
const VERBOSITY_WORDS: &[&str] = &[
    "innodb",
    "query_plan",
    "explain",
    "engine",
    "warnings",
    "full",
    "microtime",
    "minimal",
    "standard",
    "profiling",
    "profiling_use_getrusage",
    "query_info",
];
const MARIADB_WORDS: u64 = (1 << 6) - 1;

/// `slow_query_log_use_global_control`
const GLOBAL_CONTROL_WORDS: &[&str] = &[
    "none",
    "log_slow_filter",
    "log_slow_rate_limit",
    "log_slow_verbosity",
    "long_query_time",
    "min_examined_row_limit",
];

const fn bit(words: &[&str], word: &str) -> u64 {
    let mut position = 0;
    while position < words.len() {
        if same(words[position].as_bytes(), word.as_bytes()) {
            return 1 << position;
        }
        position += 1;
    }
    panic!("no such word")
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The bits of a word that is an alias of other words, perhaps of another server.
pub(crate) fn bits_of_alias(variable: &str, word: &str) -> Option<u64> {
    let is = |other: &str| word.eq_ignore_ascii_case(other);
    match variable {
        "log_slow_verbosity" if is("all") => Some(MARIADB_WORDS),
        "log_slow_filter" if is("all") => Some((1 << FILTER_WORDS.len()) - 1),
        "log_slow_filter" if is("qc_miss") => Some(kind_bit("query_cache_miss")),
        "slow_query_log_use_global_control" if is("all") => {
            Some((1 << GLOBAL_CONTROL_WORDS.len()) - 2)
        }
        _ => None,
    }
}

/// The words of `log_slow_verbosity` without effect.
pub(crate) fn words_in_vain(bits: u64) -> impl Iterator<Item = &'static str> {
    let vain = ["profiling", "profiling_use_getrusage", "query_info"];
    vain.into_iter()
        .filter(move |word| bits & bit(VERBOSITY_WORDS, word) != 0)
}

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
