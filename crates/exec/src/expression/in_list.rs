//! `x IN (constants)`: a set, looked up a column at a time.

use std::collections::HashSet;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_buffer::{BooleanBuffer, i256};
use mayfly_functions::Column;
use mayfly_functions::repeated::passing_texts;
use mayfly_types::collation::Collation;
use mayfly_types::{CollationId, PhysicalType, Value};

use super::truth::Truth;
use super::values::{as_decimal, as_f64, as_i64, as_u64};

/// Constants of an IN list.
#[derive(Debug)]
pub(super) struct InList {
    set: Set,
    has_null: bool,
}

/// Short lists are compared one by one, longer ones hashed.
#[derive(Debug)]
enum Set {
    Int64(Lookup<i64>),
    UInt64(Lookup<u64>),
    /// Bits of doubles, with one representation of zero.
    Float64(Lookup<u64>),
    Decimal128(Lookup<i128>),
    Decimal256(Lookup<i256>),
    Bytes(Strings),
}

#[derive(Debug)]
enum Lookup<T> {
    Few(Vec<T>),
    Many(HashSet<T>),
}

const FEW_MAX: usize = 8;

impl<T: Copy + Eq + std::hash::Hash> Lookup<T> {
    fn new(values: impl Iterator<Item = T>) -> Self {
        let set: HashSet<T> = values.collect();
        if set.len() <= FEW_MAX {
            Self::Few(set.into_iter().collect())
        } else {
            Self::Many(set)
        }
    }

    fn rows<N: Copy>(&self, values: &[N], key: impl Fn(N) -> T) -> BooleanBuffer {
        match self {
            Self::Few(list) => BooleanBuffer::collect_bool(values.len(), |row| {
                let value = key(values[row]);
                list.iter()
                    .fold(false, |found, listed| found | (*listed == value))
            }),
            Self::Many(set) => {
                BooleanBuffer::collect_bool(values.len(), |row| set.contains(&key(values[row])))
            }
        }
    }

    fn has(&self, value: T) -> bool {
        match self {
            Self::Few(list) => list.contains(&value),
            Self::Many(set) => set.contains(&value),
        }
    }
}

fn float_key(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

impl InList {
    pub(super) fn new(list: &[Value], physical: PhysicalType, collation: CollationId) -> Self {
        let values = || list.iter().filter(|value| !value.is_null());
        let set = match physical {
            PhysicalType::Bool | PhysicalType::Int64 => {
                Set::Int64(Lookup::new(values().map(as_i64)))
            }
            PhysicalType::UInt64 => Set::UInt64(Lookup::new(values().map(as_u64))),
            PhysicalType::Float64 => {
                Set::Float64(Lookup::new(values().map(|value| float_key(as_f64(value)))))
            }
            PhysicalType::Decimal128(scale) => Set::Decimal128(Lookup::new(
                // A constant outside the column's range equals none of its values.
                values().filter_map(|value| as_decimal(value, scale).to_i128()),
            )),
            PhysicalType::Decimal256(scale) => {
                Set::Decimal256(Lookup::new(values().map(|value| as_decimal(value, scale))))
            }
            PhysicalType::Bytes => {
                let strings = values().filter_map(|value| match value {
                    Value::Bytes(bytes) => Some(&bytes[..]),
                    _ => None,
                });
                Set::Bytes(Strings::new(strings, collation))
            }
        };
        Self {
            set,
            has_null: list.iter().any(Value::is_null),
        }
    }

    /// Truth of membership for each row: unknown for NULL, and for a value that is not found when the list has a NULL.
    pub(super) fn contains(&self, operand: &Column) -> Truth {
        let found = match operand {
            Column::Constant(Value::Null) => return Truth::Constant(None),
            Column::Constant(value) => return self.constant(value),
            Column::Array(array) => match &self.set {
                Set::Int64(lookup) => match array.as_boolean_opt() {
                    Some(array) => BooleanBuffer::collect_bool(array.len(), |row| {
                        lookup.has(i64::from(array.value(row)))
                    }),
                    None => natives::<Int64Type, _>(array, lookup, |v| v),
                },
                Set::UInt64(lookup) => natives::<UInt64Type, _>(array, lookup, |v| v),
                Set::Float64(lookup) => natives::<Float64Type, _>(array, lookup, float_key),
                Set::Decimal128(lookup) => natives::<Decimal128Type, _>(array, lookup, |v| v),
                Set::Decimal256(lookup) => natives::<Decimal256Type, _>(array, lookup, |v| v),
                Set::Bytes(strings) => {
                    passing_texts(array.as_binary_view(), |text| strings.contains(text))
                }
            },
        };
        let nulls = match operand {
            Column::Array(array) => array.nulls().filter(|nulls| nulls.null_count() > 0),
            Column::Constant(_) => None,
        };
        let yes = match nulls {
            None => found,
            Some(nulls) => &found & nulls.inner(),
        };
        let no = match (self.has_null, nulls) {
            (true, _) => Some(BooleanBuffer::new_unset(yes.len())),
            (false, Some(nulls)) => Some(&!&yes & nulls.inner()),
            (false, None) => None,
        };
        Truth::Rows { yes, no }
    }

    fn constant(&self, value: &Value) -> Truth {
        let found = match &self.set {
            Set::Int64(lookup) => lookup.has(as_i64(value)),
            Set::UInt64(lookup) => lookup.has(as_u64(value)),
            Set::Float64(lookup) => lookup.has(float_key(as_f64(value))),
            Set::Decimal128(lookup) => match value {
                Value::Decimal { unscaled, .. } => {
                    unscaled.to_i128().is_some_and(|value| lookup.has(value))
                }
                _ => false,
            },
            Set::Decimal256(lookup) => match value {
                Value::Decimal { unscaled, .. } => lookup.has(*unscaled),
                _ => false,
            },
            Set::Bytes(strings) => match value {
                Value::Bytes(bytes) => strings.contains(bytes),
                _ => false,
            },
        };
        Truth::Constant(match (found, self.has_null) {
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) => Some(false),
        })
    }
}

/// Strings sorted by hash; strings that are equal under the collation have equal hashes.
#[derive(Debug)]
struct Strings {
    collation: &'static Collation,
    /// (hash, string); short lists are compared one by one without a hash.
    hashed: Vec<(u64, Box<[u8]>)>,
}

impl Strings {
    fn new<'a>(strings: impl Iterator<Item = &'a [u8]>, collation: CollationId) -> Self {
        let collation = collation.collation();
        let hashed = |text: &[u8]| (collation.hash64(text, 0), text.into());
        let mut hashed: Vec<(u64, Box<[u8]>)> = strings.map(hashed).collect();
        hashed.sort_unstable_by_key(|(hash, _)| *hash);
        Self { collation, hashed }
    }

    fn contains(&self, text: &[u8]) -> bool {
        let equals = |(_, listed): &(u64, Box<[u8]>)| self.collation.equals(listed, text);
        if self.hashed.len() <= FEW_MAX {
            return self.hashed.iter().any(equals);
        }
        let hash = self.collation.hash64(text, 0);
        let first = self.hashed.partition_point(|(other, _)| *other < hash);
        let same_hash = self.hashed[first..]
            .iter()
            .take_while(|(other, _)| *other == hash);
        same_hash.into_iter().any(equals)
    }
}

fn natives<T: ArrowPrimitiveType, K: Copy + Eq + std::hash::Hash>(
    array: &dyn Array,
    lookup: &Lookup<K>,
    key: impl Fn(T::Native) -> K,
) -> BooleanBuffer {
    lookup.rows(array.as_primitive::<T>().values(), key)
}
