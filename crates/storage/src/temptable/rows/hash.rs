//! The 64-bit hash of key columns, a column at a time.
//!
//! The mixing step is the "folded multiply" of wyhash and its relatives: multiply two words to 128
//! bits and xor the halves. Equal keys have equal hashes: −0.0 is hashed as 0.0, NULLs alike, and
//! strings of a collation by their canonical form (see [`super::collated`]).

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::collated::CollatedKeys;
use super::layout::View;
use crate::temptable::context::HashFunction;
use crate::temptable::spec::KeyMode;

const K0: u64 = 0x9E37_79B9_7F4A_7C15;
const K1: u64 = 0xD6E8_FEB8_6659_FD93;
const K2: u64 = 0xA076_1D64_78BD_642F;
const K3: u64 = 0xE703_7ED1_A0B4_28DB;
const NULL_WORD: u64 = 0x5851_F42D_4C95_7F2D;

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

/// The hash of a string of at most 12 bytes, from its view.
#[inline(always)]
pub(super) fn hash_inline(view: u128) -> u64 {
    fold(view as u64 ^ K1, (view >> 64) as u64 ^ K2)
}

/// The hash of a string of more than 12 bytes.
#[inline(always)]
pub(super) fn hash_long(bytes: &[u8], words: &mut impl Words) -> u64 {
    let length = bytes.len();
    debug_assert!(length > View::INLINE_MAX as usize);
    let mut state = K0 ^ length as u64;
    let tail = if length <= 16 {
        (word_at(bytes, 0), word_at(bytes, length - 8))
    } else {
        let mut at = 0;
        while at + 16 < length {
            let (a, b) = (
                words.word(word_at(bytes, at)),
                words.word(word_at(bytes, at + 8)),
            );
            state = fold(a ^ K1 ^ state, b ^ K2);
            at += 16;
        }
        (word_at(bytes, length - 16), word_at(bytes, length - 8))
    };
    let (a, b) = (words.word(tail.0), words.word(tail.1));
    fold(a ^ K2 ^ state, b ^ K3)
}

/// The hash of any string; equals [`hash_inline`] of its view when it has one.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    hash_words(bytes, &mut Raw)
}

/// As [`hash_bytes`], of the words as they are changed by `words`.
pub(super) fn hash_words(bytes: &[u8], words: &mut impl Words) -> u64 {
    if bytes.len() <= View::INLINE_MAX as usize {
        let mut text = [0; 16];
        text[..bytes.len()].copy_from_slice(bytes);
        let first = words.word(word_at(&text, 0));
        let second = words.word(word_at(&text, 8));
        let length = bytes.len() as u128;
        hash_inline(length | u128::from(first) << 32 | u128::from(second) << 96)
    } else {
        hash_long(bytes, words)
    }
}

#[inline(always)]
fn hash_word(word: u64) -> u64 {
    fold(word ^ K1, K0)
}

/// One of 64 hashes.
fn crowd(hash: u64) -> u64 {
    hash_word(hash >> 58)
}

/// Hashes the keys of batches.
#[derive(Debug)]
pub(crate) struct KeyHasher {
    modes: Vec<Option<CollatedKeys>>,
    function: HashFunction,
}

impl KeyHasher {
    pub(crate) fn new(modes: impl Iterator<Item = KeyMode>, function: HashFunction) -> Self {
        Self {
            modes: modes.map(CollatedKeys::of).collect(),
            function,
        }
    }

    /// The hash of a key of one whole number, or NULL.
    pub(crate) fn hash_number(&self, value: Option<u64>) -> u64 {
        match self.function {
            HashFunction::Colliding => 0,
            HashFunction::Standard => value.map_or(NULL_WORD, hash_word),
            HashFunction::Crowded => crowd(value.map_or(NULL_WORD, hash_word)),
        }
    }

    /// Puts the hash of each of `row_count` keys into `hashes`.
    pub(crate) fn hash(&self, keys: &[ArrayRef], row_count: usize, hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.resize(row_count, 0);
        if self.function == HashFunction::Colliding {
            return;
        }
        for (index, (array, mode)) in keys.iter().zip(&self.modes).enumerate() {
            if index == 0 {
                hash_column(array, mode.as_ref(), hashes, |_, word| word);
            } else {
                hash_column(array, mode.as_ref(), hashes, |state, word| {
                    fold(state.rotate_left(29) ^ K3, word ^ K2)
                });
            }
        }
        if self.function == HashFunction::Crowded {
            hashes.iter_mut().for_each(|hash| *hash = crowd(*hash));
        }
    }
}

fn hash_column(
    array: &ArrayRef,
    collated: Option<&CollatedKeys>,
    hashes: &mut [u64],
    combine: impl Fn(u64, u64) -> u64,
) {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    match array.data_type() {
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>().values();
            each(hashes, nulls, combine, |row| hash_word(values[row] as u64));
        }
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            each(hashes, nulls, combine, |row| hash_word(values[row]));
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            each(hashes, nulls, combine, |row| {
                hash_word((values[row] + 0.0).to_bits())
            });
        }
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            each(hashes, nulls, combine, |row| {
                let value = values[row] as u128;
                fold(value as u64 ^ K1, (value >> 64) as u64 ^ K2)
            });
        }
        DataType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>().values();
            each(hashes, nulls, combine, |row| {
                hash_long(&values[row].to_le_bytes(), &mut Raw)
            });
        }
        DataType::Boolean => {
            let values = array.as_boolean().values();
            each(hashes, nulls, combine, |row| {
                hash_word(u64::from(values.value(row)))
            });
        }
        _ => hash_strings(array.as_binary_view(), collated, hashes, combine, nulls),
    }
}

fn hash_strings(
    array: &BinaryViewArray,
    collated: Option<&CollatedKeys>,
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
                hash_inline(view.0)
            } else {
                hash_long(long(view), &mut Raw)
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
