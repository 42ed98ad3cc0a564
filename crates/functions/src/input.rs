//! Typed views of arguments, which kernels read row by row or as slices.
//!
//! A kernel asks for the physical type that its signature requires; a [`Column`] of another type is a bug of the
//! caller and becomes an error, never a wrong result.

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, PrimitiveArray,
};
use arrow_buffer::{NullBuffer, i256};
use mayfly_memory::prefetch;
use mayfly_types::{Error, Result, Value};

use crate::Column;

/// Bytes of the longest value that its view holds.
const IN_VIEW_MAX: u32 = 12;

/// An argument of one of the primitive physical types.
#[derive(Debug)]
pub enum Numbers<'a, T: ArrowPrimitiveType> {
    /// A value for each row.
    Array(&'a PrimitiveArray<T>),
    /// One value for all rows.
    Constant(Option<T::Native>),
}

// Derived implementations would ask for `T: Clone`.
impl<T: ArrowPrimitiveType> Clone for Numbers<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ArrowPrimitiveType> Copy for Numbers<'_, T> {}

impl<T: ArrowPrimitiveType> Numbers<'_, T> {
    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T::Native> {
        match self {
            Self::Array(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Constant(value) => *value,
        }
    }

    /// The rows that are not NULL; `None` if all are.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        match self {
            Self::Array(array) => array.nulls(),
            Self::Constant(_) => None,
        }
    }
}

/// An argument of physical type Int64.
pub type Ints<'a> = Numbers<'a, Int64Type>;
/// An argument of physical type UInt64.
pub type UInts<'a> = Numbers<'a, UInt64Type>;
/// An argument of physical type Float64.
pub type Floats<'a> = Numbers<'a, Float64Type>;

fn mismatch(expected: &str) -> Error {
    Error::internal(format_args!(
        "an argument is not of physical type {expected}"
    ))
}

fn downcast<'a, A: Array + 'static>(array: &'a dyn Array, expected: &str) -> Result<&'a A> {
    array
        .as_any()
        .downcast_ref()
        .ok_or_else(|| mismatch(expected))
}

/// Reads an Int64 argument.
pub(crate) fn ints(column: &Column) -> Result<Ints<'_>> {
    Ok(match column {
        Column::Array(array) => Numbers::Array(downcast(array.as_ref(), "Int64")?),
        Column::Constant(value) => Numbers::Constant(match value {
            Value::Null => None,
            Value::Int(value) => Some(*value),
            Value::UInt(value) => Some(i64::try_from(*value).map_err(|_| mismatch("Int64"))?),
            _ => return Err(mismatch("Int64")),
        }),
    })
}

/// Reads a UInt64 argument.
pub(crate) fn uints(column: &Column) -> Result<UInts<'_>> {
    Ok(match column {
        Column::Array(array) => Numbers::Array(downcast(array.as_ref(), "UInt64")?),
        Column::Constant(value) => Numbers::Constant(match value {
            Value::Null => None,
            Value::UInt(value) => Some(*value),
            Value::Int(value) => Some(value.cast_unsigned()),
            _ => return Err(mismatch("UInt64")),
        }),
    })
}

/// Reads a Float64 argument.
pub fn floats(column: &Column) -> Result<Floats<'_>> {
    Ok(match column {
        Column::Array(array) => Numbers::Array(downcast(array.as_ref(), "Float64")?),
        Column::Constant(value) => Numbers::Constant(match value {
            Value::Null => None,
            Value::Float(value) => Some(*value),
            Value::Int(value) => Some(*value as f64),
            Value::UInt(value) => Some(*value as f64),
            _ => return Err(mismatch("Float64")),
        }),
    })
}

/// An argument of any integer physical type, read as `i128`: for kernels where speed does not matter.
#[derive(Debug, Clone, Copy)]
pub enum AnyInts<'a> {
    /// Int64
    Signed(Ints<'a>),
    /// UInt64
    Unsigned(UInts<'a>),
    /// Bool
    Bool(Bools<'a>),
    /// DECIMAL without a fraction
    Whole(Decimals<'a>),
}

impl AnyInts<'_> {
    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i128> {
        match self {
            Self::Signed(values) => values.get(row).map(i128::from),
            Self::Unsigned(values) => values.get(row).map(i128::from),
            Self::Bool(values) => values.get(row).map(i128::from),
            Self::Whole(values) => values.get(row).map(i256::as_i128),
        }
    }
}

/// Reads an argument of any integer physical type.
pub(crate) fn any_ints(column: &Column) -> Result<AnyInts<'_>> {
    Ok(match column {
        Column::Array(array) => match array.data_type() {
            arrow_schema::DataType::UInt64 => AnyInts::Unsigned(uints(column)?),
            arrow_schema::DataType::Boolean => AnyInts::Bool(bools(column)?),
            arrow_schema::DataType::Decimal128(_, 0) | arrow_schema::DataType::Decimal256(_, 0) => {
                AnyInts::Whole(decimals(column, 0)?)
            }
            _ => AnyInts::Signed(ints(column)?),
        },
        Column::Constant(Value::UInt(value)) => AnyInts::Unsigned(Numbers::Constant(Some(*value))),
        Column::Constant(Value::Decimal { .. }) => AnyInts::Whole(decimals(column, 0)?),
        Column::Constant(_) => AnyInts::Signed(ints(column)?),
    })
}

/// Positions and lengths: integers, of which those above BIGINT's range are its maximum.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a>(AnyInts<'a>);

impl Counts<'_> {
    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        match &self.0 {
            AnyInts::Signed(values) => values.get(row),
            other => other
                .get(row)
                .map(|it| i64::try_from(it).unwrap_or(i64::MAX)),
        }
    }
}

/// Reads an argument of [`crate::derive::integer_of`] as [`Counts`].
pub fn counts(column: &Column) -> Result<Counts<'_>> {
    any_ints(column).map(Counts)
}

/// An argument of physical type Bool.
#[derive(Debug, Clone, Copy)]
pub enum Bools<'a> {
    /// A value for each row.
    Array(&'a BooleanArray),
    /// One value for all rows.
    Constant(Option<bool>),
}

impl Bools<'_> {
    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<bool> {
        match self {
            Self::Array(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Constant(value) => *value,
        }
    }
}

/// Reads a Bool argument.
pub(crate) fn bools(column: &Column) -> Result<Bools<'_>> {
    Ok(match column {
        Column::Array(array) => Bools::Array(downcast(array.as_ref(), "Bool")?),
        Column::Constant(value) => Bools::Constant(match value {
            Value::Null => None,
            Value::Int(value) => Some(*value != 0),
            Value::UInt(value) => Some(*value != 0),
            _ => return Err(mismatch("Bool")),
        }),
    })
}

/// An argument of physical type Bytes.
#[derive(Debug, Clone, Copy)]
pub enum Texts<'a> {
    /// A value for each row.
    Array(&'a BinaryViewArray),
    /// One value for all rows.
    Constant(Option<&'a [u8]>),
}

/// Prefetches the beginning of a row's value, if there is such a row and its view does not hold the value.
#[inline(always)]
pub(crate) fn prefetch_text(array: &BinaryViewArray, row: usize) {
    let Some(view) = array.views().get(row) else {
        return;
    };
    // From the lowest: length, first bytes, buffer and offset, with four bytes each.
    let [length, _, buffer, offset] = [0, 32, 64, 96].map(|bit| (*view >> bit) as u32);
    if length > IN_VIEW_MAX
        && let Some(buffer) = array.data_buffers().get(buffer as usize)
    {
        prefetch(buffer.as_ptr().wrapping_add(offset as usize));
    }
}

impl<'a> Texts<'a> {
    /// The value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Self::Array(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Constant(value) => *value,
        }
    }

    /// The value shared by all rows, which can be compiled once.
    pub fn constant(&self) -> Option<Option<&'a [u8]>> {
        match self {
            Self::Array(_) => None,
            Self::Constant(value) => Some(*value),
        }
    }
}

/// Reads a Bytes argument.
pub fn texts(column: &Column) -> Result<Texts<'_>> {
    Ok(match column {
        Column::Array(array) => Texts::Array(downcast(array.as_ref(), "Bytes")?),
        Column::Constant(value) => Texts::Constant(match value {
            Value::Null => None,
            Value::Bytes(value) => Some(value),
            _ => return Err(mismatch("Bytes")),
        }),
    })
}

/// An argument of physical type Decimal128 or Decimal256.
#[derive(Debug, Clone, Copy)]
pub enum Decimals<'a> {
    /// At most 38 digits.
    Narrow(&'a Decimal128Array),
    /// At most 76 digits.
    Wide(&'a Decimal256Array),
    /// One value for all rows.
    Constant(Option<i256>),
}

impl Decimals<'_> {
    /// The unscaled value of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i256> {
        match self {
            Self::Narrow(array) => array
                .is_valid(row)
                .then(|| i256::from_i128(array.value(row))),
            Self::Wide(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Constant(value) => *value,
        }
    }
}

/// Reads a decimal argument whose values are at `scale`.
pub fn decimals(column: &Column, scale: u8) -> Result<Decimals<'_>> {
    Ok(match column {
        Column::Array(array) => match array.as_any().downcast_ref::<Decimal128Array>() {
            Some(narrow) => Decimals::Narrow(narrow),
            None => Decimals::Wide(downcast(array.as_ref(), "Decimal")?),
        },
        Column::Constant(value) => Decimals::Constant(match value {
            Value::Null => None,
            Value::Decimal {
                unscaled,
                scale: own,
            } if *own == scale => Some(*unscaled),
            Value::Decimal {
                unscaled,
                scale: own,
            } if *own < scale => {
                Some(unscaled.wrapping_mul(power_of_ten_256(u32::from(scale - *own))))
            }
            Value::Int(value) => {
                Some(i256::from(*value).wrapping_mul(power_of_ten_256(u32::from(scale))))
            }
            Value::UInt(value) => Some(
                i256::from_i128(i128::from(*value))
                    .wrapping_mul(power_of_ten_256(u32::from(scale))),
            ),
            _ => return Err(mismatch("Decimal")),
        }),
    })
}

/// 10^`exponent`; `exponent` up to 76.
pub(crate) fn power_of_ten_256(exponent: u32) -> i256 {
    i256::from(10_i64).wrapping_pow(exponent)
}

/// The 128-bit view of decimals, if their values fit it.
pub(crate) fn narrow(
    values: Decimals<'_>,
) -> Option<Numbers<'_, arrow_array::types::Decimal128Type>> {
    match values {
        Decimals::Narrow(array) => Some(Numbers::Array(array)),
        Decimals::Constant(None) => Some(Numbers::Constant(None)),
        Decimals::Constant(Some(value)) => Some(Numbers::Constant(Some(value.to_i128()?))),
        Decimals::Wide(_) => None,
    }
}

/// Reads a Decimal128 array.
pub(crate) fn narrow_array(
    column: &Column,
) -> Result<Numbers<'_, arrow_array::types::Decimal128Type>> {
    match column {
        Column::Array(array) => Ok(Numbers::Array(downcast(array.as_ref(), "Decimal128")?)),
        Column::Constant(_) => Err(mismatch("Decimal128")),
    }
}

/// Reads a Decimal256 array.
pub(crate) fn wide_array(
    column: &Column,
) -> Result<Numbers<'_, arrow_array::types::Decimal256Type>> {
    match column {
        Column::Array(array) => Ok(Numbers::Array(downcast(array.as_ref(), "Decimal256")?)),
        Column::Constant(_) => Err(mismatch("Decimal256")),
    }
}
