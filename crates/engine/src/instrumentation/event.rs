//! Events of ended statements.

use std::sync::Arc;

use crate::instrumentation::DigestSummary;
use crate::instrumentation::time::picoseconds;
use crate::result::StatementSummary;
use crate::status::Counter;

/// Identity of a statement, known when it begins to run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StatementIdentity {
    /// The counter of its kind, such as `Com_select`; `None` for a text with a syntax error.
    pub(crate) command: Option<Counter>,
    /// Whether the session holds the summary of its digest.
    pub(crate) has_digest: bool,
}

/// Error of a statement.
#[derive(Debug, Clone)]
pub(crate) struct StatementError {
    pub(crate) code: u16,
    pub(crate) sqlstate: &'static str,
    pub(crate) message: Arc<str>,
}

/// Event of an ended statement. Texts are shared with the session, or truncated at
/// `performance_schema_max_sql_text_length`.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementEvent {
    /// Its number in its session, from 1.
    pub(crate) id: u64,
    pub(crate) session_id: u64,
    pub(crate) database: Option<Arc<str>>,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) command: Option<Counter>,
    pub(crate) digest: Option<Arc<DigestSummary>>,
    /// When it ended, in nanoseconds since the engine was started.
    pub(crate) ended: u64,
    pub(crate) summary: StatementSummary,
    /// Whether the statement returns a result set, perhaps an empty one.
    pub(crate) gives_rows: bool,
    pub(crate) error: Option<StatementError>,
}

/// Makes `slot` share a value. If it already does, the contended reference count is not touched.
#[inline]
pub(crate) fn share<T: ?Sized>(slot: &mut Option<Arc<T>>, value: Option<&Arc<T>>) {
    let is_same = match (&*slot, value) {
        (Some(slot), Some(value)) => Arc::ptr_eq(slot, value),
        (None, None) => true,
        _ => false,
    };
    if !is_same {
        *slot = value.cloned();
    }
}

impl StatementEvent {
    /// When it began, in picoseconds since the engine was started.
    pub(crate) fn timer_start(&self) -> u64 {
        self.timer_end()
            .saturating_sub(picoseconds(self.summary.elapsed))
    }

    /// When it ended, in picoseconds since the engine was started.
    pub(crate) fn timer_end(&self) -> u64 {
        self.ended.saturating_mul(1000)
    }
}
