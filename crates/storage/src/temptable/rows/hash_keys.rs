//! Keyed hashes of bytes and words, with keys that are random in each process.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use super::layout::View;

/// Keys of the hash function, random in each process.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashKeys {
    pub(super) k0: u64,
    pub(super) k1: u64,
    pub(super) k2: u64,
    pub(super) k3: u64,
}

impl HashKeys {
    /// The keys of this process.
    pub(super) fn of_process() -> Self {
        static KEYS: LazyLock<HashKeys> = LazyLock::new(|| {
            let random = RandomState::new();
            // Multiplication by an odd factor loses no bits.
            let key = |number: u64| random.hash_one(number) | 1;
            HashKeys {
                k0: key(0),
                k1: key(1),
                k2: key(2),
                k3: key(3),
            }
        });
        *KEYS
    }
}

#[inline(always)]
pub(super) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Transformation of each word of a string before it is mixed in.
pub(super) trait Words: Copy {
    fn word(&mut self, word: u64) -> u64;
}

/// The identity transformation.
#[derive(Clone, Copy)]
pub(super) struct Raw;

impl Words for Raw {
    #[inline(always)]
    fn word(&mut self, word: u64) -> u64 {
        word
    }
}

#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

impl HashKeys {
    /// The hash of a string of at most 12 bytes, from its view.
    #[inline(always)]
    pub(super) fn hash_inline(&self, view: u128) -> u64 {
        fold(view as u64 ^ self.k1, (view >> 64) as u64 ^ self.k2)
    }

    /// The hash of a string of more than 12 bytes.
    #[inline(always)]
    pub(super) fn hash_long(&self, bytes: &[u8], words: &mut impl Words) -> u64 {
        let length = bytes.len();
        debug_assert!(length > View::INLINE_MAX as usize);
        let mut state = self.k0 ^ length as u64;
        let tail = if length <= 16 {
            (word_at(bytes, 0), word_at(bytes, length - 8))
        } else {
            let mut at = 0;
            while at + 16 < length {
                let (a, b) = (
                    words.word(word_at(bytes, at)),
                    words.word(word_at(bytes, at + 8)),
                );
                state = fold(a ^ self.k1 ^ state, b ^ self.k2);
                at += 16;
            }
            (word_at(bytes, length - 16), word_at(bytes, length - 8))
        };
        let (a, b) = (words.word(tail.0), words.word(tail.1));
        fold(a ^ self.k2 ^ state, b ^ self.k3)
    }

    /// The hash of any string; equals [`Self::hash_inline`] of its view when it has one.
    pub(super) fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        self.hash_words(bytes, &mut Raw)
    }

    /// [`Self::hash_bytes`], but of words transformed by `words`.
    pub(super) fn hash_words(&self, bytes: &[u8], words: &mut impl Words) -> u64 {
        if bytes.len() <= View::INLINE_MAX as usize {
            let mut text = [0; 16];
            text[..bytes.len()].copy_from_slice(bytes);
            let first = words.word(word_at(&text, 0));
            let second = words.word(word_at(&text, 8));
            let length = bytes.len() as u128;
            self.hash_inline(length | u128::from(first) << 32 | u128::from(second) << 96)
        } else {
            self.hash_long(bytes, words)
        }
    }

    #[inline(always)]
    pub(super) fn hash_word(&self, word: u64) -> u64 {
        fold(word ^ self.k1, self.k0)
    }

    /// Reduces a hash to one of 64 values.
    pub(super) fn crowd(&self, hash: u64) -> u64 {
        self.hash_word(hash >> 58)
    }
}
