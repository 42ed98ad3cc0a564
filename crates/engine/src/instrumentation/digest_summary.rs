//! Summaries of the statements with one digest.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mayfly_memory::Reservation;
use parking_lot::Mutex;

use super::sums::{StatementSums, StatementTotals, Together};
use super::time::nanoseconds;
use crate::result::StatementSummary;

/// Number of histogram buckets in each power of two of nanoseconds.
const PARTS: usize = 8;
const PARTS_BITS: u32 = PARTS.trailing_zeros();
/// Number of distinguished powers of two: up to about 18 minutes.
const POWERS: usize = 40;

/// Histogram of statement times.
#[derive(Debug)]
struct Histogram([AtomicU32; PARTS * POWERS]);

impl Histogram {
    fn bucket(nanoseconds: u64) -> usize {
        let Some(power) = nanoseconds.checked_ilog2() else {
            return 0;
        };
        let part = (nanoseconds << (63 - power) << 1) >> (64 - PARTS_BITS);
        (power as usize * PARTS + part as usize).min(PARTS * POWERS - 1)
    }

    /// The exclusive upper bound of a bucket.
    fn upper(bucket: usize) -> u64 {
        let (power, part) = ((bucket / PARTS) as u32, (bucket % PARTS) as u128 + 1);
        let upper = (1_u128 << power) + (part << power).div_ceil(PARTS as u128);
        u64::try_from(upper).unwrap_or(u64::MAX)
    }

    /// All buckets.
    fn buckets(&self) -> impl Iterator<Item = TimeBucket> {
        let buckets = self.0.iter().enumerate();
        buckets.map(|(bucket, count)| TimeBucket {
            number: bucket as u64,
            low: bucket.checked_sub(1).map_or(0, Self::upper),
            high: Self::upper(bucket),
            count: u64::from(count.load(Ordering::Relaxed)),
        })
    }

    /// The quantile of statement times at `share`.
    fn quantile(&self, share: f64) -> u64 {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        let all: u64 = counts.clone().map(u64::from).sum();
        let wanted = (share * all as f64).ceil() as u64;
        let mut below = 0;
        for (bucket, count) in counts.enumerate() {
            below += u64::from(count);
            if count > 0 && below >= wanted {
                return Self::upper(bucket);
            }
        }
        0
    }
}

/// Histogram bucket of statement times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeBucket {
    /// Number of the bucket, from 0.
    pub(crate) number: u64,
    /// Inclusive lower bound in nanoseconds.
    pub(crate) low: u64,
    /// Exclusive upper bound in nanoseconds.
    pub(crate) high: u64,
    /// Number of statements.
    pub(crate) count: u64,
}

/// Sample statement of a digest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    pub(crate) text: Option<Arc<str>>,
    /// When it ended, in nanoseconds since the engine was started; 0 for no statement.
    pub(crate) seen: u64,
    pub(crate) elapsed: Duration,
}

/// Age from which a sample is replaced by any statement: `performance_schema_max_digest_sample_age`.
const SAMPLE_AGE_MAX: u64 = 60_000_000_000;

/// Totals of the statements with one digest.
#[derive(Debug)]
pub(crate) struct DigestSummary {
    pub(crate) database: Option<Arc<str>>,
    /// Digest text; `None` for the statements beyond `performance_schema_digests_size`.
    pub(crate) text: Option<Arc<str>>,
    hash: OnceLock<String>,
    totals: StatementTotals,
    histogram: Histogram,
    /// Nanoseconds since the engine was started; 0 for no statement.
    first_seen: AtomicU64,
    last_seen: AtomicU64,
    sample: Mutex<Sample>,
    /// Time of the sample, and its age, readable without its lock to decide whether it is replaced.
    sample_nanoseconds: AtomicU64,
    sample_seen: AtomicU64,
    _held: Reservation,
}

impl DigestSummary {
    pub(super) fn new(
        database: Option<Arc<str>>,
        text: Option<Arc<str>>,
        held: Reservation,
    ) -> Self {
        Self {
            database,
            text,
            hash: OnceLock::new(),
            totals: StatementTotals::default(),
            histogram: Histogram([const { AtomicU32::new(0) }; PARTS * POWERS]),
            first_seen: AtomicU64::new(0),
            last_seen: AtomicU64::new(0),
            sample: Mutex::default(),
            sample_nanoseconds: AtomicU64::new(0),
            sample_seen: AtomicU64::new(0),
            _held: held,
        }
    }

    /// The digest: 64 hexadecimal digits.
    pub(crate) fn hash(&self) -> Option<&str> {
        let text = self.text.as_ref()?;
        Some(self.hash.get_or_init(|| mayfly_syntax::digest_hash(text)))
    }

    /// Number of statements.
    pub(crate) fn count(&self) -> u64 {
        self.totals.count()
    }

    /// The totals.
    pub(crate) fn sums(&self) -> StatementSums {
        self.totals.get()
    }

    /// The histogram of statement times.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = TimeBucket> {
        self.histogram.buckets()
    }

    /// The quantile of statement times at `share`, to an eighth of a power of two.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let most = self.totals.nanoseconds_most();
        Duration::from_nanos(self.histogram.quantile(share).min(most))
    }

    /// When the first and the last statement ended, in nanoseconds since the engine was started; 0 for none.
    pub(crate) fn seen(&self) -> (u64, u64) {
        let get = |seen: &AtomicU64| seen.load(Ordering::Relaxed);
        (get(&self.first_seen), get(&self.last_seen))
    }

    /// The sample statement.
    pub(crate) fn sample(&self) -> Sample {
        self.sample.lock().clone()
    }

    /// Counts a statement that ended `ended` nanoseconds after the engine was started.
    pub(crate) fn add(
        &self,
        summary: &StatementSummary,
        has_failed: bool,
        ended: u64,
        text: &Arc<str>,
    ) {
        let (nanoseconds, ended) = (nanoseconds(summary.elapsed), ended.max(1));
        self.totals.add::<Together>(summary, has_failed);
        self.histogram.0[Histogram::bucket(nanoseconds)].fetch_add(1, Ordering::Relaxed);
        if self.first_seen.load(Ordering::Relaxed) == 0 {
            self.first_seen.store(ended, Ordering::Relaxed);
        }
        self.last_seen.store(ended, Ordering::Relaxed);
        let is_longer = nanoseconds > self.sample_nanoseconds.load(Ordering::Relaxed);
        let age = ended.saturating_sub(self.sample_seen.load(Ordering::Relaxed));
        if is_longer || age > SAMPLE_AGE_MAX {
            self.sample_nanoseconds
                .store(nanoseconds, Ordering::Relaxed);
            self.sample_seen.store(ended, Ordering::Relaxed);
            *self.sample.lock() = Sample {
                text: Some(Arc::clone(text)),
                seen: ended,
                elapsed: summary.elapsed,
            };
        }
    }

    /// Clears the histogram only.
    pub(super) fn clear_histogram(&self) {
        for count in &self.histogram.0 {
            count.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn clear(&self) {
        self.totals.clear();
        self.clear_histogram();
        self.first_seen.store(0, Ordering::Relaxed);
        self.last_seen.store(0, Ordering::Relaxed);
        *self.sample.lock() = Sample::default();
        self.sample_nanoseconds.store(0, Ordering::Relaxed);
        self.sample_seen.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_below_the_end_of_its_bucket_and_not_by_much() {
        let mut last = 0;
        for nanoseconds in (1..100_000).chain([1 << 30, (1 << 30) + 5, 1_000_000_007]) {
            let bucket = Histogram::bucket(nanoseconds);
            let upper = Histogram::upper(bucket);
            assert!(upper > nanoseconds && upper <= nanoseconds + nanoseconds / 8 + 1);
            assert!(bucket >= last || nanoseconds == 1 << 30);
            last = bucket.min(Histogram::bucket(99_999));
        }
        assert_eq!(Histogram::bucket(0), 0);
        assert_eq!(Histogram::bucket(u64::MAX), PARTS * POWERS - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_times_that_were_counted() {
        let histogram = Histogram([const { AtomicU32::new(0) }; PARTS * POWERS]);
        assert_eq!(histogram.quantile(0.95), 0);
        for time in 1..=1000_u64 {
            let bucket = Histogram::bucket(time * 1000);
            histogram.0[bucket].fetch_add(1, Ordering::Relaxed);
        }
        for (share, exact) in [(0.95, 950_000.0), (0.99, 990_000.0), (0.999, 999_000.0)] {
            let found = histogram.quantile(share) as f64;
            assert!(found >= exact && found <= exact * 1.126, "{share}: {found}");
        }
    }
}
