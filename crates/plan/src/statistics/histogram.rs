//! Statistics of a column from a histogram that ANALYZE TABLE … UPDATE HISTOGRAM has made.

use super::{Bucket, ColumnStatistics, Common, Point};

/// A bucket of adjacent values of a histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramBucket {
    /// Smallest value.
    pub lower: Point,
    /// Largest value.
    pub upper: Point,
    /// Fraction of all rows.
    pub fraction: f64,
    /// Number of distinct values.
    pub distinct: f64,
}

impl ColumnStatistics {
    /// Statistics from the histogram of a table of `rows` rows; the buckets are in the order of their values.
    pub fn of_histogram(rows: u64, null_fraction: f64, buckets: Vec<HistogramBucket>) -> Self {
        let distinct = buckets.iter().map(|bucket| bucket.distinct).sum();
        let mut statistics = Self {
            rows: rows as f64,
            null_fraction,
            distinct,
            average_bytes: 0.0,
            common: Vec::new(),
            buckets: Vec::new(),
            is_whole: false,
            sizes: Vec::new(),
            examples: None,
        };
        for bucket in buckets {
            let HistogramBucket {
                lower,
                upper,
                fraction,
                distinct,
            } = bucket;
            if distinct <= 1.0 {
                statistics.common.push(Common {
                    point: lower,
                    fraction,
                });
            } else {
                statistics.buckets.push(Bucket {
                    lower,
                    upper,
                    fraction,
                    distinct,
                });
            }
        }
        statistics
    }
}
