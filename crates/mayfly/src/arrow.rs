//! Columns of a result as Arrow arrays, and single values of them.
//!
//! The engine computes on seven arrays, beside which a SQL type says what their values mean; here each becomes the Arrow type
//! that says so by itself. Integers of eight bytes, doubles, DECIMAL, text and bytes keep their buffers.
//!
//! | SQL | Arrow |
//! |---|---|
//! | TINYINT … BIGINT, UNSIGNED | Int8 … Int64, UInt8 … UInt64 (MEDIUMINT: Int32) |
//! | predicates | Boolean |
//! | FLOAT, DOUBLE | Float32, Float64 |
//! | DECIMAL(p, s) | Decimal128(p, s), beyond 38 digits Decimal256(p, s) |
//! | BIT | UInt64 |
//! | YEAR | UInt16 |
//! | DATE | Date32 |
//! | DATETIME, TIMESTAMP (in the session's time zone) | Timestamp(Microsecond, none) |
//! | TIME, which is an interval of up to 838 hours | Duration(Microsecond) |
//! | CHAR, VARCHAR, TEXT, SET | Utf8View |
//! | ENUM | Dictionary(UInt16, Utf8) of its members |
//! | BINARY, VARBINARY, BLOB | BinaryView |
//! | JSON | Utf8View with the extension `arrow.json` |
//! | NULL | Null |

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, NullArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray, UInt16Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use mayfly_engine::{
    Batch, CollationId, ColumnFormatter, DateTime, Decimal, Error, Result, ResultColumn, SqlType,
    TypeKind, codes,
};

use crate::value::{Date, Value};

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

/// The Arrow type of a SQL type.
fn data_type(ty: &SqlType) -> DataType {
    let (precision, scale) = (ty.length.min(65) as u8, ty.decimals as i8);
    match (ty.kind, ty.unsigned) {
        (TypeKind::Null, _) => DataType::Null,
        (TypeKind::Boolean, _) => DataType::Boolean,
        (TypeKind::TinyInt, false) => DataType::Int8,
        (TypeKind::TinyInt, true) => DataType::UInt8,
        (TypeKind::SmallInt, false) => DataType::Int16,
        (TypeKind::SmallInt, true) | (TypeKind::Year, _) => DataType::UInt16,
        (TypeKind::MediumInt | TypeKind::Int, false) => DataType::Int32,
        (TypeKind::MediumInt | TypeKind::Int, true) => DataType::UInt32,
        (TypeKind::BigInt, false) => DataType::Int64,
        (TypeKind::BigInt, true) | (TypeKind::Bit, _) => DataType::UInt64,
        (TypeKind::Float, _) => DataType::Float32,
        (TypeKind::Double, _) => DataType::Float64,
        (TypeKind::Decimal, _) if precision <= 38 => DataType::Decimal128(precision.max(1), scale),
        (TypeKind::Decimal, _) => DataType::Decimal256(precision, scale),
        (TypeKind::Date, _) => DataType::Date32,
        (TypeKind::DateTime | TypeKind::Timestamp, _) => {
            DataType::Timestamp(TimeUnit::Microsecond, None)
        }
        (TypeKind::Time, _) => DataType::Duration(TimeUnit::Microsecond),
        (TypeKind::Enum, _) => {
            DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8))
        }
        (TypeKind::Set | TypeKind::Json, _) => DataType::Utf8View,
        _ if ty.collation == CollationId::BINARY => DataType::BinaryView,
        _ => DataType::Utf8View,
    }
}

/// The field of a column.
pub(crate) fn field(column: &ResultColumn) -> Field {
    let field = Field::new(&column.name, data_type(&column.ty), column.nullable);
    match column.ty.kind {
        TypeKind::Json => field.with_metadata(HashMap::from([(
            "ARROW:extension:name".to_owned(),
            "arrow.json".to_owned(),
        )])),
        TypeKind::Null => field.with_nullable(true),
        _ => field,
    }
}

/// The schema of a result.
pub(crate) fn schema(columns: &[ResultColumn]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Rows as a record batch; `before` rows of the result came before them.
pub(crate) fn record_batch(
    columns: &[ResultColumn],
    batch: &Batch,
    before: u64,
) -> Result<RecordBatch> {
    let arrays = columns.iter().zip(batch.columns());
    let arrays = arrays.map(|(column, array)| typed(array, column, before));
    let arrays = arrays.collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.row_count()));
    RecordBatch::try_new_with_options(schema(columns), arrays, &options).map_err(defect)
}

fn defect(error: ArrowError) -> Error {
    Error::internal(error)
}

/// Numbers as a narrower type, which holds them by their SQL type.
fn narrowed<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
    array: &ArrayRef,
    narrow: impl Fn(From::Native) -> To::Native,
) -> ArrayRef {
    Arc::new(array.as_primitive::<From>().unary::<_, To>(narrow))
}

/// A column as the array of [`data_type`].
fn typed(array: &ArrayRef, column: &ResultColumn, before: u64) -> Result<ArrayRef> {
    let ty = &column.ty;
    Ok(match data_type(ty) {
        DataType::Null => Arc::new(NullArray::new(array.len())),
        DataType::Boolean if *array.data_type() == DataType::Int64 => {
            let numbers = array.as_primitive::<Int64Type>();
            Arc::new(BooleanArray::from_unary(numbers, |number| number != 0))
        }
        DataType::Int8 => narrowed::<Int64Type, Int8Type>(array, |number| number as i8),
        DataType::Int16 => narrowed::<Int64Type, Int16Type>(array, |number| number as i16),
        DataType::Int32 => narrowed::<Int64Type, Int32Type>(array, |number| number as i32),
        DataType::UInt8 => narrowed::<UInt64Type, UInt8Type>(array, |number| number as u8),
        DataType::UInt16 => narrowed::<UInt64Type, UInt16Type>(array, |number| number as u16),
        DataType::UInt32 => narrowed::<UInt64Type, UInt32Type>(array, |number| number as u32),
        DataType::Float32 => narrowed::<Float64Type, Float32Type>(array, |number| number as f32),
        DataType::Decimal128(precision, scale) => {
            let numbers = array.as_primitive::<Decimal128Type>().clone();
            let numbers = numbers.with_precision_and_scale(precision, scale);
            Arc::new(numbers.map_err(defect)?)
        }
        DataType::Decimal256(precision, scale) => {
            let numbers = array.as_primitive::<Decimal256Type>().clone();
            let numbers = numbers.with_precision_and_scale(precision, scale);
            Arc::new(numbers.map_err(defect)?)
        }
        DataType::Date32 => Arc::new(points_in_time::<Date32Type>(
            array,
            column,
            before,
            |micros| i32::try_from(micros.div_euclid(MICROSECONDS_OF_DAY)).unwrap_or(i32::MAX),
        )?),
        DataType::Timestamp(..) => Arc::new(points_in_time::<TimestampMicrosecondType>(
            array,
            column,
            before,
            |micros| micros,
        )?),
        DataType::Duration(_) => {
            let numbers = array.as_primitive::<Int64Type>();
            Arc::new(numbers.reinterpret_cast::<DurationMicrosecondType>())
        }
        DataType::Dictionary(..) => Arc::new(members(array, ty)?),
        DataType::Utf8View if matches!(ty.kind, TypeKind::Set | TypeKind::Json) => {
            let formatter = ColumnFormatter::new(array.as_ref(), ty);
            let mut texts = StringViewBuilder::with_capacity(array.len());
            let mut text = Vec::new();
            for row in 0..array.len() {
                text.clear();
                let is_there = formatter.append(row, &mut text);
                texts.append_option(is_there.then(|| String::from_utf8_lossy(&text)));
            }
            Arc::new(texts.finish())
        }
        DataType::Utf8View => {
            let texts = array.as_binary_view().clone();
            Arc::new(texts.to_string_view().map_err(defect)?)
        }
        _ => Arc::clone(array),
    })
}

const MICROSECONDS_OF_DAY: i64 = 86_400_000_000;

/// Dates as microseconds since 1970, each converted; 1292 for one that the calendar does not have.
fn points_in_time<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    column: &ResultColumn,
    before: u64,
    convert: impl Fn(i64) -> T::Native,
) -> Result<PrimitiveArray<T>> {
    let epoch = DateTime::date(1970, 1, 1).to_micros();
    let packed = array.as_primitive::<Int64Type>();
    let mut row = before;
    let converted = packed.iter().map(|packed| {
        row += 1;
        let Some(packed) = packed else {
            return Ok(None);
        };
        let value = DateTime::unpack(packed);
        let micros = value.to_micros();
        if value.has_zero_part() || DateTime::from_micros(micros.into()) != Some(value) {
            let (kind, shown) = match column.ty.kind {
                TypeKind::Date => (
                    "date",
                    Date {
                        year: value.year,
                        month: value.month,
                        day: value.day,
                    }
                    .to_string(),
                ),
                _ => ("datetime", Value::DateTime(value).to_string()),
            };
            let arguments: [&dyn std::fmt::Display; 4] = [&kind, &shown, &column.name, &row];
            return Err(codes::ER_WRONG_COLUMN_TEMPORAL_VALUE.with(&arguments));
        }
        Ok(Some(convert(micros - epoch)))
    });
    converted.collect()
}

/// The members of an ENUM; the error value '' is one more where there is one.
fn members(array: &ArrayRef, ty: &SqlType) -> Result<DictionaryArray<UInt16Type>> {
    let indexes = array.as_primitive::<UInt64Type>();
    let count = ty.members.len() as u64;
    let has_error = indexes
        .iter()
        .flatten()
        .any(|index| index == 0 || index > count);
    let key = |index: u64| match index {
        0 => count,
        index => (index - 1).min(count),
    };
    let keys: UInt16Array = indexes.unary(|index| key(index) as u16);
    let error = has_error.then_some("");
    let members = ty.members.iter().map(String::as_str).chain(error);
    let members = StringArray::from_iter_values(members);
    DictionaryArray::try_new(keys, Arc::new(members)).map_err(defect)
}
