//! ASCII text in words of eight characters.
//!
//! A word holds eight bytes in memory order (little-endian). "Plain" text is ASCII without control
//! characters, which the Unicode collations ignore: two plain characters are equal in a
//! case-insensitive collation exactly when they differ only in letter case.

use std::cmp::Ordering;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Whether all eight bytes are ASCII.
pub(super) fn is_ascii(word: u64) -> bool {
    word & HIGH == 0
}

/// Whether all eight bytes are of 0x20 to 0x7E. The first test may err only towards `false`.
#[inline]
pub(super) fn is_plain(word: u64) -> bool {
    let below_space = word.wrapping_sub(ONES * 0x20);
    // Adding one makes the byte of DEL overflow into the high bit; ASCII bytes do not carry.
    let del = (word & !HIGH).wrapping_add(ONES);
    (word | below_space | del) & HIGH == 0
}

/// Makes capital letters small, in bytes that are ASCII; other bytes stay.
#[inline]
pub(super) fn to_lower(word: u64) -> u64 {
    let low = word & !HIGH;
    let from_a = low.wrapping_add(ONES * (0x80 - b'A' as u64));
    let past_z = low.wrapping_add(ONES * (0x7F - b'Z' as u64));
    let capital = (from_a & !past_z & !word) & HIGH;
    word | (capital >> 2)
}

/// The word that starts at a chunk of exactly eight bytes.
pub(super) fn word(chunk: &[u8]) -> u64 {
    match chunk.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => 0,
    }
}

/// Up to seven bytes, filled up with `filling`.
pub(super) fn tail_word(bytes: &[u8], filling: u8) -> u64 {
    let mut filled = [filling; 8];
    filled[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(filled)
}

/// Whether all bytes satisfy a test of words; `filling` stands for missing bytes.
pub(super) fn all(bytes: &[u8], test: impl Fn(u64) -> bool) -> bool {
    let mut chunks = bytes.chunks_exact(8);
    chunks.by_ref().all(|chunk| test(word(chunk))) && test(tail_word(chunks.remainder(), b' '))
}

/// The value without spaces at its end.
pub(crate) fn trim_spaces(mut bytes: &[u8]) -> &[u8] {
    const SPACES: u64 = ONES * b' ' as u64;
    while let Some((rest, last)) = bytes.split_last_chunk::<8>()
        && u64::from_le_bytes(*last) == SPACES
    {
        bytes = rest;
    }
    while let [rest @ .., b' '] = bytes {
        bytes = rest;
    }
    bytes
}

/// A fast hash of bytes for tables in memory: pairs of words multiplied to 128 bits and folded
/// (the mixing step of wyhash). Not stable between versions.
pub(super) struct WordHash {
    state: u64,
    length: u64,
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const STEP: u64 = 0xD6E8_FEB8_6659_FD93;

fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

impl WordHash {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed ^ SEED,
            length: 0,
        }
    }

    pub(super) fn add(&mut self, word: u64) {
        self.state = fold_multiply(self.state ^ word, STEP).wrapping_add(word.rotate_left(23));
        self.length += 8;
    }

    /// Hashes the last word, of which `length` bytes are used and the others 0.
    pub(super) fn finish(mut self, last: u64, length: usize) -> u64 {
        self.length += length as u64;
        self.state = fold_multiply(self.state ^ last, STEP);
        fold_multiply(self.state ^ self.length.wrapping_mul(SEED), SEED)
    }
}

/// Hashes bytes, each word changed by `change`, as long as `test` holds for all words.
pub(super) fn hash(
    bytes: &[u8],
    seed: u64,
    test: impl Fn(u64) -> bool,
    change: impl Fn(u64) -> u64,
) -> Option<u64> {
    let mut hash = WordHash::new(seed);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in chunks.by_ref() {
        let word = word(chunk);
        if !test(word) {
            return None;
        }
        hash.add(change(word));
    }
    let rest = chunks.remainder();
    if !test(tail_word(rest, b' ')) {
        return None;
    }
    Some(hash.finish(change(tail_word(rest, 0)), rest.len()))
}

/// Whether two values are equal after `change` of every word, if all words up to the first
/// difference satisfy `test`; `None` otherwise.
pub(super) fn equals(
    a: &[u8],
    b: &[u8],
    test: impl Fn(u64) -> bool,
    change: impl Fn(u64) -> u64,
) -> Option<bool> {
    let common = a.len().min(b.len()) / 8 * 8;
    let ((a, a_rest), (b, b_rest)) = (a.split_at(common), b.split_at(common));
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let (a, b) = (word(a), word(b));
        if !test(a) || !test(b) {
            return None;
        }
        if a != b && change(a) != change(b) {
            return Some(false);
        }
    }
    if !all(a_rest, &test) || !all(b_rest, &test) {
        return None;
    }
    Some(
        a_rest.len() == b_rest.len()
            && change(tail_word(a_rest, b' ')) == change(tail_word(b_rest, b' ')),
    )
}

/// Result of comparing the beginnings of two values.
pub(super) enum Start {
    /// The order of the values: a difference among plain characters decides it.
    Order(Ordering),
    /// The first `n` bytes of both are equal; what follows decides.
    Common(usize),
}

/// Compares the plain text at the beginning of two values: characters that `change` makes equal
/// have the same `weight`. With `is_exact`, where more than the weight counts, only equal bytes are
/// passed over.
pub(super) fn compare_start(
    a: &[u8],
    b: &[u8],
    is_exact: bool,
    pads: bool,
    change: impl Fn(u64) -> u64,
    weight: impl Fn(u8) -> u16,
) -> Start {
    let order = |a: u64, b: u64, difference: u64| {
        let place = difference.trailing_zeros() / 8 * 8;
        weight((a >> place) as u8).cmp(&weight((b >> place) as u8))
    };
    // A contraction begins with a plain character and continues with a non-ASCII one, so the last
    // character before a non-ASCII one is left to the comparison that knows contractions.
    let is_cut = |rest: &[u8]| rest.get(8).is_some_and(|byte| *byte >= 0x80);
    let (mut a_rest, mut b_rest) = (a, b);
    let common = |rest: &[u8]| Start::Common((a.len() - rest.len()).saturating_sub(1));
    while let (Some(a_word), Some(b_word)) = (a_rest.first_chunk(), b_rest.first_chunk()) {
        let (a_word, b_word) = (u64::from_le_bytes(*a_word), u64::from_le_bytes(*b_word));
        if !is_plain(a_word) || !is_plain(b_word) {
            return common(a_rest);
        }
        let difference = change(a_word) ^ change(b_word);
        if difference != 0 {
            let is_last = difference.trailing_zeros() >= 56;
            if is_last && (is_cut(a_rest) || is_cut(b_rest)) {
                return common(a_rest);
            }
            return Start::Order(order(a_word, b_word, difference));
        }
        if is_exact && a_word != b_word {
            return common(a_rest);
        }
        (a_rest, b_rest) = (&a_rest[8..], &b_rest[8..]);
    }
    let a_word = tail_word(&a_rest[..a_rest.len().min(8)], b' ');
    let b_word = tail_word(&b_rest[..b_rest.len().min(8)], b' ');
    if !is_plain(a_word) || !is_plain(b_word) {
        return common(a_rest);
    }
    // One of them has less than eight bytes.
    let shorter = a_rest.len().min(b_rest.len());
    let both = (1 << (shorter * 8)) - 1;
    let difference = (change(a_word) ^ change(b_word)) & both;
    if difference != 0 {
        return Start::Order(order(a_word, b_word, difference));
    }
    let is_decided = !(is_exact && (a_word ^ b_word) & both != 0);
    if is_decided && (!pads || a_rest.len() == b_rest.len()) {
        return Start::Order(a_rest.len().cmp(&b_rest.len()));
    }
    common(a_rest)
}

/// The order of two values whose first four bytes (0 for missing ones) are known, if a difference
/// among plain characters decides it; see [`compare_start`].
pub(super) fn compare_four(
    a: u32,
    b: u32,
    change: impl Fn(u64) -> u64,
    weight: impl Fn(u8) -> u16,
) -> Option<Ordering> {
    const REST: u64 = (ONES * b' ' as u64) << 32;
    let (a, b) = (REST | u64::from(a), REST | u64::from(b));
    let difference = change(a) ^ change(b);
    let place = difference.trailing_zeros() / 8 * 8;
    // What follows the fourth character is not known: it may be part of a contraction.
    let is_decided = place < 24 && is_plain(a) && is_plain(b);
    is_decided.then(|| weight((a >> place) as u8).cmp(&weight((b >> place) as u8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte() {
        for byte in 0..=255_u8 {
            for place in 0..8 {
                let mut bytes = *b"aZ5 ~xYz";
                bytes[place] = byte;
                let word = u64::from_le_bytes(bytes);
                assert_eq!(is_ascii(word), byte < 0x80);
                assert_eq!(
                    is_plain(word),
                    (0x20..0x7F).contains(&byte),
                    "{byte} {place}"
                );
                assert_eq!(
                    to_lower(word).to_le_bytes(),
                    bytes.map(|b| b.to_ascii_lowercase())
                );
            }
        }
        assert_eq!(trim_spaces(b"ab  c                   "), b"ab  c");
        assert_eq!(trim_spaces(b"         "), b"");
    }
}
