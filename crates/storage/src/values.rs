//! Stored forms of values, common to all stores: a word of 8 bytes, a decimal of 16 or 32, or a string.
//!
//! Containers of values ([`ArrayValues`], rows in memory, blocks, [`Value`]s) give them in these forms, and what is
//! built from values (rows, blocks, keys, arrays) takes them so: each knows the forms only, and not each other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
    Int64Array, UInt64Array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer, i256};
use arrow_schema::DataType;
use mayfly_types::{PhysicalType, Value};

/// A value in its stored form.
#[derive(Debug, Clone, Copy)]
pub enum StoredValue<'a> {
    /// NULL.
    Null,
    /// An integer, or the bits of a double.
    Word(u64),
    /// A decimal's unscaled value in 128 bits.
    Decimal128(i128),
    /// A decimal's unscaled value in 256 bits.
    Decimal256(i256),
    /// A string.
    Bytes(&'a [u8]),
}

impl<'a> StoredValue<'a> {
    /// The stored form of a value of type `ty`, or of a number that converts to it without loss; `None` for others.
    #[inline(always)]
    pub(crate) fn of(ty: PhysicalType, value: &'a Value) -> Option<Self> {
        Some(match (ty, value) {
            (_, Value::Null) => Self::Null,
            (PhysicalType::Bool | PhysicalType::UInt64, Value::Int(number)) => {
                Self::Word(u64::try_from(*number).ok()?)
            }
            (PhysicalType::Bool | PhysicalType::UInt64, Value::UInt(number)) => Self::Word(*number),
            (PhysicalType::Int64, Value::Int(number)) => Self::Word(number.cast_unsigned()),
            (PhysicalType::Int64, Value::UInt(number)) => {
                Self::Word(i64::try_from(*number).ok()?.cast_unsigned())
            }
            (PhysicalType::Float64, Value::Float(number)) => Self::Word(number.to_bits()),
            (PhysicalType::Decimal128(scale), value) => {
                Self::Decimal128(at_scale(value, scale)?.to_i128()?)
            }
            (PhysicalType::Decimal256(scale), value) => Self::Decimal256(at_scale(value, scale)?),
            (PhysicalType::Bytes, Value::Bytes(bytes)) => Self::Bytes(bytes),
            _ => return None,
        })
    }

    /// Writes a value of type `ty` into `value`, reusing its memory.
    #[inline]
    pub(crate) fn read_into(self, ty: PhysicalType, value: &mut Value) {
        let decimal = |unscaled: i256| match ty {
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                Value::Decimal { unscaled, scale }
            }
            _ => Value::Null,
        };
        *value = match (self, ty) {
            (Self::Null, _) => Value::Null,
            (Self::Word(word), PhysicalType::UInt64) => Value::UInt(word),
            (Self::Word(word), PhysicalType::Float64) => Value::Float(f64::from_bits(word)),
            (Self::Word(word), _) => Value::Int(word.cast_signed()),
            (Self::Decimal128(unscaled), _) => decimal(i256::from_i128(unscaled)),
            (Self::Decimal256(unscaled), _) => decimal(unscaled),
            (Self::Bytes(bytes), _) => {
                if let Value::Bytes(before) = value {
                    before.clear();
                    before.extend_from_slice(bytes);
                    return;
                }
                Value::Bytes(bytes.to_vec())
            }
        };
    }
}

/// Unscaled value of an exact number at `scale` decimals; `None` if the number has more.
fn at_scale(value: &Value, scale: u8) -> Option<i256> {
    let (unscaled, from) = match value {
        Value::Int(value) => (i256::from(*value), 0),
        Value::UInt(value) => (i256::from_i128(i128::from(*value)), 0),
        Value::Decimal { unscaled, scale } => (*unscaled, *scale),
        _ => return None,
    };
    if scale == from {
        return Some(unscaled);
    }
    let power = i256::from(10_i64).checked_pow(u32::from(scale.abs_diff(from)))?;
    if scale > from {
        return unscaled.checked_mul(power);
    }
    let is_exact = unscaled.checked_rem(power)? == i256::ZERO;
    unscaled.checked_div(power).filter(|_| is_exact)
}

/// The values of an array; undefined at NULLs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ArrayValues<'a> {
    Bools(&'a BooleanBuffer),
    /// Integers, or the bits of doubles.
    Words(&'a [u64]),
    Decimal128(&'a [i128]),
    Decimal256(&'a [i256]),
    Bytes(&'a BinaryViewArray),
}

impl<'a> ArrayValues<'a> {
    /// The values of an array of a physical type.
    #[inline]
    pub(crate) fn new(array: &'a ArrayRef) -> Self {
        match array.data_type() {
            DataType::Boolean => Self::Bools(array.as_boolean().values()),
            DataType::Int64 => Self::Words(words(array.as_primitive::<Int64Type>().values())),
            DataType::UInt64 => Self::Words(array.as_primitive::<UInt64Type>().values()),
            DataType::Float64 => Self::Words(words(array.as_primitive::<Float64Type>().values())),
            DataType::Decimal128(..) => {
                Self::Decimal128(array.as_primitive::<Decimal128Type>().values())
            }
            DataType::Decimal256(..) => {
                Self::Decimal256(array.as_primitive::<Decimal256Type>().values())
            }
            _ => Self::Bytes(array.as_binary_view()),
        }
    }

    /// The value of a row that is not NULL.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> StoredValue<'a> {
        match *self {
            Self::Bools(bits) => StoredValue::Word(u64::from(bits.value(row))),
            Self::Words(words) => StoredValue::Word(words[row]),
            Self::Decimal128(values) => StoredValue::Decimal128(values[row]),
            Self::Decimal256(values) => StoredValue::Decimal256(values[row]),
            Self::Bytes(array) => StoredValue::Bytes(array.value(row)),
        }
    }
}

/// The values of an array with its NULLs.
#[derive(Debug, Clone, Copy)]
pub struct ColumnValues<'a> {
    nulls: Option<&'a NullBuffer>,
    values: ArrayValues<'a>,
}

impl<'a> ColumnValues<'a> {
    /// The values of an array of a physical type.
    #[inline]
    pub fn new(array: &'a ArrayRef) -> Self {
        Self {
            nulls: array.nulls(),
            values: ArrayValues::new(array),
        }
    }

    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> StoredValue<'a> {
        if self.is_null(row) {
            StoredValue::Null
        } else {
            self.values.get(row)
        }
    }
}

/// Numbers of 8 bytes, viewed as words.
fn words<T: ArrowNativeType>(values: &ScalarBuffer<T>) -> &[u64] {
    values.inner().typed_data()
}

/// An array of a type whose values are stored as words.
pub fn word_array(ty: PhysicalType, words: Vec<u64>, nulls: Option<NullBuffer>) -> ArrayRef {
    match ty {
        PhysicalType::Bool => {
            let bits = BooleanBuffer::collect_bool(words.len(), |row| words[row] != 0);
            Arc::new(BooleanArray::new(bits, nulls))
        }
        PhysicalType::UInt64 => Arc::new(UInt64Array::new(words.into(), nulls)),
        PhysicalType::Float64 => Arc::new(Float64Array::new(of_words(words), nulls)),
        _ => Arc::new(Int64Array::new(of_words(words), nulls)),
    }
}

/// Words, viewed as other numbers of 8 bytes.
fn of_words<T: ArrowNativeType>(words: Vec<u64>) -> ScalarBuffer<T> {
    let count = words.len();
    ScalarBuffer::new(Buffer::from_vec(words), 0, count)
}

/// An array of a decimal type of 16 bytes.
pub fn decimal128_array(
    ty: PhysicalType,
    values: Vec<i128>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let array = Decimal128Array::new(values.into(), nulls);
    Arc::new(array.with_data_type(ty.arrow()))
}

/// An array of a decimal type of 32 bytes.
pub fn decimal256_array(
    ty: PhysicalType,
    values: Vec<i256>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let array = Decimal256Array::new(values.into(), nulls);
    Arc::new(array.with_data_type(ty.arrow()))
}
