//! Byte-wise comparison of rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use mayfly_types::Batch;

/// Whether two columns of one type hold the same value in a row, to the byte.
pub(super) fn same_value(a: &ArrayRef, b: &ArrayRef, row: usize) -> bool {
    if a.is_null(row) || b.is_null(row) {
        return a.is_null(row) == b.is_null(row);
    }
    fn equal<T: ArrowPrimitiveType>(a: &ArrayRef, b: &ArrayRef, row: usize) -> bool {
        a.as_primitive::<T>().value(row) == b.as_primitive::<T>().value(row)
    }
    match a.data_type() {
        DataType::Int64 => equal::<Int64Type>(a, b, row),
        DataType::UInt64 => equal::<UInt64Type>(a, b, row),
        DataType::Decimal128(..) => equal::<Decimal128Type>(a, b, row),
        DataType::Decimal256(..) => equal::<Decimal256Type>(a, b, row),
        DataType::Float64 => {
            let bits = |array: &ArrayRef| array.as_primitive::<Float64Type>().value(row).to_bits();
            bits(a) == bits(b)
        }
        _ => a.as_binary_view().value(row) == b.as_binary_view().value(row),
    }
}

/// Whether two batches of one row hold the same values, to the byte.
pub(super) fn same_row(a: &Batch, b: &Batch) -> bool {
    let mut pairs = a.columns().iter().zip(b.columns());
    pairs.all(|(a, b)| same_value(a, b, 0))
}
