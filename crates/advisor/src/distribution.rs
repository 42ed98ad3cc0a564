//! Distribution of run times in little memory, and its percentiles.

use std::collections::BTreeMap;

use serde::Serialize;

/// Histogram of times. Each bucket is 5 % wider than the one before, so that a percentile is exact to a few percent
/// however many times there are: it is the average of its bucket, and exact where all times of the bucket are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distribution {
    /// The number and the sum of the times of each bucket.
    buckets: BTreeMap<i32, (u64, f64)>,
    count: u64,
}

/// Percentiles of the run times, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// The median; not known from a server's own summary.
    pub median: Option<f64>,
    /// 95 %
    pub p95: f64,
    /// 99 %
    pub p99: f64,
}

impl Distribution {
    /// Adds a time in seconds.
    pub(crate) fn add(&mut self, seconds: f64) {
        // Servers write microseconds.
        let bucket = (seconds.max(1e-7).ln() / 1.05_f64.ln()).floor() as i32;
        let (count, sum) = self.buckets.entry(bucket).or_default();
        *count += 1;
        *sum += seconds;
        self.count += 1;
    }

    /// The quantile of a share, 0 to 1, by the nearest rank.
    fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut below = 0;
        for (count, sum) in self.buckets.values() {
            below += count;
            if below >= rank {
                return Some(sum / *count as f64);
            }
        }
        None
    }

    /// The percentiles, if there are times.
    pub(crate) fn percentiles(&self) -> Option<Percentiles> {
        Some(Percentiles {
            median: Some(self.quantile(0.5)?),
            p95: self.quantile(0.95)?,
            p99: self.quantile(0.99)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_the_nearest_rank() {
        let mut times = Distribution::default();
        assert_eq!(times.percentiles(), None);
        for hundredth in 1..=100 {
            times.add(f64::from(hundredth));
        }
        let found = times.percentiles().expect("there are times");
        for (value, expected) in [
            (found.median.expect("it is known"), 50.0),
            (found.p95, 95.0),
            (found.p99, 99.0),
        ] {
            assert!((value / expected - 1.0_f64).abs() < 0.03, "{value}");
        }
        let mut few = Distribution::default();
        for seconds in [0.0, 0.25, 4.0] {
            few.add(seconds);
        }
        let found = few.percentiles().expect("there are times");
        assert_eq!((found.median, found.p95, found.p99), (Some(0.25), 4.0, 4.0));
    }
}
