//! Searching a block's keys one machine word at a time.

use super::{Ends, Strings};

/// Strings of one short length, compared with a sought string as numbers of the same order: the rests of numeric keys
/// behind their common prefix are compared in a few instructions.
pub(super) struct KeyWords<'a> {
    bytes: &'a [u8],
    length: usize,
    /// The sought string, cut or zero-filled to the common length.
    sought: u128,
    /// Whether the sought string was longer: a row with equal leading bytes is smaller.
    is_cut: bool,
    /// Whether the sought string was shorter: no row is equal.
    is_filled: bool,
}

/// Longest string, in bytes, that is compared as one number.
const WORD_BYTES: usize = 16;

impl<'a> KeyWords<'a> {
    pub(super) fn new(strings: &Strings<'a>, sought: &[u8], rows: usize) -> Option<Self> {
        let Ends::Fixed(length @ 1..=WORD_BYTES) = strings.ends else {
            return None;
        };
        let mut word = [0; WORD_BYTES];
        let common = sought.len().min(length);
        word[..common].copy_from_slice(&sought[..common]);
        Some(Self {
            bytes: strings.bytes.get(..rows.checked_mul(length)?)?,
            length,
            sought: u128::from_be_bytes(word),
            is_cut: sought.len() > length,
            is_filled: sought.len() < length,
        })
    }

    /// A row's string as a number, in the highest bytes.
    #[inline]
    fn word(&self, row: usize) -> u128 {
        let start = row * self.length;
        let unused = 8 * (WORD_BYTES - self.length);
        match self.bytes.get(start..start + WORD_BYTES) {
            Some(bytes) => {
                let mut word = [0; WORD_BYTES];
                word.copy_from_slice(bytes);
                u128::from_be_bytes(word) >> unused << unused
            }
            None => {
                let mut word = [0; WORD_BYTES];
                let bytes = self.bytes.get(start..start + self.length);
                word[..self.length]
                    .copy_from_slice(bytes.unwrap_or(&[0; WORD_BYTES][..self.length]));
                u128::from_be_bytes(word)
            }
        }
    }

    /// Whether a row's string is smaller than the sought one.
    #[inline]
    pub(super) fn is_less(&self, row: usize) -> bool {
        let word = self.word(row);
        word < self.sought || (self.is_cut && word == self.sought)
    }

    pub(super) fn is_equal(&self, row: usize) -> bool {
        !self.is_cut && !self.is_filled && self.word(row) == self.sought
    }

    /// The first row of `start..end` that is not smaller than the sought string, or `end`.
    #[inline]
    pub(super) fn rank(&self, start: usize, end: usize) -> usize {
        let (mut first, mut size) = (start, end - start);
        while size > 0 {
            let half = size / 2;
            let is_less = self.is_less(first + half);
            first = if is_less { first + half + 1 } else { first };
            size = if is_less { size - half - 1 } else { half };
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_what_comparing_bytes_says() {
        for length in 1..=WORD_BYTES {
            let text = |number: usize| -> Vec<u8> {
                let spread = (number as u128 * 37) << (8 * (WORD_BYTES - length));
                spread.to_be_bytes()[..length].to_vec()
            };
            let mut sorted: Vec<Vec<u8>> = (0..100).map(text).collect();
            sorted.sort();
            let bytes = sorted.concat();
            let strings = Strings {
                ends: Ends::Fixed(length),
                bytes: &bytes,
                start: 0,
            };
            let longer = |text: &Vec<u8>| [&text[..], &[0]].concat();
            let shorter = |text: &Vec<u8>| text[..length - 1].to_vec();
            let all = sorted.iter();
            let sought = all.flat_map(|text| [text.clone(), longer(text), shorter(text)]);
            for sought in sought.chain([vec![], vec![0xFF; length], vec![0; length + 3]]) {
                let words = KeyWords::new(&strings, &sought, 100).expect("they are short");
                let rank = sorted.partition_point(|text| *text < sought);
                assert_eq!(words.rank(0, 100), rank, "{sought:?}");
                let is_there = sorted.get(rank) == Some(&sought);
                assert_eq!(rank < 100 && words.is_equal(rank), is_there, "{sought:?}");
            }
        }
    }
}
