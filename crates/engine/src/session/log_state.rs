//! State of a session for the logs, and the plan that the slow log explains. [`super::logging`] fills it while a log is
//! on; the state of one statement is cleared before the next one begins.

use std::cell::OnceCell;
use std::sync::Arc;

use mayfly_exec::Measures;
use mayfly_plan::explain::{ExplainRow, TableReader};

use crate::logs::{ExplainLine, HandlerCounts, SlowEntry};

/// State of a session for the logs, while they are on.
#[derive(Debug, Default)]
pub(crate) struct SessionLog {
    pub(super) user_host: OnceCell<Arc<str>>,
    /// The running statement's text in the logs, where it differs: with values for its `?`.
    pub(crate) text: Option<Arc<str>>,
    /// Whether this is a protocol command rather than a statement.
    pub(super) is_command: bool,
    /// Counters at the statement's start.
    pub(super) before: Option<Box<HandlerCounts>>,
    pub(super) explained: Option<Box<ExplainedPlan>>,
    /// The entry of a statement whose result is not sent yet.
    pub(super) pending: Option<Box<SlowEntry>>,
}

/// The EXPLAIN of a running statement, and the measures of its operators.
#[derive(Debug)]
pub(crate) struct ExplainedPlan {
    pub(crate) rows: Vec<ExplainRow>,
    pub(crate) readers: Vec<TableReader>,
    pub(crate) measures: Arc<Measures>,
}

impl ExplainedPlan {
    pub(super) fn lines(self) -> Vec<ExplainLine> {
        let Self {
            rows,
            mut readers,
            measures,
        } = self;
        let line = |mut row: ExplainRow| {
            if row.select_type.ends_with(" RESULT") {
                row.extra = None;
            }
            // MariaDB reads const tables before it runs the statement, or reads nothing.
            let is_measured = row.access != Some("const");
            let filtered = (row.select_type == "INSERT").then_some(100.0);
            let table = row.table.as_deref().filter(|_| is_measured);
            let found = readers
                .iter()
                .position(|reader| Some(&*reader.table) == table);
            let Some(reader) = found.map(|found| readers.remove(found)) else {
                return ExplainLine {
                    row,
                    rows_read: None,
                    filtered,
                };
            };
            let measure = measures.of(reader.operator);
            let loops = if reader.looks_up {
                measure.lookups
            } else {
                measure.loops
            };
            let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
            let left = share(measure.rows, measure.rows_read);
            let is_read = loops > 0;
            ExplainLine {
                row,
                rows_read: share(measure.rows_read, loops),
                filtered: is_read.then(|| left.map_or(100.0, |left| (left * 100.0).min(100.0))),
            }
        };
        rows.into_iter().map(line).collect()
    }
}
