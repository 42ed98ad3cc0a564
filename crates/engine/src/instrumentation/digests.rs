//! Statement summaries by digest: performance_schema's `events_statements_summary_by_digest`.
//!
//! At most `performance_schema_digests_size` digests have summaries. All others are counted together, under no
//! digest.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mayfly_memory::{Budget, BudgetKind};
use mayfly_syntax::ParseOptions;
use parking_lot::{Mutex, RwLock};
use xxhash_rust::xxh3::Xxh3;

use super::digest_summary::{DigestSummary, TimeBucket};

/// Bytes of a summary besides its texts.
const SUMMARY_BYTES: u64 = size_of::<DigestSummary>() as u64 + 256;

/// Statement summaries by digest, at most `size` of them.
#[derive(Debug)]
pub(crate) struct Digests {
    size: usize,
    memory: Budget,
    by_hash: RwLock<HashMap<u64, Arc<DigestSummary>>>,
    others: Arc<DigestSummary>,
    /// Histogram of statements of removed digests, minus the statements that were cleared: it corrects the global
    /// histogram.
    times_before: Mutex<BTreeMap<u64, i64>>,
}

impl Digests {
    /// Summaries of at most `size` digests and `bytes` bytes.
    pub(super) fn new(size: usize, bytes: u64) -> Self {
        let setting = "performance_schema_digests_size";
        let memory = Budget::root(BudgetKind::Memory, setting, bytes);
        Self {
            size,
            others: Arc::new(DigestSummary::new(None, None, memory.reservation())),
            memory,
            by_hash: RwLock::default(),
            times_before: Mutex::default(),
        }
    }

    /// The summary of a statement's digest in a database.
    pub(crate) fn of(
        &self,
        database: Option<&Arc<str>>,
        sql: &str,
        options: &ParseOptions,
    ) -> Arc<DigestSummary> {
        let text = mayfly_syntax::digest_text(sql, options);
        let mut hasher = Xxh3::new();
        hasher.update(database.map_or(&[][..], |name| name.as_bytes()));
        hasher.update(&[0]);
        hasher.update(text.as_bytes());
        let hash = hasher.digest();
        if let Some(known) = self.by_hash.read().get(&hash) {
            return Arc::clone(known);
        }
        let mut by_hash = self.by_hash.write();
        if let Some(known) = by_hash.get(&hash) {
            return Arc::clone(known);
        }
        if by_hash.len() >= self.size {
            return Arc::clone(&self.others);
        }
        let bytes = SUMMARY_BYTES + 2 * text.len() as u64;
        let Ok(held) = self.memory.reserve(bytes) else {
            return Arc::clone(&self.others);
        };
        let summary = Arc::new(DigestSummary::new(
            database.cloned(),
            Some(Arc::from(text)),
            held,
        ));
        by_hash.insert(hash, Arc::clone(&summary));
        summary
    }

    /// The memory budget of the summaries.
    pub(crate) fn memory(&self) -> &Budget {
        &self.memory
    }

    /// All summaries with at least one statement.
    pub(crate) fn all(&self) -> Vec<Arc<DigestSummary>> {
        let by_hash = self.by_hash.read();
        let all = by_hash.values().chain([&self.others]);
        all.filter(|summary| summary.count() > 0).cloned().collect()
    }

    /// Clears the summaries (TRUNCATE). Cached statements keep references to their summaries, so these stay.
    pub(crate) fn clear(&self) {
        self.keep_times(1);
        let by_hash = self.by_hash.read();
        by_hash.values().for_each(|summary| summary.clear());
        self.others.clear();
    }

    /// Clears the histogram of each digest.
    pub(crate) fn clear_histograms(&self) {
        self.keep_times(1);
        let by_hash = self.by_hash.read();
        by_hash
            .values()
            .for_each(|summary| summary.clear_histogram());
        self.others.clear_histogram();
    }

    /// Clears the global histogram.
    pub(crate) fn clear_times(&self) {
        self.times_before.lock().clear();
        self.keep_times(-1);
    }

    fn keep_times(&self, sign: i64) {
        let counted = self.counted_times();
        let mut before = self.times_before.lock();
        for bucket in counted {
            let kept = before.entry(bucket.number).or_default();
            *kept += sign * i64::try_from(bucket.count).unwrap_or(0);
        }
    }

    /// The histogram of the statements that the digests count now.
    fn counted_times(&self) -> Vec<TimeBucket> {
        let mut all: Vec<TimeBucket> = self.others.buckets().collect();
        for summary in self.by_hash.read().values() {
            for (sum, bucket) in all.iter_mut().zip(summary.buckets()) {
                sum.count += bucket.count;
            }
        }
        all
    }

    /// The global histogram.
    pub(crate) fn times(&self) -> Vec<TimeBucket> {
        let mut all = self.counted_times();
        let before = self.times_before.lock();
        for bucket in &mut all {
            let kept = before.get(&bucket.number).copied().unwrap_or(0);
            bucket.count = bucket.count.saturating_add_signed(kept);
        }
        all
    }
}
