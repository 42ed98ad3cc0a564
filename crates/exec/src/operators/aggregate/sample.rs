//! The first rows of a grouping, and how many groups they let expect.
//!
//! Values that stand in the sample only once or twice say how many there are that it has not met:
//! with `once` and `twice` of them, at least once² / (2 · twice) more (Chao, Nonparametric
//! Estimation of the Number of Classes in a Population, 1984).

use mayfly_memory::StableRanges;
use mayfly_types::Batch;

use crate::rows::{held_bytes, with_own_strings};

/// Rows after which a worker decides whether values repeat.
const ROWS: usize = 32 * 1024;
/// Bytes after which it does.
const BYTES: u64 = 4 << 20;

/// Rows that were grouped but may have to go elsewhere.
#[derive(Default)]
pub(super) struct Sample {
    batches: Vec<Batch>,
    rows: usize,
    bytes: u64,
    /// How often each group was met, up to 3.
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

    /// Bytes of memory that it holds.
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

    /// Whether it is large enough to decide.
    pub(super) fn is_complete(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// How many rows were kept.
    pub(super) fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// How many groups are likely among all rows.
    pub(super) fn expected_groups(&self) -> u64 {
        let met = |times| self.met.iter().filter(|met| **met == times).count() as u64;
        let (once, twice) = (met(1), met(2));
        // The form that stays finite without any value that was met twice.
        let unseen = once * once.saturating_sub(1) / (2 * (twice + 1));
        self.met.len() as u64 + unseen
    }

    /// The rows that were kept.
    pub(super) fn into_batches(self) -> Vec<Batch> {
        self.batches
    }
}

#[cfg(test)]
mod tests {
    use super::Sample;

    /// A sample of rows of which the value is taken from `values` ones, evenly.
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
        // Every row is a group of its own: there is no end in sight.
        let mut unique = Sample::default();
        let ids: Vec<u32> = (0..32 << 10).collect();
        unique.count(&ids, ids.len());
        assert!(unique.expected_groups() > 100_000_000);
    }
}
