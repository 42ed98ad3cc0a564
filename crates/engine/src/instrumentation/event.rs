//! A statement that has ended.

use std::sync::Arc;
use std::time::Duration;

use crate::instrumentation::DigestSummary;
use crate::result::StatementSummary;
use crate::status::Counter;

/// What a statement is to those who look at it: known when it begins to run.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementIdentity {
    /// The counter of its kind, such as `Com_select`; none for a text that is no statement.
    pub(crate) command: Option<Counter>,
    /// The summary of its digest, where it was found already.
    pub(crate) digest: Option<Arc<DigestSummary>>,
}

/// How a statement failed.
#[derive(Debug, Clone)]
pub(crate) struct StatementError {
    pub(crate) code: u16,
    pub(crate) sqlstate: &'static str,
    pub(crate) message: Arc<str>,
}

/// A statement that has ended. Texts are shared with the session, or cut at
/// `performance_schema_max_sql_text_length`.
#[derive(Debug, Clone)]
pub(crate) struct StatementEvent {
    /// Its number in its session, from 1.
    pub(crate) id: u64,
    pub(crate) session_id: u64,
    pub(crate) database: Option<Arc<str>>,
    pub(crate) text: Arc<str>,
    pub(crate) command: Option<Counter>,
    pub(crate) digest: Option<Arc<DigestSummary>>,
    /// When it began: microseconds since 1970 UTC.
    pub(crate) began_at: i64,
    /// The same in picoseconds since the engine was started.
    pub(crate) timer_start: u64,
    pub(crate) summary: StatementSummary,
    /// It gives rows, perhaps none.
    pub(crate) gives_rows: bool,
    pub(crate) error: Option<StatementError>,
}

impl StatementEvent {
    /// When it ended, in picoseconds since the engine was started.
    pub(crate) fn timer_end(&self) -> u64 {
        self.timer_start
            .saturating_add(picoseconds(self.summary.elapsed))
    }
}

/// A time as performance_schema counts it.
pub(crate) fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX)
}
