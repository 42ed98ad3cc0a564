//! What the statements of one digest did, all together.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mayfly_memory::Reservation;
use parking_lot::Mutex;

use crate::result::StatementSummary;

macro_rules! sums {
    ($($name:ident: $documentation:literal;)*) => {
        /// What is added up of all statements, as it is now.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct DigestSums {
            $(#[doc = $documentation] pub(crate) $name: u64,)*
        }

        #[derive(Debug, Default)]
        struct AtomicSums {
            $($name: AtomicU64,)*
        }

        impl AtomicSums {
            fn get(&self) -> DigestSums {
                DigestSums { $($name: self.$name.load(Ordering::Relaxed),)* }
            }

            fn clear(&self) {
                $(self.$name.store(0, Ordering::Relaxed);)*
            }
        }
    };
}

sums! {
    count: "Statements that have ended.";
    nanoseconds: "The time that they took.";
    nanoseconds_locked: "The time of it that they waited for locks.";
    nanoseconds_most: "The longest time.";
    errors: "Those that ended with an error.";
    warnings: "Warnings, notes and errors that they raised.";
    rows_affected: "Rows that they changed.";
    rows_sent: "Rows that they gave.";
    rows_examined: "Rows that they read.";
    created_tmp_tables: "Internal temporary tables.";
    created_tmp_disk_tables: "Those that went to disk.";
    hit_tmp_table_size: "Those that went to disk at tmp_table_size.";
    hit_max_ram: "Those that went to disk at temptable_max_ram.";
    tmp_bytes: "The most memory of each statement's temporary tables.";
    tmp_bytes_most: "The most memory that the temporary tables of one statement held.";
    tmp_bytes_written: "Bytes that went to temporary files.";
    tmp_disk_bytes_most: "The most bytes in temporary files of one statement.";
    select_full_join: "Joins without an index.";
    select_full_range_join: "Joins that read ranges of a later table.";
    select_range: "Those that read ranges of their first table.";
    select_scan: "Those that scan their first table.";
    sort_merge_passes: "Merges of sorted runs.";
    sort_range: "Sorts over ranges.";
    sort_rows: "Rows that were sorted.";
    sort_scan: "Sorts over scans.";
    no_index_used: "Those that read a table without an index.";
}

/// Buckets of times: each power of two of nanoseconds is in so many parts.
const PARTS: usize = 8;
const PARTS_BITS: u32 = PARTS.trailing_zeros();
/// Powers of two that are told apart: up to about 18 minutes.
const POWERS: usize = 40;

/// How many statements took about how long.
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

    /// The least time above all of a bucket.
    fn upper(bucket: usize) -> u64 {
        let (power, part) = ((bucket / PARTS) as u32, (bucket % PARTS) as u128 + 1);
        let upper = (1_u128 << power) + (part << power).div_ceil(PARTS as u128);
        u64::try_from(upper).unwrap_or(u64::MAX)
    }

    /// The time that a share of all statements did not exceed.
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

/// The statement that stands for all of its digest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    pub(crate) text: Option<Arc<str>>,
    /// Microseconds since 1970 UTC.
    pub(crate) seen: i64,
    pub(crate) elapsed: Duration,
}

/// A sample is replaced by any statement once it is so old: `performance_schema_max_digest_sample_age`.
const SAMPLE_AGE_MAX: i64 = 60_000_000;

/// See the module.
#[derive(Debug)]
pub(crate) struct DigestSummary {
    pub(crate) database: Option<Arc<str>>,
    /// None: of all statements beyond `performance_schema_digests_size`.
    pub(crate) text: Option<Arc<str>>,
    hash: OnceLock<String>,
    sums: AtomicSums,
    nanoseconds_least: AtomicU64,
    histogram: Histogram,
    /// Microseconds since 1970 UTC.
    first_seen: AtomicI64,
    last_seen: AtomicI64,
    sample: Mutex<Sample>,
    /// Nanoseconds and age of the sample, to see without its lock whether it stays.
    sample_nanoseconds: AtomicU64,
    sample_seen: AtomicI64,
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
            sums: AtomicSums::default(),
            nanoseconds_least: AtomicU64::new(u64::MAX),
            histogram: Histogram([const { AtomicU32::new(0) }; PARTS * POWERS]),
            first_seen: AtomicI64::new(0),
            last_seen: AtomicI64::new(0),
            sample: Mutex::default(),
            sample_nanoseconds: AtomicU64::new(0),
            sample_seen: AtomicI64::new(0),
            _held: held,
        }
    }

    /// The digest: 64 hexadecimal digits.
    pub(crate) fn hash(&self) -> Option<&str> {
        let text = self.text.as_ref()?;
        Some(self.hash.get_or_init(|| mayfly_syntax::digest_hash(text)))
    }

    /// How many statements were counted.
    pub(crate) fn count(&self) -> u64 {
        self.sums.count.load(Ordering::Relaxed)
    }

    /// What is added up.
    pub(crate) fn sums(&self) -> DigestSums {
        self.sums.get()
    }

    /// The shortest time.
    pub(crate) fn least(&self) -> Duration {
        match self.nanoseconds_least.load(Ordering::Relaxed) {
            u64::MAX => Duration::ZERO,
            least => Duration::from_nanos(least),
        }
    }

    /// The time that a share of all statements did not exceed, give or take a part of eight.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let most = self.sums.nanoseconds_most.load(Ordering::Relaxed);
        Duration::from_nanos(self.histogram.quantile(share).min(most))
    }

    /// When the first and the last statement ended: microseconds since 1970 UTC.
    pub(crate) fn seen(&self) -> (i64, i64) {
        let get = |seen: &AtomicI64| seen.load(Ordering::Relaxed);
        (get(&self.first_seen), get(&self.last_seen))
    }

    /// A statement of the digest.
    pub(crate) fn sample(&self) -> Sample {
        self.sample.lock().clone()
    }

    /// Counts a statement that began at `began_at`, in microseconds since 1970 UTC.
    pub(crate) fn add(
        &self,
        summary: &StatementSummary,
        has_failed: bool,
        began_at: i64,
        text: &Arc<str>,
    ) {
        let sums = &self.sums;
        let nanoseconds = u64::try_from(summary.elapsed.as_nanos()).unwrap_or(u64::MAX);
        let locked = u64::try_from(summary.lock_time.as_nanos()).unwrap_or(u64::MAX);
        sums.count.fetch_add(1, Ordering::Relaxed);
        for (sum, amount) in [
            (&sums.nanoseconds, nanoseconds),
            (&sums.nanoseconds_locked, locked),
            (&sums.errors, u64::from(has_failed)),
            (&sums.warnings, summary.warnings),
            (&sums.rows_affected, summary.rows_affected),
            (&sums.rows_sent, summary.rows_sent),
            (&sums.rows_examined, summary.rows_examined),
        ] {
            add(sum, amount);
        }
        if summary.has_worked {
            for (sum, amount) in [
                (&sums.created_tmp_tables, summary.temporary_tables),
                (&sums.created_tmp_disk_tables, summary.disk_tables),
                (&sums.hit_tmp_table_size, summary.hit_tmp_table_size),
                (&sums.hit_max_ram, summary.hit_max_ram),
                (&sums.tmp_bytes, summary.memory_peak),
                (&sums.tmp_bytes_written, summary.bytes_overflowed),
                (&sums.select_full_join, summary.select_full_join),
                (&sums.select_full_range_join, summary.select_full_range_join),
                (&sums.select_range, summary.select_range),
                (&sums.select_scan, summary.select_scan),
                (&sums.sort_merge_passes, summary.sort_merge_passes),
                (&sums.sort_range, summary.sort_range),
                (&sums.sort_rows, summary.sort_rows),
                (&sums.sort_scan, summary.sort_scan),
                (&sums.no_index_used, u64::from(summary.no_index_used)),
            ] {
                add(sum, amount);
            }
            raise(&sums.tmp_bytes_most, summary.memory_peak);
            raise(&sums.tmp_disk_bytes_most, summary.disk_peak);
        }
        raise(&sums.nanoseconds_most, nanoseconds);
        if nanoseconds < self.nanoseconds_least.load(Ordering::Relaxed) {
            self.nanoseconds_least
                .fetch_min(nanoseconds, Ordering::Relaxed);
        }
        self.histogram.0[Histogram::bucket(nanoseconds)].fetch_add(1, Ordering::Relaxed);
        let ended_at = began_at + i64::try_from(summary.elapsed.as_micros()).unwrap_or(0);
        if self.first_seen.load(Ordering::Relaxed) == 0 {
            self.first_seen.store(ended_at, Ordering::Relaxed);
        }
        self.last_seen.store(ended_at, Ordering::Relaxed);
        let is_longer = nanoseconds > self.sample_nanoseconds.load(Ordering::Relaxed);
        let age = ended_at.saturating_sub(self.sample_seen.load(Ordering::Relaxed));
        if is_longer || age > SAMPLE_AGE_MAX {
            self.sample_nanoseconds
                .store(nanoseconds, Ordering::Relaxed);
            self.sample_seen.store(ended_at, Ordering::Relaxed);
            *self.sample.lock() = Sample {
                text: Some(Arc::clone(text)),
                seen: ended_at,
                elapsed: summary.elapsed,
            };
        }
    }

    pub(super) fn clear(&self) {
        self.sums.clear();
        self.nanoseconds_least.store(u64::MAX, Ordering::Relaxed);
        for count in &self.histogram.0 {
            count.store(0, Ordering::Relaxed);
        }
        self.first_seen.store(0, Ordering::Relaxed);
        self.last_seen.store(0, Ordering::Relaxed);
        *self.sample.lock() = Sample::default();
        self.sample_nanoseconds.store(0, Ordering::Relaxed);
        self.sample_seen.store(0, Ordering::Relaxed);
    }
}

fn add(sum: &AtomicU64, amount: u64) {
    if amount > 0 {
        sum.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Other threads seldom raise what is the most already: it is read before it is written.
fn raise(most: &AtomicU64, value: u64) {
    if value > most.load(Ordering::Relaxed) {
        most.fetch_max(value, Ordering::Relaxed);
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
