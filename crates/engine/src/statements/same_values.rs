//! Whether rows hold the same values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use mayfly_types::Batch;

/// Whether two columns of one type hold the same value in a row, to the byte.
pub(super) fn same_value(a: &ArrayRef, b: &ArrayRef, row: usize) -> bool {
    if a.is_null(row) || b.is_null(row) {
        return a.is_null(row) == b.is_null(row);
    }
    match a.data_type() {
        DataType::Int64 => {
            a.as_primitive::<Int64Type>().value(row) == b.as_primitive::<Int64Type>().value(row)
        }
        DataType::UInt64 => {
            a.as_primitive::<UInt64Type>().value(row) == b.as_primitive::<UInt64Type>().value(row)
        }
        DataType::Float64 => {
            let bits = |array: &ArrayRef| array.as_primitive::<Float64Type>().value(row).to_bits();
            bits(a) == bits(b)
        }
        DataType::Decimal128(..) => {
            let digits = |array: &ArrayRef| array.as_primitive::<Decimal128Type>().value(row);
            digits(a) == digits(b)
        }
        DataType::Decimal256(..) => {
            let digits = |array: &ArrayRef| array.as_primitive::<Decimal256Type>().value(row);
            digits(a) == digits(b)
        }
        _ => a.as_binary_view().value(row) == b.as_binary_view().value(row),
    }
}

/// Whether two batches of one row hold the same values, to the byte.
pub(super) fn same_row(a: &Batch, b: &Batch) -> bool {
    let pairs = a.columns().iter().zip(b.columns());
    pairs.into_iter().all(|(a, b)| same_value(a, b, 0))
}
