//! Global settings of the logs, read once for each change of a variable.

use std::path::{Path, PathBuf};

use crate::variables::Settings;
use crate::variables::logs::{FILE, NONE, SessionLogOptions, TABLE, Verbosity};
use crate::variables::typed;

/// Format of the slow log's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    MySql,
    MariaDb,
    /// MariaDB's and Percona's of 2011: without temporary tables' sizes, bytes sent and priority queues.
    MariaDb53,
    Percona,
}

impl Format {
    /// Whether the format has EXPLAIN and warnings.
    pub(crate) fn is_mariadb(self) -> bool {
        self == Self::MariaDb
    }
}

/// Global settings of the logs.
#[derive(Debug, Clone)]
pub(crate) struct LogOptions {
    /// `slow_query_log`
    pub(crate) slow: bool,
    /// `general_log`
    pub(crate) general: bool,
    pub(crate) slow_file: PathBuf,
    pub(crate) general_file: PathBuf,
    /// `log_output`
    pub(crate) output: u64,
    /// `slow_query_log_format`; none is AUTO.
    format: Option<Format>,
    /// `log_slow_extra`
    pub(crate) extra: bool,
    /// `log_raw`
    pub(crate) raw: bool,
    /// `log_timestamps` is SYSTEM.
    pub(crate) system_time: bool,
    /// `log_queries_not_using_indexes`
    pub(crate) without_index: bool,
    /// `log_throttle_queries_not_using_indexes`
    pub(crate) throttle: u64,
    /// `log_slow_admin_statements`
    pub(crate) administration: bool,
    /// `slow_query_log_always_write_time`, in seconds.
    pub(crate) always_above: f64,
    /// `log_slow_rate_type`
    pub(crate) rate_type: u64,
    /// `slow_query_log_use_global_control`
    pub(crate) control: u64,
    /// The global values of the settings that each session has, too.
    pub(crate) globals: SessionLogOptions,
    pub(crate) server_id: u64,
    /// Header of a log file.
    pub(crate) header: String,
}

impl LogOptions {
    /// Reads the global variables. Files that are named without a directory are in `directory`.
    pub(crate) fn read(globals: &Settings, directory: &Path) -> Self {
        let path = |variable| directory.join(globals.text(variable));
        let version = crate::VERSION;
        let (port, socket) = (globals.get(typed::PORT), globals.text(typed::SOCKET));
        Self {
            slow: globals.get(typed::SLOW_QUERY_LOG),
            general: globals.get(typed::GENERAL_LOG),
            slow_file: path(typed::SLOW_QUERY_LOG_FILE),
            general_file: path(typed::GENERAL_LOG_FILE),
            output: globals.get(typed::LOG_OUTPUT),
            format: match globals.get(typed::SLOW_QUERY_LOG_FORMAT) {
                1 => Some(Format::MySql),
                2 => Some(Format::MariaDb),
                3 => Some(Format::MariaDb53),
                4 => Some(Format::Percona),
                _ => None,
            },
            extra: globals.get(typed::LOG_SLOW_EXTRA),
            raw: globals.get(typed::LOG_RAW),
            system_time: globals.get(typed::LOG_TIMESTAMPS) == 1,
            without_index: globals.get(typed::LOG_QUERIES_NOT_USING_INDEXES),
            throttle: globals.get(typed::LOG_THROTTLE_QUERIES_NOT_USING_INDEXES),
            administration: globals.get(typed::LOG_SLOW_ADMIN_STATEMENTS),
            always_above: globals.get(typed::SLOW_QUERY_LOG_ALWAYS_WRITE_TIME),
            rate_type: globals.get(typed::LOG_SLOW_RATE_TYPE),
            control: globals.get(typed::SLOW_QUERY_LOG_USE_GLOBAL_CONTROL),
            globals: SessionLogOptions::read(globals),
            server_id: globals.get(typed::SERVER_ID),
            header: format!(
                "mayfly, Version: {version} (Mayfly). started with:\n\
                 Tcp port: {port}  Unix socket: {socket}\n\
                 Time                 Id Command    Argument\n"
            ),
        }
    }

    /// Whether entries go to files.
    pub(crate) fn writes_files(&self) -> bool {
        self.output & NONE == 0 && self.output & FILE != 0
    }

    /// Whether entries go to tables.
    pub(crate) fn writes_tables(&self) -> bool {
        self.output & NONE == 0 && self.output & TABLE != 0
    }

    /// The format for a statement of which so much is wanted.
    pub(crate) fn format(&self, verbosity: &Verbosity) -> Format {
        self.format.unwrap_or(match verbosity {
            verbosity if verbosity.is_percona => Format::Percona,
            verbosity if verbosity.is_mariadb => Format::MariaDb,
            _ => Format::MySql,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_from_the_words_unless_it_is_set() {
        let mut globals = Settings::defaults();
        let plain = Verbosity::default();
        let mariadb = Verbosity {
            is_mariadb: true,
            ..plain
        };
        let percona = Verbosity {
            is_percona: true,
            ..mariadb
        };
        let options = LogOptions::read(&globals, Path::new(""));
        assert_eq!(options.format(&plain), Format::MySql);
        assert_eq!(options.format(&mariadb), Format::MariaDb);
        assert_eq!(options.format(&percona), Format::Percona);
        globals.put(typed::SLOW_QUERY_LOG_FORMAT, 3);
        let options = LogOptions::read(&globals, Path::new(""));
        assert_eq!(options.format(&percona), Format::MariaDb53);
    }
}
