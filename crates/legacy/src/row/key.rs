//! Keys as bytes: two keys are equal exactly when their bytes are.
//!
//! A part is a byte that tells NULL from a value, and the value: a number in its declared width, or the equality key
//! of a string in its collation, preceded by its length. The byte order has no meaning, but that is enough for a
//! B-tree that only finds equal keys.

use mayfly_storage::values::StoredValue;
use mayfly_storage::{HashFunction, KeyMode};
use mayfly_types::PhysicalType;

use super::packed::append_length;
use super::{Field, FieldKind, number};
use crate::refusal::Outcome;
use crate::spec::LegacyColumn;

/// Encoder of a table's keys.
#[derive(Debug, Clone)]
pub(crate) struct KeyImages {
    parts: Vec<(Field, KeyMode)>,
    hash: HashFunction,
}

impl KeyImages {
    /// An encoder for keys of the first columns, one for each mode.
    pub(crate) fn new(
        columns: &[LegacyColumn],
        modes: &[KeyMode],
        natural: bool,
        hash: HashFunction,
    ) -> Self {
        let parts = columns.iter().zip(modes);
        let parts = parts.map(|(column, mode)| (Field::new(column, natural), *mode));
        Self {
            parts: parts.collect(),
            hash,
        }
    }

    /// Number of key columns.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Maximum length of a key by the declarations of its columns; `None` when there is no limit.
    pub(crate) fn declared_length(&self) -> Option<usize> {
        let parts = self.parts.iter().map(|(field, _)| match field.kind {
            FieldKind::Number(width) => Some(1 + width),
            FieldKind::Text(max) => max.map(|max| 1 + if max < 254 { 1 } else { 5 } + max),
        });
        parts.sum()
    }

    /// Sets `key` to the key of a row whose first columns `value` returns.
    #[inline]
    pub(crate) fn put<'a>(
        &self,
        value: impl Fn(usize) -> StoredValue<'a>,
        key: &mut Vec<u8>,
    ) -> Outcome<()> {
        key.clear();
        for column in 0..self.parts.len() {
            self.append(column, value(column), key)?;
        }
        Ok(())
    }

    /// Appends a part.
    #[inline]
    pub(crate) fn append(
        &self,
        column: usize,
        value: StoredValue<'_>,
        key: &mut Vec<u8>,
    ) -> Outcome<()> {
        let (field, mode) = &self.parts[column];
        match value {
            StoredValue::Null => key.push(0),
            StoredValue::Bytes(text) => {
                key.push(1);
                match mode {
                    KeyMode::Binary => {
                        append_length(text.len(), key)?;
                        key.extend_from_slice(text);
                    }
                    KeyMode::Collated(collation) => {
                        let start = key.len();
                        collation.append_equality_key(text, key);
                        let length = key.len() - start;
                        append_length(length, key)?;
                        // The length goes before the string.
                        let moved = key.len() - start - length;
                        key[start..].rotate_right(moved);
                    }
                }
            }
            value => {
                key.push(1);
                let start = key.len();
                let FieldKind::Number(width) = field.kind else {
                    return Ok(());
                };
                key.resize(start + width, 0);
                let value = match (field.ty, value) {
                    // Adding 0 turns -0.0 into 0.0.
                    (PhysicalType::Float64, StoredValue::Word(word)) => {
                        StoredValue::Word((f64::from_bits(word) + 0.0).to_bits())
                    }
                    (_, value) => value,
                };
                if !number::put(field.ty, value, &mut key[start..]) {
                    return Err(crate::refusal::Refusal::LongValue);
                }
            }
        }
        Ok(())
    }

    /// The hash of a key's bytes.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.hash.hash_bytes(key)
    }
}
