//! Conversion of values to columns and to text, by crate `types`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use arrow_schema::DataType;
use mayfly_types::convert;
use mayfly_types::temporal::{DateTime, TimeZone};
use mayfly_types::{SqlType, Value};

/// The zero date.
pub(crate) const ZERO_DATE: DateTime = DateTime::date(0, 0, 0);

/// The value of a row.
pub fn value_at(array: &ArrayRef, row: usize) -> Value {
    convert::array_value(array, row)
}

/// A value in its display form; empty for NULL.
pub(crate) fn display(value: &Value, ty: &SqlType) -> Vec<u8> {
    convert::text::format_value(value, ty).unwrap_or_default()
}

/// Appends a row's value in its display form. False, and nothing is appended, for NULL.
pub(crate) fn display_row(array: &ArrayRef, row: usize, ty: &SqlType, out: &mut Vec<u8>) -> bool {
    convert::ColumnFormatter::new(array.as_ref(), ty).append(row, out)
}

/// The rows at which a condition is false, neither true nor NULL.
pub(crate) fn false_rows(values: &ArrayRef) -> Vec<usize> {
    let is_false = |row: usize| match values.data_type() {
        DataType::Boolean => !values.as_boolean().value(row),
        DataType::Int64 => values.as_primitive::<Int64Type>().value(row) == 0,
        DataType::UInt64 => values.as_primitive::<UInt64Type>().value(row) == 0,
        DataType::Float64 => values.as_primitive::<Float64Type>().value(row) == 0.0,
        _ => match convert::array_value(values, row) {
            Value::Decimal { unscaled, .. } => unscaled == i256::ZERO,
            Value::Bytes(text) => convert::number::parse_double(&text).value == 0.0,
            _ => false,
        },
    };
    (0..values.len())
        .filter(|row| values.is_valid(*row) && is_false(*row))
        .collect()
}

/// A Unix time as a DATETIME in a time zone.
pub(crate) fn datetime_of_unix(microseconds: i64, zone: &TimeZone) -> Value {
    let local = zone.local_of_unix(microseconds).unwrap_or(ZERO_DATE);
    Value::Int(local.pack())
}
