//! Repeated keys of a batch, recognised by their bits: equal numbers, and strings with equal bytes in one buffer or an
//! equal short value.
//!
//! Base tables store strings of few values once a chunk, and short strings are their own views. Then a batch has few
//! distinct keys, and what is computed for a key needs to be computed once for each of them. Bit-equal views of one
//! array are equal strings in every collation.
//!
//! Keys are hashed column by column, looked up by their hashes, and compared column by column with the first row of
//! their number: two keys with one hash end the attempt.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow_array::{Array, ArrayRef};

use crate::values::ArrayValues;

/// Minimum number of rows for the attempt.
const ROWS_MIN: usize = 128;
/// Number of distinct views that need not repeat ...
const DISTINCT_FREE: usize = 512;
/// ... and the number of rows per distinct view, on average, beyond that.
const REPEATS_MIN: usize = 4;
/// Number of batches that are skipped after one without repeats.
const SKIPPED_BATCHES: u32 = 15;

/// Distinct keys of a batch.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// The first row of each key.
    pub(super) first_rows: Vec<u32>,
    /// The number of each row's key.
    pub(super) numbers: Vec<u32>,
    hashes: Vec<u64>,
    seen: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// Direct-mapped cache of recent lookups in front of the map.
    recent: Vec<(u64, u32)>,
    /// Number of batches still to be skipped.
    skip: u32,
    /// Whether the last batch had few keys.
    found: bool,
}

const RECENT_BITS: u32 = 10;

impl Repeats {
    /// Finds the distinct keys; false when they are too many to be of use.
    pub(super) fn find(&mut self, keys: &[ArrayRef], rows: usize) -> bool {
        self.found = self.find_in(keys, rows);
        self.found
    }

    fn find_in(&mut self, keys: &[ArrayRef], rows: usize) -> bool {
        if rows < ROWS_MIN || keys.iter().any(|key| key.null_count() > 0) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let values: Vec<ArrayValues<'_>> = keys.iter().map(ArrayValues::new).collect();
        let is_hashed = |values: &ArrayValues<'_>| {
            matches!(values, ArrayValues::Words(_) | ArrayValues::Bytes(_))
        };
        if !values.iter().all(is_hashed) {
            return false;
        }
        self.hashes.clear();
        self.hashes.resize(rows, 0);
        for values in values {
            let hashes = self.hashes.iter_mut();
            match values {
                ArrayValues::Words(words) => hashes
                    .zip(words)
                    .for_each(|(hash, word)| *hash = mix(*hash ^ word)),
                ArrayValues::Bytes(array) => hashes
                    .zip(array.views().iter())
                    .for_each(|(hash, view)| *hash = mix(*hash ^ folded(*view))),
                _ => {}
            }
        }
        let found = self.number();
        let is_of_use = found && self.first_rows.len() <= rows / REPEATS_MIN;
        is_of_use && keys.iter().all(|key| self.agrees(key))
    }

    /// Whether the last batch had few keys.
    pub(super) fn is_of_use(&self) -> bool {
        self.found
    }

    /// Numbers the distinct hashes.
    fn number(&mut self) -> bool {
        self.first_rows.clear();
        self.numbers.clear();
        self.seen.clear();
        self.recent.clear();
        self.recent.resize(1 << RECENT_BITS, (0, u32::MAX));
        for (row, hash) in self.hashes.iter().enumerate() {
            let recent = &mut self.recent[(hash >> (64 - RECENT_BITS)) as usize];
            if recent.0 == *hash && recent.1 != u32::MAX {
                self.numbers.push(recent.1);
                continue;
            }
            let next = self.first_rows.len() as u32;
            let number = *self.seen.entry(*hash).or_insert(next);
            if number == next {
                if self.first_rows.len() >= DISTINCT_FREE + row / REPEATS_MIN {
                    self.skip = SKIPPED_BATCHES;
                    return false;
                }
                self.first_rows.push(row as u32);
            }
            *recent = (*hash, number);
            self.numbers.push(number);
        }
        true
    }

    /// Whether all rows of a number have one value in a column.
    fn agrees(&self, key: &ArrayRef) -> bool {
        fn all<T: Copy + Eq>(values: &[T], firsts: &[u32], numbers: &[u32]) -> bool {
            let firsts: Vec<T> = firsts.iter().map(|row| values[*row as usize]).collect();
            let mut differ = false;
            for (value, number) in values.iter().zip(numbers) {
                differ |= *value != firsts[*number as usize];
            }
            !differ
        }
        match ArrayValues::new(key) {
            ArrayValues::Words(words) => all(words, &self.first_rows, &self.numbers),
            ArrayValues::Bytes(array) => all(array.views(), &self.first_rows, &self.numbers),
            _ => false,
        }
    }
}

#[inline(always)]
fn folded(view: u128) -> u64 {
    (view as u64) ^ ((view >> 64) as u64).rotate_left(32)
}

#[inline(always)]
fn mix(word: u64) -> u64 {
    word.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (word >> 29).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Identity hasher: keys are hashes.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BinaryViewArray, Int64Array};

    use super::*;

    #[test]
    fn few_strings_are_found_and_many_are_left() {
        let values: Vec<Vec<u8>> = (0..500)
            .map(|n| format!("{n:0>100}").into_bytes())
            .collect();
        let distinct = BinaryViewArray::from_iter_values(&values);
        let row = |n: usize| (n * 7919 + n / 300) % 500;
        let views: Vec<u128> = (0..8192).map(|n| distinct.views()[row(n)]).collect();
        let buffers = distinct.data_buffers().to_vec();
        let array = BinaryViewArray::new(views.into(), buffers, None);
        let mut repeats = Repeats::default();
        assert!(repeats.find(&[Arc::new(array.clone())], 8192));
        assert_eq!(repeats.first_rows.len(), 500);
        for n in 0..8192 {
            let first = repeats.first_rows[repeats.numbers[n] as usize] as usize;
            assert_eq!(array.value(first), array.value(n));
        }
        let unique: Vec<Vec<u8>> = (0..8192)
            .map(|n| format!("{n:0>40}").into_bytes())
            .collect();
        let unique = Arc::new(BinaryViewArray::from_iter_values(&unique));
        assert!(!repeats.find(&[unique], 8192));
    }

    #[test]
    fn keys_of_several_columns() {
        let names = ["a", "b", "a name that is longer than a view"];
        let texts = BinaryViewArray::from_iter_values((0..1000).map(|n| names[n % 3]));
        // The long name is in its buffer once for each row: each copy is a key of its own.
        let numbers = Int64Array::from_iter_values((0..1000).map(|n| n % 2));
        let keys: [ArrayRef; 2] = [Arc::new(texts), Arc::new(numbers.clone())];
        let mut repeats = Repeats::default();
        assert!(!repeats.find(&keys, 1000));
        let texts = BinaryViewArray::from_iter_values((0..1000).map(|n| names[n % 2]));
        let keys: [ArrayRef; 3] = [
            Arc::new(texts),
            Arc::new(numbers),
            Arc::new(Int64Array::from_iter_values((0..1000).map(|n| n / 500))),
        ];
        assert!(repeats.find(&keys, 1000));
        assert_eq!(repeats.first_rows, [0, 1, 500, 501]);
        assert_eq!(repeats.numbers[..4], [0, 1, 0, 1]);
        assert_eq!(repeats.numbers[500..504], [2, 3, 2, 3]);
        let with_null: ArrayRef = Arc::new(Int64Array::from(vec![None; 1000]));
        assert!(!repeats.find(&[with_null], 1000));
    }
}
