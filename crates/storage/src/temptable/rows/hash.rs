//! 64-bit hash of key columns, computed column by column.
//!
//! The mixing step is the "folded multiply" of wyhash and its relatives: multiply two words to 128 bits and xor the
//! halves. Equal keys have equal hashes: −0.0 is hashed as 0.0, all NULLs are alike, and strings of a collation are
//! hashed by their canonical form (see [`super::collated`]).
//!
//! Both words are keyed with secrets of the process, so that nobody can choose keys whose hashes collide. No result
//! depends on a hash.

use arrow_array::{Array, ArrayRef, BinaryViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::collated::CollatedKeys;
use super::hash_keys::{HashKeys, Raw, fold};
use super::layout::View;
use crate::temptable::context::HashFunction;
use crate::temptable::spec::KeyMode;
use crate::values::ArrayValues;

const NULL_WORD: u64 = 0x5851_F42D_4C95_7F2D;

/// The hash of any string, stable within the process.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    HashKeys::of_process().hash_bytes(bytes)
}

impl HashFunction {
    /// The hash of a string, stable within the process.
    pub fn hash_bytes(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Standard => hash_bytes(bytes),
            Self::Colliding => 0,
            Self::Crowded => hash_bytes(bytes) & 63,
        }
    }
}

/// Hasher of the keys of batches.
#[derive(Debug)]
pub struct KeyHasher {
    modes: Vec<Option<CollatedKeys>>,
    function: HashFunction,
    keys: HashKeys,
}

impl KeyHasher {
    /// A hasher for keys of these modes.
    pub fn new(modes: impl Iterator<Item = KeyMode>, function: HashFunction) -> Self {
        Self {
            modes: modes.map(CollatedKeys::of).collect(),
            function,
            keys: HashKeys::of_process(),
        }
    }

    /// The hash of a key of one integer, or NULL.
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

    /// Sets `hashes` to the hash of each of `row_count` keys.
    pub fn hash(&self, keys: &[ArrayRef], row_count: usize, hashes: &mut Vec<u64>) {
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
    match ArrayValues::new(array) {
        ArrayValues::Words(values) if *array.data_type() == DataType::Float64 => {
            each(hashes, nulls, combine, |row| {
                keys.hash_word((f64::from_bits(values[row]) + 0.0).to_bits())
            });
        }
        ArrayValues::Words(values) => {
            each(hashes, nulls, combine, |row| keys.hash_word(values[row]));
        }
        ArrayValues::Decimal128(values) => each(hashes, nulls, combine, |row| {
            keys.hash_inline(values[row] as u128)
        }),
        ArrayValues::Decimal256(values) => each(hashes, nulls, combine, |row| {
            keys.hash_long(&values[row].to_le_bytes(), &mut Raw)
        }),
        ArrayValues::Bools(values) => each(hashes, nulls, combine, |row| {
            keys.hash_word(u64::from(values.value(row)))
        }),
        ArrayValues::Bytes(strings) => {
            hash_strings(strings, collated, keys, hashes, combine, nulls);
        }
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
        // Without a secret, the second word would make one factor of the product zero.
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
