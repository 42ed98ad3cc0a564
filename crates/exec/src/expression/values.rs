//! Conversions between arrays and single values, for constants, parameters and one-row statements.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, new_null_array};
use arrow_buffer::{BooleanBuffer, i256};
use mayfly_functions::Column;
use mayfly_types::convert::{array_of_values, array_value};
use mayfly_types::{PhysicalType, Value};

/// Array of `row_count` copies of a value.
pub fn repeat(value: &Value, physical: PhysicalType, row_count: usize) -> ArrayRef {
    match (physical, value) {
        (_, Value::Null) => new_null_array(&physical.arrow(), row_count),
        (PhysicalType::Bool, value) => Arc::new(BooleanArray::new(
            if as_i64(value) != 0 {
                BooleanBuffer::new_set(row_count)
            } else {
                BooleanBuffer::new_unset(row_count)
            },
            None,
        )),
        (PhysicalType::Int64, value) => repeat_native::<Int64Type>(as_i64(value), row_count),
        (PhysicalType::UInt64, value) => repeat_native::<UInt64Type>(as_u64(value), row_count),
        (PhysicalType::Float64, value) => repeat_native::<Float64Type>(as_f64(value), row_count),
        (PhysicalType::Decimal128(scale), value) => Arc::new(
            PrimitiveArray::<Decimal128Type>::from_value(
                as_decimal(value, scale).to_i128().unwrap_or(i128::MAX),
                row_count,
            )
            .with_data_type(physical.arrow()),
        ),
        (PhysicalType::Decimal256(scale), value) => Arc::new(
            PrimitiveArray::<Decimal256Type>::from_value(as_decimal(value, scale), row_count)
                .with_data_type(physical.arrow()),
        ),
        (PhysicalType::Bytes, Value::Bytes(bytes)) => {
            let mut builder = BinaryViewBuilder::with_capacity(row_count);
            if bytes.len() <= 12 {
                for _ in 0..row_count {
                    builder.append_value(bytes);
                }
            } else if row_count > 0 {
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let block = builder.append_block(bytes.clone().into());
                for _ in 0..row_count {
                    builder
                        .try_append_view(block, 0, length)
                        .expect("the view covers the block that was just appended");
                }
            }
            Arc::new(builder.finish())
        }
        (PhysicalType::Bytes, _) => {
            debug_assert!(false, "a constant of a string type holds bytes");
            new_null_array(&physical.arrow(), row_count)
        }
    }
}

fn repeat_native<T: ArrowPrimitiveType>(value: T::Native, row_count: usize) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_value(value, row_count))
}

/// A constant in the representation that an array of its type gives.
pub(super) fn as_in_array(value: Value, physical: PhysicalType) -> Value {
    match (&value, physical) {
        (Value::Null, _)
        | (Value::Int(_), PhysicalType::Bool | PhysicalType::Int64)
        | (Value::UInt(_), PhysicalType::UInt64)
        | (Value::Float(_), PhysicalType::Float64)
        | (Value::Bytes(_), PhysicalType::Bytes) => value,
        _ => array_value(&repeat(&value, physical, 1), 0),
    }
}

/// Array of these values.
pub(crate) fn array_of(values: &[Value], physical: PhysicalType) -> ArrayRef {
    if let [value] = values {
        return repeat(value, physical, 1);
    }
    array_of_values(values, physical)
}

/// The column as an array.
pub(crate) fn into_array(column: Column, physical: PhysicalType, row_count: usize) -> ArrayRef {
    match column {
        Column::Array(array) => array,
        Column::Constant(value) => repeat(&value, physical, row_count),
    }
}

/// Bits of a constant as a signed integer; the binder makes sure that types agree.
pub fn as_i64(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value,
        Value::UInt(value) => *value as i64,
        Value::Float(value) => *value as i64,
        Value::Null | Value::Decimal { .. } | Value::Bytes(_) => 0,
    }
}

/// Bits of a constant as an unsigned integer.
pub fn as_u64(value: &Value) -> u64 {
    match value {
        Value::UInt(value) => *value,
        value => as_i64(value) as u64,
    }
}

/// A constant as a double.
pub fn as_f64(value: &Value) -> f64 {
    match value {
        Value::Float(value) => *value,
        Value::UInt(value) => *value as f64,
        value => as_i64(value) as f64,
    }
}

/// Unscaled digits of a constant at `scale`. The binder gives decimal constants the scale of their type, so that only
/// literals with fewer decimals are ever rescaled here.
pub fn as_decimal(value: &Value, scale: u8) -> i256 {
    let (unscaled, from) = match value {
        Value::Decimal { unscaled, scale } => (*unscaled, *scale),
        Value::UInt(value) => (i256::from_i128(i128::from(*value)), 0),
        value => (i256::from_i128(i128::from(as_i64(value))), 0),
    };
    let ten = i256::from_i128(10);
    let mut unscaled = unscaled;
    for _ in from..scale {
        unscaled = unscaled.wrapping_mul(ten);
    }
    for _ in scale..from {
        unscaled = unscaled.wrapping_div(ten);
    }
    unscaled
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;

    #[test]
    fn every_physical_type_survives_the_round_trip() {
        let decimal = |n: i128, scale| Value::Decimal {
            unscaled: i256::from_i128(n),
            scale,
        };
        let cases = [
            (PhysicalType::Bool, Value::Int(1)),
            (PhysicalType::Int64, Value::Int(-7)),
            (PhysicalType::UInt64, Value::UInt(u64::MAX)),
            (PhysicalType::Float64, Value::Float(-0.5)),
            (PhysicalType::Decimal128(2), decimal(-12345, 2)),
            (PhysicalType::Decimal256(30), decimal(i128::MAX, 30)),
            (PhysicalType::Bytes, Value::from("short")),
            (PhysicalType::Bytes, Value::from("longer than twelve bytes")),
        ];
        for (physical, value) in cases {
            for rows in [0, 1, 3] {
                let array = repeat(&value, physical, rows);
                assert_eq!(array.len(), rows);
                assert_eq!(array.data_type(), &physical.arrow());
                for row in 0..rows {
                    assert_eq!(array_value(&array, row), value);
                }
            }
            let array = array_of(&[value.clone(), Value::Null, value.clone()], physical);
            assert_eq!(array.data_type(), &physical.arrow());
            assert_eq!(array_value(&array, 0), value);
            assert_eq!(array_value(&array, 1), Value::Null);
            assert_eq!(array_value(&array, 2), value);
        }
    }

    #[test]
    fn decimal_constants_are_stretched_to_the_scale_of_their_type() {
        let value = Value::Decimal {
            unscaled: i256::from_i128(15),
            scale: 1,
        };
        assert_eq!(as_decimal(&value, 3), i256::from_i128(1500));
        assert_eq!(as_decimal(&Value::Int(-2), 2), i256::from_i128(-200));
    }
}
