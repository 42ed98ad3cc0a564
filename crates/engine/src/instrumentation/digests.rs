//! Summaries of statements by their digests: performance_schema's `events_statements_summary_by_digest`.
//!
//! There are as many as `performance_schema_digests_size` says. What comes after them is counted together,
//! under no digest.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mayfly_memory::{Budget, BudgetKind};
use mayfly_syntax::ParseOptions;
use parking_lot::{Mutex, RwLock};
use xxhash_rust::xxh3::Xxh3;

use super::digest_summary::{DigestSummary, TimeBucket};

/// What a summary takes beside its texts.
const SUMMARY_BYTES: u64 = size_of::<DigestSummary>() as u64 + 256;

/// Statement summaries by digest, at most `size` of them.
#[derive(Debug)]
pub(crate) struct Digests {
    size: usize,
    memory: Budget,
    by_hash: RwLock<HashMap<u64, Arc<DigestSummary>>>,
    others: Arc<DigestSummary>,
    /// How many statements took how long that were counted by digests which have been forgotten; less than
    /// none of those that were forgotten themselves.
    times_before: Mutex<BTreeMap<u64, i64>>,
}

impl Digests {
    /// At most `size`, which take at most `bytes`.
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

    /// The summary of the statements that are like a text in a database.
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

    /// What they take.
    pub(crate) fn memory(&self) -> &Budget {
        &self.memory
    }

    /// All of them that have counted a statement.
    pub(crate) fn all(&self) -> Vec<Arc<DigestSummary>> {
        let by_hash = self.by_hash.read();
        let all = by_hash.values().chain([&self.others]);
        all.filter(|summary| summary.count() > 0).cloned().collect()
    }

    /// Forgets what was counted (TRUNCATE). Statements that are cached go on with the summaries that they
    /// have, so that these stay.
    pub(crate) fn clear(&self) {
        self.keep_times(1);
        let by_hash = self.by_hash.read();
        by_hash.values().for_each(|summary| summary.clear());
        self.others.clear();
    }

    /// Forgets how long statements of each digest took.
    pub(crate) fn clear_histograms(&self) {
        self.keep_times(1);
        let by_hash = self.by_hash.read();
        by_hash
            .values()
            .for_each(|summary| summary.clear_histogram());
        self.others.clear_histogram();
    }

    /// Forgets how long all statements together took.
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

    /// How long the statements took that the digests count now.
    fn counted_times(&self) -> Vec<TimeBucket> {
        let mut all: Vec<TimeBucket> = self.others.buckets().collect();
        for summary in self.by_hash.read().values() {
            for (sum, bucket) in all.iter_mut().zip(summary.buckets()) {
                sum.count += bucket.count;
            }
        }
        all
    }

    /// How long all statements took.
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
