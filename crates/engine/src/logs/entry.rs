//! Log entries, as sessions make them.

use std::sync::Arc;

use mayfly_plan::explain::ExplainRow;
use mayfly_types::Level;

use crate::result::StatementSummary;
use crate::status::{Counter, Counters};
use crate::variables::logs::Verbosity;

/// Statement kind, for the slow log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StatementKind {
    #[default]
    Other,
    /// SHOW: it reads relations without indexes.
    Show,
    /// A statement under `log_slow_admin_statements`.
    Administration,
}

/// Entry of an ended statement, or of a client's protocol command.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlowEntry {
    pub(crate) session_id: u64,
    /// `account[user] @ host [address]`
    pub(crate) user_host: Arc<str>,
    pub(crate) database: Option<Arc<str>>,
    /// The statement, without passwords; the name of a command.
    pub(crate) text: Arc<str>,
    /// Whether the entry is a protocol command rather than a statement.
    pub(crate) is_command: bool,
    pub(crate) kind: StatementKind,
    /// Microseconds since 1970 UTC.
    pub(crate) ended_at: i64,
    /// `@@timestamp` of the statement, in seconds.
    pub(crate) timestamp: i64,
    pub(crate) summary: StatementSummary,
    /// Sum of the peak bytes of its temporary tables.
    pub(crate) tmp_table_sizes: u64,
    /// The error that ended it, or 0.
    pub(crate) errno: u16,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
    /// Counters of `log_slow_extra`.
    pub(crate) counts: Option<Box<HandlerCounts>>,
    pub(crate) verbosity: Verbosity,
    pub(crate) explain: Vec<ExplainLine>,
    pub(crate) warnings: Vec<LoggedCondition>,
    /// `log_slow_rate_limit`, for Percona's format.
    pub(crate) rate_limit: u64,
}

impl SlowEntry {
    /// The error number of a statement ended by KILL or a time limit, as Percona and MySQL report it, or 0.
    pub(crate) fn killed(&self) -> u16 {
        const KILLS: [u16; 3] = [1053, 1317, 3024];
        if KILLS.contains(&self.errno) {
            self.errno
        } else {
            0
        }
    }

    /// Start of the statement: microseconds since 1970 UTC.
    pub(crate) fn began_at(&self) -> i64 {
        let elapsed = i64::try_from(self.summary.elapsed.as_micros()).unwrap_or(0);
        self.ended_at.saturating_sub(elapsed)
    }
}

/// A row of EXPLAIN, with measurements of the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExplainLine {
    pub(crate) row: ExplainRow,
    /// Average rows read of the table per execution; `None` where it was never read.
    pub(crate) rows_read: Option<f64>,
    /// Percentage of these rows that pass the conditions.
    pub(crate) filtered: Option<f64>,
}

/// A warning of a statement.
#[derive(Debug, Clone)]
pub(crate) struct LoggedCondition {
    pub(crate) level: Level,
    pub(crate) code: u16,
    pub(crate) message: Arc<str>,
}

/// Counters of `log_slow_extra`, in its order and with its names.
const EXTRA: [(&str, Counter); 14] = [
    ("Read_first", Counter::HandlerReadFirst),
    ("Read_last", Counter::HandlerReadLast),
    ("Read_key", Counter::HandlerReadKey),
    ("Read_next", Counter::HandlerReadNext),
    ("Read_prev", Counter::HandlerReadPrev),
    ("Read_rnd", Counter::HandlerReadRnd),
    ("Read_rnd_next", Counter::HandlerReadRndNext),
    ("Sort_merge_passes", Counter::SortMergePasses),
    ("Sort_range_count", Counter::SortRange),
    ("Sort_rows", Counter::SortRows),
    ("Sort_scan_count", Counter::SortScan),
    ("Created_tmp_disk_tables", Counter::CreatedTmpDiskTables),
    ("Created_tmp_tables", Counter::CreatedTmpTables),
    ("Count_hit_tmp_table_size", Counter::CountHitTmpTableSize),
];

/// The counters of `log_slow_extra`: a session's, or a statement's increments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HandlerCounts([u64; EXTRA.len()]);

impl HandlerCounts {
    /// The session's current counters.
    pub(crate) fn of(counters: &Counters) -> Self {
        Self(EXTRA.map(|(_, counter)| counters.get(counter)))
    }

    /// The increments since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut raised = *self;
        for (count, before) in raised.0.iter_mut().zip(before.0) {
            *count = count.wrapping_sub(before);
        }
        raised
    }

    /// The names in the log, and the values.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = EXTRA.iter().map(|(name, _)| *name);
        names.zip(self.0)
    }
}

/// Entry of the general log: a client's command.
#[derive(Debug, Clone)]
pub(crate) struct GeneralEntry<'a> {
    /// Microseconds since 1970 UTC.
    pub(crate) at: i64,
    pub(crate) session_id: u64,
    pub(crate) user_host: Arc<str>,
    /// `Query`, `Connect` and the like.
    pub(crate) command: &'a str,
    pub(crate) argument: &'a str,
}
