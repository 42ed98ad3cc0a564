//! The 64-bit hash of key columns, a column at a time.
//!
//! The mixing step is the "folded multiply" of wyhash and its relatives: multiply two words to 128
//! bits and xor the halves. Equal keys have equal hashes: −0.0 is hashed as 0.0, NULLs alike, and
//! strings of a collation by their canonical form (see [`super::collated`]).
//!
//! Both words are keyed with numbers that nobody outside of the process can know, so that nobody can
//! choose keys whose hashes collide. No result depends on a hash.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::collated::CollatedKeys;
use super::layout::View;
use crate::temptable::context::HashFunction;
use crate::temptable::spec::KeyMode;

const NULL_WORD: u64 = 0x5851_F42D_4C95_7F2D;

/// What hashes are keyed with: other numbers in each process.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashKeys {
    k0: u64,
    k1: u64,
    k2: u64,
    k3: u64,
}

impl HashKeys {
    /// Those of this process.
    pub(super) fn of_process() -> Self {
        static KEYS: LazyLock<HashKeys> = LazyLock::new(|| {
            let random = RandomState::new();
            // An odd factor loses no bits.
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
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// What is done to each word of a string before it is mixed in.
pub(super) trait Words: Copy {
    fn word(&mut self, word: u64) -> u64;
}

/// Nothing.
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

    /// As [`Self::hash_bytes`], of the words as they are changed by `words`.
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
    fn hash_word(&self, word: u64) -> u64 {
        fold(word ^ self.k1, self.k0)
    }

    /// One of 64 hashes.
    fn crowd(&self, hash: u64) -> u64 {
        self.hash_word(hash >> 58)
    }
}

/// The hash of any string, good as long as the process.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    HashKeys::of_process().hash_bytes(bytes)
}

/// Hashes the keys of batches.
#[derive(Debug)]
pub(crate) struct KeyHasher {
    modes: Vec<Option<CollatedKeys>>,
    function: HashFunction,
    keys: HashKeys,
}

impl KeyHasher {
    pub(crate) fn new(modes: impl Iterator<Item = KeyMode>, function: HashFunction) -> Self {
        Self {
            modes: modes.map(CollatedKeys::of).collect(),
            function,
            keys: HashKeys::of_process(),
        }
    }

    /// The hash of a key of one whole number, or NULL.
    pub(crate) fn hash_number(&self, value: Option<u64>) -> u64 {
        match self.function {
            HashFunction::Colliding => 0,
            HashFunction::Standard => self.standard(value),
            HashFunction::Crowded => self.keys.crowd(self.standard(value)),
        }
    }

    fn standard(&self, value: Option<u64>) -> u64 {
        value.map_or(NULL_WORD, |value| self.keys.hash_word(value))
    }

    /// Puts the hash of each of `row_count` keys into `hashes`.
    pub(crate) fn hash(&self, keys: &[ArrayRef], row_count: usize, hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.resize(row_count, 0);
        if self.function == HashFunction::Colliding {
            return;
        }
        let own = self.keys;
        for (index, (array, mode)) in keys.iter().zip(&self.modes).enumerate() {
            if index == 0 {
                hash_column(array, mode.as_ref(), own, hashes, |_, word| word);
            } else {
                hash_column(array, mode.as_ref(), own, hashes, |state, word| {
                    fold(state.rotate_left(29) ^ own.k3, word ^ own.k2)
                });
            }
        }
        if self.function == HashFunction::Crowded {
            hashes.iter_mut().for_each(|hash| *hash = own.crowd(*hash));
        }
    }
}

fn hash_column(
    array: &ArrayRef,
    collated: Option<&CollatedKeys>,
    keys: HashKeys,
    hashes: &mut [u64],
    combine: impl Fn(u64, u64) -> u64,
) {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    match array.data_type() {
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>().values();
            each(hashes, nulls, combine, |row| {
                keys.hash_word(values[row] as u64)
            });
        }
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            each(hashes, nulls, combine, |row| keys.hash_word(values[row]));
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            each(hashes, nulls, combine, |row| {
                keys.hash_word((values[row] + 0.0).to_bits())
            });
        }
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            each(hashes, nulls, combine, |row| {
                let value = values[row] as u128;
                keys.hash_inline(value)
            });
        }
        DataType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>().values();
            each(hashes, nulls, combine, |row| {
                keys.hash_long(&values[row].to_le_bytes(), &mut Raw)
            });
        }
        DataType::Boolean => {
            let values = array.as_boolean().values();
            each(hashes, nulls, combine, |row| {
                keys.hash_word(u64::from(values.value(row)))
            });
        }
        _ => hash_strings(
            array.as_binary_view(),
            collated,
            keys,
            hashes,
            combine,
            nulls,
        ),
    }
}

fn hash_strings(
    array: &BinaryViewArray,
    collated: Option<&CollatedKeys>,
    keys: HashKeys,
    hashes: &mut [u64],
    combine: impl Fn(u64, u64) -> u64,
    nulls: Option<&NullBuffer>,
) {
    let (views, buffers) = (array.views(), array.data_buffers());
    let long = |view: View| {
        let start = view.offset() as usize;
        &buffers[view.buffer() as usize][start..start + view.length() as usize]
    };
    match collated {
        None => each(hashes, nulls, combine, |row| {
            let view = View(views[row]);
            if view.is_inline() {
                keys.hash_inline(view.0)
            } else {
                keys.hash_long(long(view), &mut Raw)
            }
        }),
        Some(collated) => each(hashes, nulls, combine, |row| {
            let view = View(views[row]);
            if view.is_inline() {
                collated.hash_inline(view)
            } else {
                collated.hash_long(long(view))
            }
        }),
    }
}

#[inline(always)]
fn each(
    hashes: &mut [u64],
    nulls: Option<&NullBuffer>,
    combine: impl Fn(u64, u64) -> u64,
    word: impl Fn(usize) -> u64,
) {
    match nulls {
        None => {
            for (row, hash) in hashes.iter_mut().enumerate() {
                *hash = combine(*hash, word(row));
            }
        }
        Some(nulls) => {
            for (row, hash) in hashes.iter_mut().enumerate() {
                let word = if nulls.is_null(row) {
                    NULL_WORD
                } else {
                    word(row)
                };
                *hash = combine(*hash, word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn keys_that_are_chosen_do_not_collide() {
        // Without a secret, the second word made one factor of the product zero.
        let chosen = (0..10_000_u32).map(|n| {
            let mut key = n.to_be_bytes().to_vec();
            key.extend_from_slice(&0x2F64_BD78_641D_76A0_u64.to_be_bytes());
            key
        });
        let array: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(chosen));
        let hasher = KeyHasher::new([KeyMode::Binary].into_iter(), HashFunction::Standard);
        let mut hashes = Vec::new();
        hasher.hash(&[array], 10_000, &mut hashes);
        let different: HashSet<u64> = hashes.iter().map(|hash| hash >> 16).collect();
        assert!(different.len() > 9_990, "{}", different.len());
    }
}
