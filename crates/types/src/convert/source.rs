//! One value of an array, read without an allocation.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
    Int64Array, UInt64Array,
};
use arrow_schema::DataType;

use crate::decimal::Decimal;
use crate::value::Value;

/// A value that is not NULL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Datum<'a> {
    /// Physical Bool and Int64
    Int(i64),
    /// Physical UInt64
    UInt(u64),
    /// Physical Float64
    Float(f64),
    /// Physical Decimal128 and Decimal256
    Decimal(Decimal),
    /// Physical Bytes
    Bytes(&'a [u8]),
}

impl<'a> Datum<'a> {
    /// A single value; `None` for NULL.
    pub fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Int(value) => Self::Int(*value),
            Value::UInt(value) => Self::UInt(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Decimal { unscaled, scale } => Self::Decimal(Decimal::new(*unscaled, *scale)),
            Value::Bytes(bytes) => Self::Bytes(bytes),
        })
    }

    /// The value of a physical type other than Bytes; `None` for bytes.
    pub(super) fn to_native(self) -> Option<Datum<'static>> {
        Some(match self {
            Self::Int(value) => Datum::Int(value),
            Self::UInt(value) => Datum::UInt(value),
            Self::Float(value) => Datum::Float(value),
            Self::Decimal(value) => Datum::Decimal(value),
            Self::Bytes(_) => return None,
        })
    }

    /// The value by itself.
    pub fn to_value(self) -> Value {
        match self {
            Self::Int(value) => Value::Int(value),
            Self::UInt(value) => Value::UInt(value),
            Self::Float(value) => Value::Float(value),
            Self::Decimal(value) => value.into(),
            Self::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
        }
    }
}

/// An array of one of the physical types.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Physical Bool
    Bool(&'a BooleanArray),
    /// Physical Int64
    Int(&'a Int64Array),
    /// Physical UInt64
    UInt(&'a UInt64Array),
    /// Physical Float64
    Float(&'a Float64Array),
    /// Physical Decimal128 and its scale
    Decimal128(&'a Decimal128Array, u8),
    /// Physical Decimal256 and its scale
    Decimal256(&'a Decimal256Array, u8),
    /// Physical Bytes
    Bytes(&'a BinaryViewArray),
    /// No value at all
    Null,
}

impl<'a> Source<'a> {
    /// Looks at an array.
    pub fn new(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Int64 => Self::Int(array.as_primitive::<Int64Type>()),
            DataType::UInt64 => Self::UInt(array.as_primitive::<UInt64Type>()),
            DataType::Float64 => Self::Float(array.as_primitive::<Float64Type>()),
            DataType::Decimal128(_, scale) => {
                Self::Decimal128(array.as_primitive::<Decimal128Type>(), *scale as u8)
            }
            DataType::Decimal256(_, scale) => {
                Self::Decimal256(array.as_primitive::<Decimal256Type>(), *scale as u8)
            }
            DataType::BinaryView => Self::Bytes(array.as_binary_view()),
            other => {
                debug_assert!(*other == DataType::Null, "{other} is no physical type");
                Self::Null
            }
        }
    }

    /// The value of a row that is not NULL.
    pub fn datum(self, row: usize) -> Datum<'a> {
        match self {
            Self::Bool(array) => Datum::Int(i64::from(array.value(row))),
            Self::Int(array) => Datum::Int(array.value(row)),
            Self::UInt(array) => Datum::UInt(array.value(row)),
            Self::Float(array) => Datum::Float(array.value(row)),
            Self::Decimal128(array, scale) => {
                Datum::Decimal(Decimal::from_i128(array.value(row), scale))
            }
            Self::Decimal256(array, scale) => Datum::Decimal(Decimal::new(array.value(row), scale)),
            Self::Bytes(array) => Datum::Bytes(array.value(row)),
            Self::Null => Datum::Int(0),
        }
    }

    /// Whether a row is NULL.
    pub fn is_null(self, row: usize) -> bool {
        match self {
            Self::Bool(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::UInt(array) => array.is_null(row),
            Self::Float(array) => array.is_null(row),
            Self::Decimal128(array, _) => array.is_null(row),
            Self::Decimal256(array, _) => array.is_null(row),
            Self::Bytes(array) => array.is_null(row),
            Self::Null => true,
        }
    }

    /// The value of a row, if any.
    pub fn get(self, row: usize) -> Option<Datum<'a>> {
        (!self.is_null(row)).then(|| self.datum(row))
    }
}
