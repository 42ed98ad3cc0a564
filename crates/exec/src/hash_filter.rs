//! Bloom filter of the whole keys of a hash join's build side, for probe rows that would be written to a temporary
//! table.
//!
//! Where the build side is larger than the caches or than memory, the probe side is partitioned, too: each of its rows
//! is written once and read once. A row whose key is nowhere in the build side need not be. This is a Bloom filter
//! (Bloom, 1970) over hashes of all key columns together, so that it refuses rows where each column by itself refuses
//! few ([`key_filter`](crate::key_filter)), and rows of keys of any type.
//!
//! A key sets two bits of one word, so that a lookup is one access to memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use mayfly_memory::{Budget, Reservation};
use mayfly_storage::KeyHasher;
use mayfly_types::Batch;
use mayfly_types::selection::filter_batch;

/// Bits of a filter for each expected key.
const BITS_PER_KEY: u64 = 16;
/// Maximum number of words of a filter (8 MiB): a larger one is not quicker than the table.
const WORDS_MAX: u64 = 1 << 20;
/// A filter takes at most 1/16 of free memory.
const MEMORY_SHARE: u64 = 16;
/// Number of tested rows after which the filter is evaluated.
const TRIED_ROWS: u64 = 32 << 10;
/// Minimum refusal: if fewer than one of four rows is refused, the filter costs more than it saves.
const REFUSED_ONE_IN: u64 = 4;

/// A Bloom filter of the keys of a build side. Filled by several workers, then read by several.
pub(crate) struct HashFilter {
    hasher: KeyHasher,
    words: Vec<AtomicU64>,
    asked: AtomicU64,
    refused: AtomicU64,
    is_in_vain: AtomicBool,
    _reservation: Reservation,
}

impl HashFilter {
    /// An empty filter for about `keys` keys, if there is memory. The hasher is that of the build side's table.
    pub(crate) fn new(hasher: KeyHasher, keys: u64, memory: &Budget) -> Option<Self> {
        let wanted = keys.saturating_mul(BITS_PER_KEY) / u64::from(u64::BITS);
        let words = wanted.max(1).checked_next_power_of_two()?;
        let bytes = words * size_of::<u64>() as u64;
        if words > WORDS_MAX || bytes > memory.available() / MEMORY_SHARE {
            return None;
        }
        let mut reservation = memory.reservation();
        reservation.try_grow(bytes).ok()?;
        Some(Self {
            hasher,
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            asked: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            is_in_vain: AtomicBool::new(false),
            _reservation: reservation,
        })
    }

    /// Word of a hash, and its bits in the word.
    #[inline(always)]
    fn place(&self, hash: u64) -> (&AtomicU64, u64) {
        let word = (hash >> 16) as usize & (self.words.len() - 1);
        (
            &self.words[word],
            1 << (hash & 63) | 1 << ((hash >> 6) & 63),
        )
    }

    /// Adds the keys of `rows` rows.
    pub(crate) fn add(&self, keys: &[ArrayRef], rows: usize) {
        let mut hashes = Vec::new();
        self.hasher.hash(keys, rows, &mut hashes);
        for hash in hashes {
            let (word, bits) = self.place(hash);
            if word.load(Ordering::Relaxed) & bits != bits {
                word.fetch_or(bits, Ordering::Relaxed);
            }
        }
    }

    /// Rows of a batch whose keys, given as `keys`, may be in the filter.
    pub(crate) fn kept(&self, keys: &[ArrayRef], batch: Batch) -> Batch {
        if self.is_in_vain.load(Ordering::Relaxed) {
            return batch;
        }
        let rows = batch.row_count();
        let mut hashes = Vec::new();
        self.hasher.hash(keys, rows, &mut hashes);
        let kept = BooleanBuffer::collect_bool(rows, |row| {
            let (word, bits) = self.place(hashes[row]);
            word.load(Ordering::Relaxed) & bits == bits
        });
        let count = kept.count_set_bits();
        let asked = self.asked.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        let refused = (rows - count) as u64;
        let refused = self.refused.fetch_add(refused, Ordering::Relaxed) + refused;
        if asked >= TRIED_ROWS && refused < asked / REFUSED_ONE_IN {
            self.is_in_vain.store(true, Ordering::Relaxed);
        }
        filter_batch(&batch, &kept, count)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use mayfly_memory::BudgetKind;
    use mayfly_storage::{HashFunction, KeyMode};

    use super::*;

    fn filter(keys: u64, memory: &Budget) -> Option<HashFilter> {
        let modes = [KeyMode::Binary, KeyMode::Binary].into_iter();
        HashFilter::new(KeyHasher::new(modes, HashFunction::Standard), keys, memory)
    }

    /// Two key columns of numbers: the second is the first's remainder.
    fn keys(numbers: impl Iterator<Item = i64>) -> (Vec<ArrayRef>, Batch) {
        let numbers: Vec<i64> = numbers.collect();
        let rest = numbers.iter().map(|number| number % 7);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rest)),
            Arc::new(Int64Array::from(numbers)),
        ];
        let rows = columns[0].len();
        (columns.clone(), Batch::new(columns, rows))
    }

    #[test]
    fn keys_that_were_added_are_kept_and_few_others_are() {
        let memory = Budget::unlimited(BudgetKind::Memory);
        let filter = filter(10_000, &memory).expect("a filter");
        let (added, batch) = keys((0..10_000).map(|n| n * 3));
        filter.add(&added, batch.row_count());
        let (asked, batch) = keys(0..30_000);
        let kept = filter.kept(&asked, batch);
        let kept = kept.column(1).as_primitive::<Int64Type>().values().to_vec();
        let added = kept.iter().filter(|n| **n % 3 == 0).count();
        assert_eq!(added, 10_000);
        assert!(kept.len() < 11_500, "{}", kept.len());
    }

    #[test]
    fn a_filter_that_refuses_little_is_asked_no_more() {
        let memory = Budget::unlimited(BudgetKind::Memory);
        let filter = filter(100_000, &memory).expect("a filter");
        let (added, batch) = keys(0..100_000);
        filter.add(&added, batch.row_count());
        let (asked, batch) = keys(0..100_000);
        assert_eq!(filter.kept(&asked, batch).row_count(), 100_000);
        let (asked, batch) = keys(200_000..210_000);
        assert_eq!(filter.kept(&asked, batch).row_count(), 10_000);
    }

    #[test]
    fn no_filter_takes_the_memory_that_the_rows_need() {
        let memory = Budget::root(BudgetKind::Memory, "tmp_table_size", 1 << 20);
        assert!(filter(1_000_000, &memory).is_none());
        assert!(filter(1 << 40, &Budget::unlimited(BudgetKind::Memory)).is_none());
        let small = filter(10_000, &memory).expect("a small filter");
        assert!(memory.available() < 1 << 20);
        drop(small);
        assert_eq!(memory.available(), 1 << 20);
    }
}
