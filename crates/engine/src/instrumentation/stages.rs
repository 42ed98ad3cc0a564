//! Stages of ended statements: performance_schema's `events_stages_…`.

use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_types::Stage;
use mayfly_types::stage::StageSpan;

/// Event of an ended stage.
#[derive(Debug, Clone)]
pub(crate) struct StageEvent {
    pub(crate) session_id: u64,
    /// The number of its statement in its session.
    pub(crate) statement: u64,
    pub(crate) stage: Stage,
    /// Picoseconds since the engine was started.
    pub(crate) timer_start: u64,
    /// Picoseconds.
    pub(crate) timer_wait: u64,
}

impl Default for StageEvent {
    fn default() -> Self {
        Self {
            session_id: 0,
            statement: 0,
            stage: Stage::Starting,
            timer_start: 0,
            timer_wait: 0,
        }
    }
}

/// Totals of a stage.
#[derive(Debug, Default)]
struct StageTotals {
    count: AtomicU64,
    nanoseconds: AtomicU64,
    nanoseconds_most: AtomicU64,
    /// The complement of the least time.
    nanoseconds_least: AtomicU64,
}

/// Snapshot of a stage's totals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StageSums {
    pub(crate) count: u64,
    pub(crate) nanoseconds: u64,
    pub(crate) nanoseconds_most: u64,
    pub(crate) nanoseconds_least: u64,
}

/// Totals of all stages.
#[derive(Debug)]
pub(crate) struct StageSummary([StageTotals; Stage::ALL.len()]);

impl Default for StageSummary {
    fn default() -> Self {
        Self(std::array::from_fn(|_| StageTotals::default()))
    }
}

impl StageSummary {
    /// Counts an ended stage.
    pub(crate) fn add(&self, span: &StageSpan) {
        let nanoseconds = u64::try_from(span.duration.as_nanos()).unwrap_or(u64::MAX);
        let totals = &self.0[span.stage as usize];
        totals.count.fetch_add(1, Ordering::Relaxed);
        totals.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        let (most, least) = (&totals.nanoseconds_most, &totals.nanoseconds_least);
        most.fetch_max(nanoseconds, Ordering::Relaxed);
        least.fetch_max(!nanoseconds, Ordering::Relaxed);
    }

    /// Every stage with its totals.
    pub(crate) fn get(&self) -> impl Iterator<Item = (Stage, StageSums)> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stage::ALL.iter().zip(&self.0).map(move |(stage, totals)| {
            let count = get(&totals.count);
            let sums = StageSums {
                count,
                nanoseconds: get(&totals.nanoseconds),
                nanoseconds_most: get(&totals.nanoseconds_most),
                nanoseconds_least: match count {
                    0 => 0,
                    _ => !get(&totals.nanoseconds_least),
                },
            };
            (*stage, sums)
        })
    }

    /// Clears all totals (TRUNCATE).
    pub(crate) fn clear(&self) {
        for totals in &self.0 {
            let StageTotals {
                count,
                nanoseconds,
                nanoseconds_most,
                nanoseconds_least,
            } = totals;
            for counter in [count, nanoseconds, nanoseconds_most, nanoseconds_least] {
                counter.store(0, Ordering::Relaxed);
            }
        }
    }
}
