//! The exchanges of a running job, as temporary tables that are seen: one for each fragment, with what its runs have sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use mayfly_memory::sync::lock;
use mayfly_offload::{Figures, Job, JobObserver};
use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{ExchangeFigures, ExchangeRecord};

/// Exchanges of a job, and figures of its runs.
#[derive(Default)]
pub(super) struct Exchanges {
    /// Records by fragment; none before the job starts and after its end.
    records: Mutex<Vec<ExchangeRecord>>,
    /// The last figures of each run, by fragment and partition.
    runs: Mutex<BTreeMap<(usize, usize), Figures>>,
}

impl Exchanges {
    /// Registers the exchanges of a job that starts, of `engine` and with `partitions`.
    pub(super) fn start(
        &self,
        job: &Job,
        engine: &'static str,
        partitions: usize,
        context: &TempTableContext,
    ) {
        lock(&self.runs).clear();
        let record = |fragment| {
            let cause = job.exchange_text(fragment, partitions).into();
            let operator = job.operator_of(fragment);
            let receivers = job.receivers(fragment, partitions) as u64;
            ExchangeRecord::new(context, cause, operator, engine, receivers)
        };
        *lock(&self.records) = (0..job.fragments.len()).map(record).collect();
    }

    /// Removes the exchanges from the living temporary tables.
    pub(super) fn end(&self) {
        lock(&self.records).clear();
    }

    /// What each of the `fragments` stages has done, as texts.
    pub(super) fn stages(&self, fragments: usize) -> Vec<String> {
        let runs = lock(&self.runs);
        let stage = |number| {
            let own: Vec<&Figures> = of_fragment(&runs, number).collect();
            let sum = |of: fn(&Figures) -> u64| own.iter().map(|own| of(own)).sum::<u64>();
            let slowest = own.iter().map(|own| own.microseconds).max().unwrap_or(0);
            format!(
                "Stage {number}, {} runs: {} rows in, {} rows out, {} bytes sent, {} bytes spilled, \
                 memory {} bytes, slowest run {:.1} ms",
                own.len(),
                sum(|own| own.rows_in.iter().sum()),
                sum(|own| own.rows_out),
                sum(|own| own.bytes_out),
                sum(|own| own.spilled_bytes),
                own.iter().map(|own| own.memory_peak).max().unwrap_or(0),
                slowest as f64 / 1000.0,
            )
        };
        (0..fragments).map(stage).collect()
    }
}

/// The figures of a fragment's runs.
fn of_fragment(
    runs: &BTreeMap<(usize, usize), Figures>,
    fragment: usize,
) -> impl Iterator<Item = &Figures> {
    runs.range((fragment, 0)..(fragment + 1, 0))
        .map(|(_, figures)| figures)
}

impl JobObserver for Exchanges {
    fn observe(&self, figures: Figures) {
        let fragment = figures.fragment;
        let mut runs = lock(&self.runs);
        runs.insert((fragment, figures.partition), figures);
        let own: Vec<&Figures> = of_fragment(&runs, fragment).collect();
        let sum = |of: fn(&Figures) -> u64| own.iter().map(|own| of(own)).sum();
        let executors: BTreeSet<&str> = own.iter().map(|own| &*own.worker).collect();
        if let Some(record) = lock(&self.records).get(fragment) {
            record.set(ExchangeFigures {
                rows: sum(|own| own.rows_out),
                bytes: sum(|own| own.bytes_out),
                spilled: sum(|own| own.spilled_bytes),
                executors: executors.len() as u64,
            });
        }
    }
}
