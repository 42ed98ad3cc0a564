//! Physical types of columns between operators (none is Bool).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_types::{PhysicalType, SqlType};

/// Physical type of a column between operators.
pub(crate) fn column_type(ty: &SqlType) -> PhysicalType {
    match ty.physical() {
        PhysicalType::Bool => PhysicalType::Int64,
        physical => physical,
    }
}

/// Physical types of the columns of an operator's output.
pub(crate) fn column_types(types: &[SqlType]) -> Vec<PhysicalType> {
    types.iter().map(column_type).collect()
}

/// Converts an expression's result to a column between operators.
pub(crate) fn to_column(array: ArrayRef) -> ArrayRef {
    if *array.data_type() != DataType::Boolean {
        return array;
    }
    let array = array.as_boolean();
    let values: Vec<i64> = array.values().iter().map(i64::from).collect();
    Arc::new(Int64Array::new(values.into(), array.nulls().cloned()))
}

/// Converts a column between operators to a predicate's result.
pub(crate) fn to_boolean(array: &ArrayRef) -> ArrayRef {
    match array.as_primitive_opt::<arrow_array::types::Int64Type>() {
        None => Arc::clone(array),
        Some(numbers) => {
            let values = numbers.values();
            Arc::new(BooleanArray::new(
                BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0),
                numbers.nulls().cloned(),
            ))
        }
    }
}
