//! Variables of the slow log and the general log.

mod session_options;

pub(crate) use self::session_options::{SessionLogOptions, Verbosity};
use super::definition::{
    Effect, Kind, SystemVariable, U32_MAX, YEAR, both, choice, global, number, switch, text,
};

pub(super) const VARIABLES: &[SystemVariable] = variables! {
    global("general_log", switch(false), "Whether what clients ask for is in the general log.").on_change(Effect::Logs);
    global("general_log_file", text("mayfly.log"), "The file of the general log; by default the machine's name and .log in the data directory.").on_change(Effect::Logs);
    global("log_output", Kind::Flags { default: FILE, words: &["NONE", "FILE", "TABLE"] }, "Where the logs are written: to files, to tables of the database mysql, or nowhere.").on_change(Effect::Logs);
    global("log_queries_not_using_indexes", switch(false), "Whether statements that read a table without an index are in the slow log, however fast they are.").on_change(Effect::Logs);
    global("log_raw", switch(false), "Whether the general log has statements as they came, with their passwords.").on_change(Effect::Logs);
    global("log_slow_admin_statements", switch(false), "Whether ALTER TABLE, ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE, CREATE INDEX and DROP INDEX may be in the slow log.").on_change(Effect::Logs);
    both("log_slow_disabled_statements", Kind::Flags { default: 1 << 3, words: &["admin", "call", "slave", "sp"] }, "Kinds of statements that are not in the slow log: of those, only administrative ones exist.").on_change(Effect::Logs);
    global("log_slow_extra", switch(false), "Whether the slow log has counters of each statement, in MySQL's format.").on_change(Effect::Logs);
    both("log_slow_filter", Kind::Flags { default: FILTER_DEFAULT, words: FILTER_WORDS }, "The slow log has only statements of one of these kinds; of all kinds where it is empty.").on_change(Effect::Logs);
    both("log_slow_max_warnings", number(10, 0, 1000), "The most warnings of a statement in the slow log.").on_change(Effect::Logs);
    both("log_slow_rate_limit", number(1, 1, U32_MAX), "Each n-th slow statement is in the slow log.").on_change(Effect::Logs);
    global("log_slow_rate_type", choice(RATE_OF_QUERIES as usize, &["session", "query"]), "Whether log_slow_rate_limit chooses among sessions or among statements.").on_change(Effect::Logs);
    both("log_slow_verbosity", Kind::Flags { default: 0, words: VERBOSITY_WORDS }, "What the slow log has of each statement, in MariaDB's words and in Percona's.").on_change(Effect::Logs);
    global("log_throttle_queries_not_using_indexes", number(0, 0, u64::MAX), "How many statements a minute are in the slow log only because they use no index; 0 is all.").on_change(Effect::Logs);
    global("log_timestamps", choice(0, &["UTC", "SYSTEM"]), "The time zone of the times in log files.").on_change(Effect::Logs);
    both("long_query_time", Kind::Double { default: 10.0, min: 0.0, max: YEAR as f64 }, "From how many seconds on a statement is slow.").on_change(Effect::Logs);
    both("min_examined_row_limit", number(0, 0, u64::MAX), "A statement that reads fewer rows is not slow.").hintable().on_change(Effect::Logs);
    global("slow_query_log", switch(false), "Whether slow statements are in the slow log.").on_change(Effect::Logs);
    global("slow_query_log_always_write_time", Kind::Double { default: 10.0, min: 0.0, max: YEAR as f64 }, "A statement that takes longer is in the slow log whatever log_slow_rate_limit says.").on_change(Effect::Logs);
    global("slow_query_log_file", text("mayfly-slow.log"), "The file of the slow log; by default the machine's name and -slow.log in the data directory.").on_change(Effect::Logs);
    global("slow_query_log_format", choice(0, &["AUTO", "MYSQL", "MARIADB", "MARIADB_5_3", "PERCONA"]), "Whose format the file of the slow log has. AUTO: MySQL's, until log_slow_verbosity has words of MariaDB or Percona.").on_change(Effect::Logs);
    global("slow_query_log_use_global_control", Kind::Flags { default: 0, words: GLOBAL_CONTROL_WORDS }, "Variables of the slow log whose global value holds for all sessions.").on_change(Effect::Logs);
    both("sql_log_off", switch(false), "Whether what the session asks for is left out of the general log.").restricted();
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
