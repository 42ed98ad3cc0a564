//! Arrow's columns as columns of tables: which SQL type each Arrow type is, and the arrays that the engine computes on.
//!
//! | Arrow | SQL |
//! |---|---|
//! | Boolean | TINYINT(1) |
//! | Int8 … Int64, UInt8 … UInt64 | TINYINT … BIGINT, UNSIGNED |
//! | Float16, Float32, Float64 | FLOAT, DOUBLE |
//! | Decimal32 … Decimal256(p, s) | DECIMAL(p, s) |
//! | Date32, Date64 | DATE |
//! | Timestamp | DATETIME(6) in UTC where it has a time zone; nanoseconds are cut |
//! | Time32, Time64, Duration | TIME(6) |
//! | Utf8, LargeUtf8, Utf8View | LONGTEXT, with the extension `arrow.json` too |
//! | Binary, LargeBinary, BinaryView, FixedSizeBinary | LONGBLOB; CHAR(36) with the extension `arrow.uuid` |
//! | List, LargeList, views of them, FixedSizeList, Map, Struct | JSON |
//! | Dictionary | as its values |
//! | Null | TINYINT, always NULL |
//!
//! Values that SQL has none for (a date beyond the year 9999, a DECIMAL of more than 65 digits, NaN) are errors, or NULL where
//! the caller warns of it, never other values.

mod nested;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, Int64Array, PrimitiveArray, RecordBatch,
    downcast_dictionary_array,
};
use arrow_schema::{DataType, Field, TimeUnit};
use mayfly_types::error::codes;
use mayfly_types::temporal::DateTime;
use mayfly_types::{Batch, CollationId, Error, Result, SqlType, TypeKind};

use crate::catalog::provider::ProvidedColumn;

/// The column of a table for a field.
///
/// # Errors
/// 1235 for a type that no SQL type stands for.
pub fn column(field: &Field) -> Result<ProvidedColumn> {
    let ty = if is_uuid(field) {
        Some(SqlType {
            kind: TypeKind::Char,
            ..SqlType::varchar(36, CollationId::default())
        })
    } else {
        sql_type(field.data_type())
    };
    Ok(ProvidedColumn {
        name: field.name().clone(),
        ty: ty.ok_or_else(|| unsupported(field))?,
        nullable: field.is_nullable() || *field.data_type() == DataType::Null,
    })
}

fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.uuid")
        && *field.data_type() == DataType::FixedSizeBinary(16)
}

fn unsupported(field: &Field) -> Error {
    let what = format!(
        "column '{}' of Arrow's type {}",
        field.name(),
        field.data_type()
    );
    codes::ER_NOT_SUPPORTED_YET.with(&[&what])
}

/// `None`: no SQL type stands for it.
fn sql_type(ty: &DataType) -> Option<SqlType> {
    let unsigned = |kind| SqlType {
        unsigned: true,
        ..SqlType::integer(kind)
    };
    let text = |collation| SqlType::text(TypeKind::LongText, collation);
    Some(match ty {
        DataType::Null | DataType::Int8 => SqlType::integer(TypeKind::TinyInt),
        DataType::Boolean => SqlType {
            length: 1,
            ..SqlType::integer(TypeKind::TinyInt)
        },
        DataType::Int16 => SqlType::integer(TypeKind::SmallInt),
        DataType::Int32 => SqlType::integer(TypeKind::Int),
        DataType::Int64 => SqlType::bigint(),
        DataType::UInt8 => unsigned(TypeKind::TinyInt),
        DataType::UInt16 => unsigned(TypeKind::SmallInt),
        DataType::UInt32 => unsigned(TypeKind::Int),
        DataType::UInt64 => SqlType::bigint_unsigned(),
        DataType::Float16 | DataType::Float32 => SqlType {
            kind: TypeKind::Float,
            length: 12,
            ..SqlType::double()
        },
        DataType::Float64 => SqlType::double(),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            let scale = u8::try_from(*scale).ok()?;
            if *precision > 65 || scale > 30 {
                return None;
            }
            SqlType::decimal(*precision, scale)
        }
        DataType::Date32 | DataType::Date64 => SqlType::temporal(TypeKind::Date, 0),
        DataType::Timestamp(..) => SqlType::temporal(TypeKind::DateTime, 6),
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) => {
            SqlType::temporal(TypeKind::Time, 6)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => text(CollationId::default()),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => text(CollationId::BINARY),
        DataType::Dictionary(_, values) => sql_type(values)?,
        nested if nested::is_supported(nested) => SqlType::json(),
        _ => return None,
    })
}

/// The rows of a record batch.
///
/// # Errors
/// 1264 for a value that its SQL type does not have, NaN and infinities among them.
pub fn batch(record: &RecordBatch) -> Result<Batch> {
    let fields = record.schema_ref().fields().iter();
    let arrays = fields.zip(record.columns());
    let arrays = arrays.map(|(field, array)| values(array, field, &Err));
    Ok(Batch::new(
        arrays.collect::<Result<_>>()?,
        record.num_rows(),
    ))
}

/// The array that the engine computes on for an array of a field's column. NaN and infinities, which SQL does not have,
/// are NULL, unless `lost` refuses that: it is called with error 1264 for the first of them.
///
/// # Errors
/// 1264 for another value that its SQL type does not have.
pub fn values(
    array: &ArrayRef,
    field: &Field,
    lost: &dyn Fn(Error) -> Result<()>,
) -> Result<ArrayRef> {
    if is_uuid(field) {
        return Ok(nested::uuids(array));
    }
    let stored = stored(array, field.name())?;
    let Some(numbers) = stored.as_primitive_opt::<Float64Type>() else {
        return Ok(stored);
    };
    let is_lost = |number: Option<f64>| number.is_some_and(|number| !number.is_finite());
    let Some(row) = numbers.iter().position(is_lost) else {
        return Ok(stored);
    };
    lost(codes::ER_WARN_DATA_OUT_OF_RANGE.with(&[&field.name(), &(row + 1)]))?;
    let finite = |number: f64| number.is_finite().then_some(number);
    Ok(Arc::new(numbers.unary_opt::<_, Float64Type>(finite)))
}

fn widened<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef
where
    To::Native: std::convert::From<From::Native>,
{
    let numbers = array.as_primitive::<From>();
    Arc::new(numbers.unary::<_, To>(|number| number.into()))
}

/// Numbers that stand for points in time or intervals, each made a packed value.
fn points<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &ArrayRef,
    name: &str,
    point: impl Fn(i64) -> Option<i64>,
) -> Result<ArrayRef> {
    let numbers = array.as_primitive::<T>();
    let mut are_points = true;
    let values = numbers.values().iter().map(|number| {
        point((*number).into()).unwrap_or_else(|| {
            are_points = false;
            0
        })
    });
    let values: Vec<i64> = values.collect();
    if are_points {
        return Ok(Arc::new(Int64Array::new(
            values.into(),
            numbers.nulls().cloned(),
        )));
    }
    // A number under NULL may be any.
    let mut row = 0_u64;
    let converted = numbers.iter().map(|number| {
        row += 1;
        let Some(number) = number else {
            return Ok(None);
        };
        let out_of_range = || codes::ER_WARN_DATA_OUT_OF_RANGE.with(&[&name, &row]);
        point(number.into()).map(Some).ok_or_else(out_of_range)
    });
    Ok(Arc::new(converted.collect::<Result<Int64Array>>()?))
}

const MICROS: i64 = 1_000_000;

/// Microseconds since 1970 as a packed DATETIME.
#[inline]
fn packed(micros: Option<i64>) -> Option<i64> {
    const DAY: i64 = 86_400 * MICROS;
    let micros = micros?;
    packed_day(micros.div_euclid(DAY), micros.rem_euclid(DAY))
}

/// Days since 1970 and microseconds of the day as a packed DATETIME.
#[inline]
fn packed_day(days: i64, micros: i64) -> Option<i64> {
    let date = DateTime::of_unix_day(days)?;
    (date.year > 0).then(|| date.with_time_of_day(micros).pack())
}

/// Microseconds of a TIME; none beyond its range.
fn time(micros: Option<i64>) -> Option<i64> {
    const MAX: u64 = (838 * 3600 + 59 * 60 + 59) * MICROS.cast_unsigned();
    // Under NULL there may be any number.
    micros.filter(|micros| micros.unsigned_abs() <= MAX)
}

/// The array that the engine computes on.
fn stored(array: &ArrayRef, name: &str) -> Result<ArrayRef> {
    let binary = |strings: BinaryViewArray| -> ArrayRef { Arc::new(strings) };
    Ok(match array.data_type() {
        DataType::Null => Arc::new(Int64Array::new_null(array.len())),
        DataType::Boolean => {
            let values = array.as_boolean().iter();
            Arc::new(
                values
                    .map(|value| value.map(i64::from))
                    .collect::<Int64Array>(),
            )
        }
        DataType::Int8 => widened::<Int8Type, Int64Type>(array),
        DataType::Int16 => widened::<Int16Type, Int64Type>(array),
        DataType::Int32 => widened::<Int32Type, Int64Type>(array),
        DataType::UInt8 => widened::<UInt8Type, UInt64Type>(array),
        DataType::UInt16 => widened::<UInt16Type, UInt64Type>(array),
        DataType::UInt32 => widened::<UInt32Type, UInt64Type>(array),
        DataType::Float16 => widened::<Float16Type, Float64Type>(array),
        DataType::Float32 => widened::<Float32Type, Float64Type>(array),
        DataType::Decimal32(_, scale) => decimal(
            &array.as_primitive::<Decimal32Type>().unary(i128::from),
            *scale,
        ),
        DataType::Decimal64(_, scale) => decimal(
            &array.as_primitive::<Decimal64Type>().unary(i128::from),
            *scale,
        ),
        DataType::Decimal128(_, scale) => decimal(array.as_primitive(), *scale),
        DataType::Decimal256(precision, scale) if *precision <= 38 => {
            // The engine has those in sixteen bytes.
            let numbers = array.as_primitive::<Decimal256Type>();
            let narrow = numbers.unary_opt::<_, Decimal128Type>(|number| number.to_i128());
            decimal(&narrow, *scale)
        }
        DataType::Decimal256(_, scale) => {
            let numbers = array.as_primitive::<Decimal256Type>().clone();
            Arc::new(numbers.with_data_type(DataType::Decimal256(76, *scale)))
        }
        DataType::Date32 => points::<Date32Type>(array, name, |days| packed_day(days, 0))?,
        DataType::Date64 => points::<Date64Type>(array, name, |millis| {
            packed_day(millis.div_euclid(86_400_000), 0)
        })?,
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => {
                points::<TimestampSecondType>(array, name, |it| packed(it.checked_mul(MICROS)))?
            }
            TimeUnit::Millisecond => {
                points::<TimestampMillisecondType>(array, name, |it| packed(it.checked_mul(1000)))?
            }
            TimeUnit::Microsecond => {
                points::<TimestampMicrosecondType>(array, name, |it| packed(Some(it)))?
            }
            TimeUnit::Nanosecond => points::<TimestampNanosecondType>(array, name, |it| {
                packed(Some(it.div_euclid(1000)))
            })?,
        },
        DataType::Time32(TimeUnit::Second) => {
            points::<Time32SecondType>(array, name, |it| time(it.checked_mul(MICROS)))?
        }
        DataType::Time32(_) => {
            points::<Time32MillisecondType>(array, name, |it| time(it.checked_mul(1000)))?
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            points::<Time64MicrosecondType>(array, name, |it| time(Some(it)))?
        }
        DataType::Time64(_) => {
            points::<Time64NanosecondType>(array, name, |it| time(Some(it / 1000)))?
        }
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => {
                points::<DurationSecondType>(array, name, |it| time(it.checked_mul(MICROS)))?
            }
            TimeUnit::Millisecond => {
                points::<DurationMillisecondType>(array, name, |it| time(it.checked_mul(1000)))?
            }
            TimeUnit::Microsecond => {
                points::<DurationMicrosecondType>(array, name, |it| time(Some(it)))?
            }
            TimeUnit::Nanosecond => {
                points::<DurationNanosecondType>(array, name, |it| time(Some(it / 1000)))?
            }
        },
        DataType::Utf8 => binary(
            array
                .as_string::<i32>()
                .iter()
                .map(|it| it.map(str::as_bytes))
                .collect(),
        ),
        DataType::LargeUtf8 => binary(
            array
                .as_string::<i64>()
                .iter()
                .map(|it| it.map(str::as_bytes))
                .collect(),
        ),
        DataType::Utf8View => binary(array.as_string_view().clone().to_binary_view()),
        DataType::Binary => binary(array.as_binary::<i32>().iter().collect()),
        DataType::LargeBinary => binary(array.as_binary::<i64>().iter().collect()),
        DataType::FixedSizeBinary(_) => binary(array.as_fixed_size_binary().iter().collect()),
        DataType::Dictionary(..) => dictionary(array, name)?,
        nested if nested::is_nested(nested) => nested::documents(array, name)?,
        _ => Arc::clone(array),
    })
}

/// Decimals of up to 38 digits, under the type that the engine has them in.
fn decimal(numbers: &PrimitiveArray<Decimal128Type>, scale: i8) -> ArrayRef {
    let numbers = numbers.clone();
    Arc::new(numbers.with_data_type(DataType::Decimal128(38, scale)))
}

/// The values of a dictionary, one for each row.
fn dictionary(array: &ArrayRef, name: &str) -> Result<ArrayRef> {
    let keys: Vec<Option<usize>> = downcast_dictionary_array!(
        array => (0..array.len()).map(|row| array.key(row)).collect(),
        _ => return Err(Error::internal("a dictionary has keys"))
    );
    let values = stored(array.as_any_dictionary().values(), name)?;
    let places =
        arrow_array::UInt64Array::from_iter(keys.into_iter().map(|key| key.map(|key| key as u64)));
    arrow_select::take::take(&values, &places, None).map_err(Error::internal)
}
