//! Sample of the first rows of a grouping, from which the number of groups is estimated.
//!
//! The values that occur once or twice in the sample estimate the number of unseen ones: with `once` and `twice` of
//! them, at least once² / (2 · twice) (Chao, Nonparametric Estimation of the Number of Classes in a Population, 1984).

use mayfly_memory::StableRanges;
use mayfly_types::Batch;

use crate::rows::{held_bytes, with_own_strings};

/// Number of rows of a complete sample.
const ROWS: usize = 32 * 1024;
/// Number of bytes of a complete sample.
const BYTES: u64 = 4 << 20;

/// Rows that are grouped but may have to be partitioned instead.
#[derive(Default)]
pub(super) struct Sample {
    batches: Vec<Batch>,
    rows: usize,
    bytes: u64,
    /// Occurrences of each group, up to 3.
    met: Vec<u8>,
}

impl Sample {
    /// Keeps a batch.
    pub(super) fn keep(&mut self, batch: &Batch, stable: &StableRanges) {
        let batch = with_own_strings(batch.clone(), stable);
        self.bytes += held_bytes(&batch, stable);
        self.rows += batch.row_count();
        self.batches.push(batch);
    }

    /// Bytes of memory of the sample.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts rows of the batch that was kept last.
    pub(super) fn count(&mut self, ids: &[u32], groups: usize) {
        self.met.resize(groups, 0);
        for id in ids {
            let met = &mut self.met[*id as usize];
            *met = 3.min(*met + 1);
        }
    }

    /// Whether the sample is large enough to decide.
    pub(super) fn is_complete(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// Number of rows kept.
    pub(super) fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// Estimated number of groups among all rows.
    pub(super) fn expected_groups(&self) -> u64 {
        let met = |times| self.met.iter().filter(|met| **met == times).count() as u64;
        let (once, twice) = (met(1), met(2));
        // The bias-corrected form, which stays finite without any value that occurs twice.
        let unseen = once * once.saturating_sub(1) / (2 * (twice + 1));
        self.met.len() as u64 + unseen
    }

    /// Rows kept.
    pub(super) fn into_batches(self) -> Vec<Batch> {
        self.batches
    }
}

#[cfg(test)]
mod tests {
    use super::Sample;

    /// A sample of rows whose values are drawn evenly from `values` values.
    fn sample(rows: u32, values: u32) -> Sample {
        let mut numbers = std::collections::HashMap::new();
        let mut sample = Sample::default();
        for row in 0..rows {
            let spread = u64::from(row).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            let value = (spread * u64::from(values)) >> 32;
            let next = numbers.len() as u32;
            let id = *numbers.entry(value).or_insert(next);
            sample.count(&[id], numbers.len());
        }
        sample
    }

    #[test]
    fn expectations() {
        assert_eq!(Sample::default().expected_groups(), 0);
        assert_eq!(sample(1000, 1).expected_groups(), 1);
        let few = sample(32 << 10, 500).expected_groups();
        assert!((450..=550).contains(&few), "{few}");
        // Every row is a group of its own: the estimate has no upper bound.
        let mut unique = Sample::default();
        let ids: Vec<u32> = (0..32 << 10).collect();
        unique.count(&ids, ids.len());
        assert!(unique.expected_groups() > 100_000_000);
    }
}
