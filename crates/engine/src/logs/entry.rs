//! What is written to the logs: entries, as sessions make them.

use std::sync::Arc;

use mayfly_plan::explain::ExplainRow;
use mayfly_types::Level;

use crate::result::StatementSummary;
use crate::status::{Counter, Counters};
use crate::variables::logs::Verbosity;

/// What the slow log needs to know of a statement's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StatementKind {
    #[default]
    Other,
    /// SHOW: it reads what has no indexes.
    Show,
    /// One that `log_slow_admin_statements` is about.
    Administration,
}

/// A statement that has ended, or a command of a client that is none.
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
    /// Bytes that its temporary tables held at most, each by itself.
    pub(crate) tmp_table_sizes: u64,
    /// The error that ended it, or 0.
    pub(crate) errno: u16,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
    /// What `log_slow_extra` shows.
    pub(crate) counts: Option<Box<HandlerCounts>>,
    pub(crate) verbosity: Verbosity,
    pub(crate) explain: Vec<ExplainLine>,
    pub(crate) warnings: Vec<LoggedCondition>,
    /// `log_slow_rate_limit`, for Percona's format.
    pub(crate) rate_limit: u64,
}

impl SlowEntry {
    /// Why the statement was ended from outside, as Percona and MySQL tell it: the number of the error that
    /// KILL or a time limit gives, or 0.
    pub(crate) fn killed(&self) -> u16 {
        const KILLS: [u16; 3] = [1053, 1317, 3024];
        if KILLS.contains(&self.errno) {
            self.errno
        } else {
            0
        }
    }

    /// When it began: microseconds since 1970 UTC.
    pub(crate) fn began_at(&self) -> i64 {
        let elapsed = i64::try_from(self.summary.elapsed.as_micros()).unwrap_or(0);
        self.ended_at.saturating_sub(elapsed)
    }
}

/// A row of EXPLAIN, and what was measured when the statement ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExplainLine {
    pub(crate) row: ExplainRow,
    /// Rows that were read of the table each time; none where it was never read.
    pub(crate) rows_read: Option<f64>,
    /// The percentage of them that conditions left.
    pub(crate) filtered: Option<f64>,
}

/// A warning of a statement.
#[derive(Debug, Clone)]
pub(crate) struct LoggedCondition {
    pub(crate) level: Level,
    pub(crate) code: u16,
    pub(crate) message: Arc<str>,
}

/// What `log_slow_extra` shows, in its order and with its names.
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

/// The counters of a session that `log_slow_extra` shows, or by how much a statement raised them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HandlerCounts([u64; EXTRA.len()]);

impl HandlerCounts {
    /// As they are now.
    pub(crate) fn of(counters: &Counters) -> Self {
        Self(EXTRA.map(|(_, counter)| counters.get(counter)))
    }

    /// By how much they were raised since they were these.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut raised = *self;
        for (count, before) in raised.0.iter_mut().zip(before.0) {
            *count = count.wrapping_sub(before);
        }
        raised
    }

    /// Their names in the log, and their values.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = EXTRA.iter().map(|(name, _)| *name);
        names.zip(self.0)
    }
}

/// Something that a client asked for.
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
