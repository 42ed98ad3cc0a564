//! Instrumentation of statements: one [`StatementEvent`] for each ended statement.
//!
//! A statement is counted in the summary of its digest, and kept in the history of its session and in the global one;
//! performance_schema, `sys`, the slow log and the live page read only these. A statement costs some tens of relaxed
//! additions and no allocation: the digest of a text is computed once for each prepared or cached statement. Totals
//! of sessions, users and hosts are added up when they are read. `setup` decides what is instrumented.

mod accounts;
mod actors;
mod digest_summary;
mod digests;
mod event;
mod history;
mod kinds;
mod setup;
mod stages;
mod sums;
mod time;
mod usage;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

pub(crate) use accounts::{AccountActivity, ConnectedAccounts};
pub(crate) use actors::{Actor, Actors};
pub(crate) use digest_summary::{DigestSummary, TimeBucket};
pub(crate) use digests::Digests;
pub(crate) use event::{StatementError, StatementEvent, StatementIdentity, share};
pub(crate) use history::History;
pub(crate) use kinds::TotalsByKind;
pub(crate) use setup::{CONSUMERS, Consumer, Instrument, Setup, event_name, stage_event_name};
pub(crate) use stages::{StageEvent, StageSummary, StageSums};
pub(crate) use sums::StatementSums;
use time::nanoseconds;
pub(crate) use time::picoseconds;
pub(crate) use usage::measure_usage;

/// Sizes of what is kept: `performance_schema_…` at startup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstrumentationSizes {
    /// `performance_schema`: whether anything is instrumented.
    pub(crate) is_on: bool,
    /// `performance_schema_digests_size`
    pub(crate) digests: usize,
    /// Maximum bytes of digests: a small part of all memory.
    pub(crate) digest_bytes: u64,
    /// `performance_schema_events_statements_history_size`: per session.
    pub(crate) history: usize,
    /// `performance_schema_events_statements_history_long_size`: global.
    pub(crate) history_long: usize,
    /// `performance_schema_events_stages_history_size`: per session.
    pub(crate) stages: usize,
    /// `performance_schema_events_stages_history_long_size`: global.
    pub(crate) stages_long: usize,
    /// `performance_schema_max_sql_text_length`: bytes of a text that an event keeps.
    pub(crate) text_bytes: usize,
}

/// Instrumentation data of the engine.
#[derive(Debug)]
pub(crate) struct Instrumentation {
    pub(crate) sizes: InstrumentationSizes,
    pub(crate) digests: Digests,
    pub(crate) history_long: History<StatementEvent>,
    pub(crate) stages_long: History<StageEvent>,
    pub(crate) stages: StageSummary,
    pub(crate) setup: Setup,
    pub(crate) accounts: ConnectedAccounts,
    pub(crate) actors: Actors,
    started: Instant,
}

impl Instrumentation {
    /// Empty instrumentation data.
    pub(crate) fn new(sizes: InstrumentationSizes) -> Self {
        Self {
            sizes,
            digests: Digests::new(sizes.digests, sizes.digest_bytes),
            history_long: History::new(sizes.history_long),
            stages_long: History::new(sizes.stages_long),
            stages: StageSummary::default(),
            setup: Setup::new(),
            accounts: ConnectedAccounts::default(),
            actors: Actors::default(),
            started: Instant::now(),
        }
    }

    /// Sizes of a session's histories of statements and of stages.
    pub(crate) fn history_sizes(&self) -> (usize, usize) {
        if self.sizes.is_on {
            (self.sizes.history, self.sizes.stages)
        } else {
            (0, 0)
        }
    }

    /// The part of a statement's text that an event keeps.
    #[inline]
    pub(crate) fn kept_text<'t>(&self, text: &'t Arc<str>) -> Cow<'t, Arc<str>> {
        if text.len() <= self.sizes.text_bytes {
            return Cow::Borrowed(text);
        }
        let end = text.floor_char_boundary(self.sizes.text_bytes);
        Cow::Owned(Arc::from(&text[..end]))
    }

    /// Nanoseconds between the start of the engine and `time`.
    pub(crate) fn nanoseconds(&self, time: Instant) -> u64 {
        nanoseconds(time.saturating_duration_since(self.started))
    }

    /// Picoseconds between the start of the engine and `time`, the unit of performance_schema's timers.
    pub(crate) fn timer(&self, time: Instant) -> u64 {
        self.nanoseconds(time).saturating_mul(1000)
    }

    /// The start of the engine, given the present time `now_utc`: both in microseconds since 1970 UTC.
    pub(crate) fn started_utc(&self, now_utc: i64) -> i64 {
        let age = self.nanoseconds(Instant::now()) / 1000;
        now_utc.saturating_sub(i64::try_from(age).unwrap_or(i64::MAX))
    }
}
