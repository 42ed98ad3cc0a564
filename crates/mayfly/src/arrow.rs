//! Single values of a result's columns. The columns themselves become record batches in the engine (`arrow_out`).

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use mayfly_engine::{CollationId, ColumnFormatter, Decimal, SqlType, TypeKind};

use crate::value::Value;

/// The value of a row of an array of a SQL type.
pub(crate) fn value<'r>(array: &'r ArrayRef, ty: &'r SqlType, row: usize) -> Value<'r> {
    if ty.kind == TypeKind::Null || array.is_null(row) {
        return Value::Null;
    }
    match (ty.kind, array.data_type()) {
        (TypeKind::Enum, _) => {
            let index = array.as_primitive::<UInt64Type>().value(row);
            let member = usize::try_from(index)
                .ok()
                .and_then(|index| index.checked_sub(1));
            let member = member.and_then(|member| ty.members.get(member));
            Value::Text(Cow::Borrowed(member.map_or("", String::as_str)))
        }
        (TypeKind::Set | TypeKind::Json, _) => Value::Text(Cow::Owned(formatted(array, ty, row))),
        (kind, DataType::Int64) => {
            Value::of_integer(array.as_primitive::<Int64Type>().value(row), kind)
        }
        (_, DataType::Boolean) => Value::Int(array.as_boolean().value(row).into()),
        (_, DataType::UInt64) => Value::UInt(array.as_primitive::<UInt64Type>().value(row)),
        (_, DataType::Float64) => Value::Double(array.as_primitive::<Float64Type>().value(row)),
        (_, DataType::Decimal128(_, scale)) => {
            let number = array.as_primitive::<Decimal128Type>().value(row);
            Value::Decimal(Decimal::from_i128(number, scale.unsigned_abs()))
        }
        (_, DataType::Decimal256(_, scale)) => {
            let number = array.as_primitive::<Decimal256Type>().value(row);
            Value::Decimal(Decimal::new(number, scale.unsigned_abs()))
        }
        _ => {
            let bytes = array.as_binary_view().value(row);
            match std::str::from_utf8(bytes) {
                Ok(text) if ty.collation != CollationId::BINARY => Value::Text(text.into()),
                _ => Value::Bytes(bytes.into()),
            }
        }
    }
}

/// The text of a value, as a client shows it; bytes that are no text as they are.
pub(crate) fn text<'r>(array: &'r ArrayRef, ty: &'r SqlType, row: usize) -> Value<'r> {
    match value(array, ty, row) {
        Value::Bytes(bytes) => match String::from_utf8(bytes.into_owned()) {
            Ok(text) => Value::Text(text.into()),
            Err(error) => Value::Bytes(error.into_bytes().into()),
        },
        kept @ (Value::Null | Value::Text(_)) => kept,
        _ => Value::Text(formatted(array, ty, row).into()),
    }
}

/// The text of a value, as a client shows it.
fn formatted(array: &ArrayRef, ty: &SqlType, row: usize) -> String {
    let mut text = Vec::new();
    ColumnFormatter::new(array.as_ref(), ty).append(row, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
