//! Rows of a batch whose strings are the very same: the same bytes in a buffer, or the same short value.
//!
//! Base tables keep strings of few values once a chunk, and short strings are their own views. Then
//! a batch has few different views, and what is asked of a string needs to be asked once for each of
//! them. Bit-equal views of one array are equal strings in every collation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow_array::{Array, BinaryViewArray};

/// Fewer rows are not worth the look.
const ROWS_MIN: usize = 128;
/// So many views may come once before they must repeat ...
const DISTINCT_FREE: usize = 512;
/// ... so many times on average.
const REPEATS_MIN: usize = 4;
/// After a batch without repeats so many are not looked at.
const SKIPPED_BATCHES: u32 = 15;

/// The distinct views of a batch.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// The first row of each.
    pub(super) first_rows: Vec<u32>,
    /// For each row which of them it has.
    pub(super) numbers: Vec<u32>,
    seen: HashMap<u128, u32, BuildHasherDefault<Mix>>,
    /// What was found last for some views, by a few of their bits: a quicker look than the map.
    recent: Vec<(u128, u32)>,
    /// How many batches will not be looked at.
    skip: u32,
}

const RECENT_BITS: u32 = 10;

impl Repeats {
    /// Finds the distinct views; false when they are too many to be of use.
    pub(super) fn find(&mut self, array: &BinaryViewArray) -> bool {
        let views = array.views();
        if views.len() < ROWS_MIN || array.null_count() > 0 {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.first_rows.clear();
        self.numbers.clear();
        self.seen.clear();
        self.recent.clear();
        self.recent.resize(1 << RECENT_BITS, (0, u32::MAX));
        for (row, view) in views.iter().enumerate() {
            let bits = mix(*view);
            let recent = &mut self.recent[(bits >> (64 - RECENT_BITS)) as usize];
            if recent.0 == *view && recent.1 != u32::MAX {
                self.numbers.push(recent.1);
                continue;
            }
            let next = self.first_rows.len() as u32;
            let number = *self.seen.entry(*view).or_insert(next);
            if number == next {
                if self.first_rows.len() >= DISTINCT_FREE + row / REPEATS_MIN {
                    self.skip = SKIPPED_BATCHES;
                    return false;
                }
                self.first_rows.push(row as u32);
            }
            *recent = (*view, number);
            self.numbers.push(number);
        }
        // A short batch may have ended before its views had to repeat.
        self.first_rows.len() <= views.len() / REPEATS_MIN
    }
}

#[inline(always)]
fn mix(view: u128) -> u64 {
    let folded = (view as u64) ^ ((view >> 64) as u64).rotate_left(32);
    folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (folded >> 29).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, view: u128) {
        self.0 = mix(view);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
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
        assert!(repeats.find(&array));
        assert_eq!(repeats.first_rows.len(), 500);
        for n in 0..8192 {
            let first = repeats.first_rows[repeats.numbers[n] as usize] as usize;
            assert_eq!(array.value(first), array.value(n));
        }
        let unique: Vec<Vec<u8>> = (0..8192)
            .map(|n| format!("{n:0>40}").into_bytes())
            .collect();
        assert!(!repeats.find(&BinaryViewArray::from_iter_values(&unique)));
    }
}
