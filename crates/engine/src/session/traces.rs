//! Optimizer traces of a session's last statements: `optimizer_trace` and related variables, and
//! `information_schema.OPTIMIZER_TRACE`.
//!
//! Number and size of kept traces are as in the manual ("Tuning Trace Purging", "Tracing Memory Usage").

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mayfly_plan::Trace;
use mayfly_plan::explain::{ExecutedTable, MeasuredTable, MemoryLimit, note_executed};
use mayfly_storage::temptable::{Purpose, RegistryEntry};

use crate::statement_options::TraceOptions;

/// A trace that is kept.
#[derive(Debug)]
pub(crate) struct KeptTrace {
    pub(crate) query: String,
    pub(crate) trace: String,
    /// Bytes that exceeded `optimizer_trace_max_mem_size`.
    pub(crate) missing_bytes: usize,
    /// Whether the user may not see it.
    pub(crate) is_hidden: bool,
}

impl KeptTrace {
    fn bytes(&self) -> u64 {
        (self.query.len() + self.trace.len()) as u64
    }
}

/// Optimizer traces of a session's last statements.
#[derive(Debug, Default)]
pub(crate) struct SessionTraces {
    /// Kept traces, the oldest first.
    kept: VecDeque<Arc<KeptTrace>>,
    /// Number of statements traced since the traces were cleared.
    begun: u64,
}

impl SessionTraces {
    /// Clears all traces, when `optimizer_trace_offset` or `optimizer_trace_limit` is set.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the next trace is to be kept.
    fn takes(&mut self, options: &TraceOptions) -> bool {
        let number = self.begun;
        self.begun += 1;
        match u64::try_from(options.offset) {
            Ok(offset) => number >= offset && number - offset < options.limit,
            Err(_) => options.limit > 0,
        }
    }

    /// Adds the trace of a statement that has ended.
    pub(super) fn add(&mut self, statement: &StatementTrace, options: &TraceOptions) {
        if !self.takes(options) {
            return;
        }
        if options.offset < 0 {
            let most = usize::try_from(options.offset.unsigned_abs()).unwrap_or(usize::MAX);
            let surplus = (self.kept.len() + 1).saturating_sub(most);
            self.kept.drain(..surplus.min(self.kept.len()));
        }
        if statement.is_hidden.get() {
            self.kept.push_back(Arc::new(KeptTrace {
                query: String::new(),
                trace: String::new(),
                missing_bytes: 0,
                is_hidden: true,
            }));
            return;
        }
        let used: u64 = self.kept.iter().map(|kept| kept.bytes()).sum();
        let mut left =
            usize::try_from(options.bytes_max.saturating_sub(used)).unwrap_or(usize::MAX);
        let text = &statement.text;
        let query = text[..text.floor_char_boundary(left.min(text.len()))].to_owned();
        left -= query.len();
        let (trace, missing) = statement.trace.bounded_text(options.layout, left);
        let missing_bytes = text.len() - query.len() + missing;
        self.kept.push_back(Arc::new(KeptTrace {
            query,
            trace,
            missing_bytes,
            is_hidden: false,
        }));
    }

    /// The traces that are shown.
    pub(crate) fn shown(&self, options: &TraceOptions) -> impl Iterator<Item = &Arc<KeptTrace>> {
        let most = usize::try_from(options.limit).unwrap_or(usize::MAX);
        self.kept.iter().take(most)
    }
}

/// The trace of the running statement.
#[derive(Debug)]
pub(crate) struct StatementTrace {
    text: Arc<str>,
    pub(crate) trace: Trace,
    /// Whether the user may not see what is below a view.
    is_hidden: Cell<bool>,
    /// Whether the statement shows traces, and so records none.
    is_discarded: Cell<bool>,
    /// Whether its plan is shown, and not run.
    is_only_explained: Cell<bool>,
}

impl StatementTrace {
    /// The trace of a statement with this text.
    pub(crate) fn new(text: Arc<str>, trace: Trace) -> Self {
        Self {
            text,
            trace,
            is_hidden: Cell::new(false),
            is_discarded: Cell::new(false),
            is_only_explained: Cell::new(false),
        }
    }

    pub(crate) fn hide(&self) {
        self.is_hidden.set(true);
    }

    pub(crate) fn discard(&self) {
        self.is_discarded.set(true);
    }

    pub(crate) fn is_only_explained(&self) {
        self.is_only_explained.set(true);
    }

    /// Ends the trace, with the temporary tables that the statement made; returns whether it is to be kept.
    pub(super) fn end(&self, has_failed: bool, tables: &[RegistryEntry]) -> bool {
        if self.is_discarded.get() {
            return false;
        }
        if !has_failed || !tables.is_empty() {
            let tables: Vec<ExecutedTable> = tables.iter().map(executed).collect();
            note_executed(&self.trace, !self.is_only_explained.get(), &tables);
        }
        true
    }
}

fn executed(entry: &RegistryEntry) -> ExecutedTable {
    ExecutedTable {
        purpose: entry.purpose.name(),
        cause: entry.cause.to_string(),
        measured: measured(entry),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Measurements of a temporary table that is gone.
pub(crate) fn measured(entry: &RegistryEntry) -> MeasuredTable {
    MeasuredTable {
        engine: entry.engine,
        tables: entry.tables,
        rows: if entry.groups > 0 {
            entry.groups
        } else {
            entry.rows
        },
        memory_peak: entry.memory_peak,
        disk_peak: entry.disk_peak,
        bytes_written: entry.bytes_written,
        bytes_read: entry.bytes_read,
        writing: milliseconds(entry.time_writing),
        reading: milliseconds(entry.time_reading),
        partitions: entry.partitions,
        limit: entry.limit.map(|limit| MemoryLimit {
            setting: limit.setting.to_owned(),
            bytes: limit.bytes,
        }),
        overflowed: entry.overflowed,
        exchanged: (entry.purpose == Purpose::Exchange)
            .then_some((entry.bytes_exchanged, entry.executors)),
    }
}

#[cfg(test)]
mod tests {
    use mayfly_plan::{Trace, TraceFeatures, TraceLayout};

    use super::{SessionTraces, StatementTrace};
    use crate::statement_options::TraceOptions;

    fn statement(text: &str) -> StatementTrace {
        let features = TraceFeatures {
            greedy_search: true,
            range_optimizer: true,
        };
        StatementTrace::new(text.into(), Trace::new(features, Vec::new()))
    }

    fn options(offset: i64, limit: u64) -> TraceOptions {
        TraceOptions {
            is_on: true,
            layout: TraceLayout {
                one_line: true,
                end_markers: false,
            },
            features: TraceFeatures {
                greedy_search: true,
                range_optimizer: true,
            },
            offset,
            limit,
            bytes_max: 1 << 20,
        }
    }

    fn shown(options: &TraceOptions) -> Vec<String> {
        let mut traces = SessionTraces::default();
        for text in ["1", "2", "3", "4", "5", "6"] {
            traces.add(&statement(text), options);
        }
        let shown = traces.shown(options);
        shown.map(|trace| trace.query.clone()).collect()
    }

    /// The examples of the manual, "Tuning Trace Purging".
    #[test]
    fn offset_and_limit_choose_among_the_traces() {
        assert_eq!(shown(&options(-1, 1)), ["6"]);
        assert_eq!(shown(&options(-2, 1)), ["5"]);
        assert_eq!(shown(&options(-5, 5)), ["2", "3", "4", "5", "6"]);
        assert_eq!(shown(&options(0, 5)), ["1", "2", "3", "4", "5"]);
        assert_eq!(shown(&options(2, 2)), ["3", "4"]);
        assert_eq!(shown(&options(-1, 0)), [""; 0]);
    }

    #[test]
    fn traces_together_take_no_more_than_they_may() {
        let options = TraceOptions {
            bytes_max: 20,
            ..options(-2, 2)
        };
        let mut traces = SessionTraces::default();
        traces.add(&statement("SELECT 1"), &options);
        traces.add(&statement("SELECT 2"), &options);
        // {"steps": []}: 13 bytes
        let kept: Vec<_> = traces
            .shown(&options)
            .map(|kept| (kept.query.as_str(), kept.trace.as_str(), kept.missing_bytes))
            .collect();
        assert_eq!(kept, [("SELECT 1", r#"{"steps": []"#, 1), ("", "", 8 + 13)]);
    }

    #[test]
    fn what_may_not_be_seen_is_empty() {
        let mut traces = SessionTraces::default();
        let statement = statement("SELECT 1");
        statement.hide();
        traces.add(&statement, &options(-1, 1));
        let options = options(-1, 1);
        let mut shown = traces.shown(&options);
        let kept = shown.next().map(|kept| (kept.query.len(), kept.is_hidden));
        assert_eq!(kept, Some((0, true)));
    }
}
