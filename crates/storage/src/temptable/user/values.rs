//! Rows as values, one by one.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
    Int64Array, UInt64Array,
};
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Value};

/// One value of an array.
pub(super) fn value(array: &ArrayRef, ty: PhysicalType, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match ty {
        PhysicalType::Bool => Value::Int(i64::from(array.as_boolean().value(row))),
        PhysicalType::Int64 => Value::Int(array.as_primitive::<Int64Type>().value(row)),
        PhysicalType::UInt64 => Value::UInt(array.as_primitive::<UInt64Type>().value(row)),
        PhysicalType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        PhysicalType::Decimal128(scale) => Value::Decimal {
            unscaled: i256::from_i128(array.as_primitive::<Decimal128Type>().value(row)),
            scale,
        },
        PhysicalType::Decimal256(scale) => Value::Decimal {
            unscaled: array.as_primitive::<Decimal256Type>().value(row),
            scale,
        },
        PhysicalType::Bytes => Value::Bytes(array.as_binary_view().value(row).to_vec()),
    }
}

/// An array of values of a type.
pub(super) fn array<'a>(
    ty: PhysicalType,
    values: impl Iterator<Item = &'a Value> + 'a,
) -> ArrayRef {
    let int = |value: &Value| match value {
        Value::Int(value) => Some(*value),
        _ => None,
    };
    let decimal = |value: &Value| match value {
        Value::Decimal { unscaled, .. } => Some(*unscaled),
        _ => None,
    };
    match ty {
        PhysicalType::Bool => {
            let values = values.map(|value| int(value).map(|value| value != 0));
            Arc::new(values.collect::<BooleanArray>())
        }
        PhysicalType::Int64 => Arc::new(values.map(int).collect::<Int64Array>()),
        PhysicalType::UInt64 => {
            let values = values.map(|value| match value {
                Value::UInt(value) => Some(*value),
                _ => None,
            });
            Arc::new(values.collect::<UInt64Array>())
        }
        PhysicalType::Float64 => {
            let values = values.map(|value| match value {
                Value::Float(value) => Some(*value),
                _ => None,
            });
            Arc::new(values.collect::<Float64Array>())
        }
        PhysicalType::Decimal128(_) => {
            let values = values.map(|value| decimal(value).and_then(i256::to_i128));
            let array = values.collect::<Decimal128Array>();
            Arc::new(array.with_data_type(ty.arrow()))
        }
        PhysicalType::Decimal256(_) => {
            let array = values.map(decimal).collect::<Decimal256Array>();
            Arc::new(array.with_data_type(ty.arrow()))
        }
        PhysicalType::Bytes => {
            let values = values.map(|value| match value {
                Value::Bytes(value) => Some(value.as_slice()),
                _ => None,
            });
            Arc::new(values.collect::<BinaryViewArray>())
        }
    }
}
