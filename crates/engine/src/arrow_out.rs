//! Columns of a result as Arrow's arrays, for programs and for files.
//!
//! The engine computes on seven arrays, beside which a SQL type says what their values mean; here each becomes the Arrow type
//! that says so by itself. Integers of eight bytes, doubles, DECIMAL, and texts and bytes as views keep their buffers.
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
//! | DATETIME | Timestamp(Microsecond, none) |
//! | TIMESTAMP | in programs as DATETIME, in the session's time zone; in files Timestamp(Microsecond, UTC) |
//! | TIME, which is an interval of up to 838 hours | Duration(Microsecond); in Parquet files Time64(Microsecond) |
//! | CHAR, VARCHAR, TEXT, SET | Utf8View; in files LargeUtf8 |
//! | ENUM | Dictionary(UInt16, Utf8) of its members |
//! | BINARY, VARBINARY, BLOB | BinaryView; in files LargeBinary |
//! | JSON | as TEXT, with the extension `arrow.json` |
//! | NULL | Null |

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, NullArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray, UInt16Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use mayfly_types::convert::ColumnFormatter;
use mayfly_types::error::codes;
use mayfly_types::temporal::{DateTime, TimeZone};
use mayfly_types::{Batch, CollationId, Error, Result, SqlType, TypeKind};

use crate::result::ResultColumn;

/// How columns become Arrow's.
#[derive(Debug, Clone, Default)]
pub struct ArrowForm {
    /// Whether for a file: texts and bytes with offsets, which readers without views read too and which hold the bytes of
    /// their rows alone, and TIMESTAMPs in UTC.
    file: Option<FileForm>,
}

#[derive(Debug, Clone)]
struct FileForm {
    /// The session's time zone, in which TIMESTAMPs are shown.
    zone: TimeZone,
    /// Whether a TIME is a time of day.
    has_times_of_day: bool,
}

impl ArrowForm {
    /// The form of files, of a session with a time zone. If `has_times_of_day`, a TIME is a time of day, and one that is
    /// none is an error; otherwise it is an interval.
    pub fn of_file(zone: &TimeZone, has_times_of_day: bool) -> Self {
        Self {
            file: Some(FileForm {
                zone: zone.clone(),
                has_times_of_day,
            }),
        }
    }

    /// The error of a value that Arrow does not have: for programs MySQL's 1292, for files with a remedy.
    fn refused(&self, column: &ResultColumn, shown: &[u8], row: u64, why: &str) -> Error {
        if self.file.is_some() {
            return refused_in_file(column, shown, row, why);
        }
        let shown = String::from_utf8_lossy(shown);
        let name = &column.name;
        let kind = match column.ty.kind {
            TypeKind::Date => "date",
            _ => "datetime",
        };
        let arguments: [&dyn Display; 4] = [&kind, &shown, name, &row];
        codes::ER_WRONG_COLUMN_TEMPORAL_VALUE.with(&arguments)
    }

    /// The Arrow type of a SQL type.
    fn data_type(&self, ty: &SqlType) -> DataType {
        let (text, bytes) = match self.file {
            Some(_) => (DataType::LargeUtf8, DataType::LargeBinary),
            None => (DataType::Utf8View, DataType::BinaryView),
        };
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
            (TypeKind::Decimal, _) if precision <= 38 => {
                DataType::Decimal128(precision.max(1), scale)
            }
            (TypeKind::Decimal, _) => DataType::Decimal256(precision, scale),
            (TypeKind::Date, _) => DataType::Date32,
            (TypeKind::Timestamp, _) if self.file.is_some() => {
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
            }
            (TypeKind::DateTime | TypeKind::Timestamp, _) => {
                DataType::Timestamp(TimeUnit::Microsecond, None)
            }
            (TypeKind::Time, _) => match &self.file {
                Some(file) if file.has_times_of_day => DataType::Time64(TimeUnit::Microsecond),
                _ => DataType::Duration(TimeUnit::Microsecond),
            },
            (TypeKind::Enum, _) => {
                DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8))
            }
            (TypeKind::Set | TypeKind::Json, _) => text,
            _ if ty.collation == CollationId::BINARY => bytes,
            _ => text,
        }
    }

    /// The field of a column.
    pub fn field(&self, column: &ResultColumn) -> Field {
        let ty = self.data_type(&column.ty);
        // Readers of files gain nothing from columns without NULL.
        let nullable = column.nullable || self.file.is_some();
        let field = Field::new(&column.name, ty, nullable);
        match column.ty.kind {
            TypeKind::Json => field.with_metadata(HashMap::from([(
                "ARROW:extension:name".to_owned(),
                "arrow.json".to_owned(),
            )])),
            TypeKind::Null => field.with_nullable(true),
            _ => field,
        }
    }

    /// The schema of columns.
    pub fn schema(&self, columns: &[ResultColumn]) -> SchemaRef {
        let fields = columns.iter().map(|column| self.field(column));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Rows as a record batch of [`Self::schema`]; `before` rows of the result came before them.
    ///
    /// # Errors
    /// For a value that its Arrow type does not have, as dates with a zero part.
    pub fn record_batch(
        &self,
        columns: &[ResultColumn],
        batch: &Batch,
        before: u64,
    ) -> Result<RecordBatch> {
        let arrays = columns.iter().zip(batch.columns());
        let arrays = arrays.map(|(column, array)| self.typed(array, column, before));
        let arrays = arrays.collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.row_count()));
        let schema = self.schema(columns);
        RecordBatch::try_new_with_options(schema, arrays, &options).map_err(defect)
    }

    /// A column as the array of [`Self::data_type`].
    fn typed(&self, array: &ArrayRef, column: &ResultColumn, before: u64) -> Result<ArrayRef> {
        let ty = &column.ty;
        Ok(match self.data_type(ty) {
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
            DataType::Float32 => {
                narrowed::<Float64Type, Float32Type>(array, |number| number as f32)
            }
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
            DataType::Date32 => {
                Arc::new(self.points::<Date32Type>(array, column, before, |value| {
                    let day = value.to_micros() - epoch();
                    i32::try_from(day.div_euclid(MICROSECONDS_OF_DAY)).map_err(|_| NO_DATE)
                })?)
            }
            DataType::Timestamp(_, Some(zone)) => {
                let instants =
                    self.points::<TimestampMicrosecondType>(array, column, before, |value| {
                        let zone = self.file.as_ref().map_or(&TimeZone::UTC, |file| &file.zone);
                        instant(value, zone)
                    })?;
                Arc::new(instants.with_timezone(zone))
            }
            DataType::Timestamp(..) => Arc::new(self.points::<TimestampMicrosecondType>(
                array,
                column,
                before,
                |value| Ok(value.to_micros() - epoch()),
            )?),
            DataType::Time64(_) => Arc::new(self.times_of_day(array, column, before)?),
            DataType::Duration(_) => {
                let numbers = array.as_primitive::<Int64Type>();
                Arc::new(numbers.reinterpret_cast::<DurationMicrosecondType>())
            }
            DataType::Dictionary(..) => Arc::new(members(array, ty, self.file.is_some())?),
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
            DataType::LargeUtf8 => {
                let formatter = ColumnFormatter::new(array.as_ref(), ty);
                let mut texts = LargeStringBuilder::new();
                let mut text = Vec::new();
                for row in 0..array.len() {
                    text.clear();
                    let is_there = formatter.append(row, &mut text);
                    let text = is_there.then(|| std::str::from_utf8(&text)).transpose();
                    texts.append_option(text.map_err(Error::internal)?);
                }
                Arc::new(texts.finish())
            }
            DataType::LargeBinary => {
                let mut all = LargeBinaryBuilder::new();
                for bytes in array.as_binary_view() {
                    all.append_option(bytes);
                }
                Arc::new(all.finish())
            }
            DataType::Utf8View => {
                let texts = array.as_binary_view().clone();
                Arc::new(texts.to_string_view().map_err(defect)?)
            }
            _ => Arc::clone(array),
        })
    }

    /// Dates and times of a column, each converted or refused with a reason.
    fn points<T: ArrowPrimitiveType>(
        &self,
        array: &ArrayRef,
        column: &ResultColumn,
        before: u64,
        convert: impl Fn(DateTime) -> std::result::Result<T::Native, &'static str>,
    ) -> Result<PrimitiveArray<T>> {
        let packed = array.as_primitive::<Int64Type>();
        let converted = packed.iter().enumerate().map(|(row, packed)| {
            let Some(packed) = packed else {
                return Ok(None);
            };
            let value = DateTime::unpack(packed);
            let is_date = !value.has_zero_part()
                && DateTime::from_micros(value.to_micros().into()) == Some(value);
            let converted = match is_date {
                true => convert(value),
                false => Err(NO_DATE),
            };
            converted
                .map(Some)
                .map_err(|why| self.refused_at(array, column, before, row, why))
        });
        converted.collect()
    }

    fn refused_at(
        &self,
        array: &ArrayRef,
        column: &ResultColumn,
        before: u64,
        row: usize,
        why: &str,
    ) -> Error {
        let mut shown = Vec::new();
        ColumnFormatter::new(array.as_ref(), &column.ty).append(row, &mut shown);
        self.refused(column, &shown, before + row as u64 + 1, why)
    }

    fn times_of_day(
        &self,
        array: &ArrayRef,
        column: &ResultColumn,
        before: u64,
    ) -> Result<PrimitiveArray<Time64MicrosecondType>> {
        let times = array.as_primitive::<Int64Type>();
        let is_interval =
            |time: Option<i64>| time.is_some_and(|time| !(0..MICROSECONDS_OF_DAY).contains(&time));
        match times.iter().position(is_interval) {
            None => Ok(times.reinterpret_cast::<Time64MicrosecondType>()),
            Some(row) => Err(self.refused_at(array, column, before, row, NO_TIME)),
        }
    }
}

/// The instant of a TIMESTAMP that is shown in a time zone, in microseconds since 1970, or why it has none: the clocks show
/// an hour twice when they are set back.
///
/// # Errors
/// The reason, for [`refused_in_file`].
pub fn instant(local: DateTime, zone: &TimeZone) -> std::result::Result<i64, &'static str> {
    const REPEATED: &str = "is not one point in time in the session's time zone; SET time_zone = '+00:00' gives each its own text";
    let instant = zone.instant_of_local(local).ok_or(NO_DATE)?;
    match instant.is_repeated || instant.is_skipped {
        true => Err(REPEATED),
        false => Ok(instant.unix_micros),
    }
}

/// 1105: the error of a value that a file's format does not have, with a remedy.
pub fn refused_in_file(column: &ResultColumn, shown: &[u8], row: u64, why: &str) -> Error {
    let (name, shown) = (&column.name, String::from_utf8_lossy(shown));
    let what = format!("column '{name}', row {row}: '{shown}' {why}");
    codes::ER_UNKNOWN_ERROR.with(&[&what])
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

const MICROSECONDS_OF_DAY: i64 = 86_400_000_000;

/// Why a date is refused.
const NO_DATE: &str =
    "is no date of the calendar; CAST(… AS CHAR) writes it as a text, NULLIF(…) as NULL";

/// Why a TIME is refused.
const NO_TIME: &str =
    "is no time of day; CAST(… AS CHAR) writes it as a text, TIME_TO_SEC(…) as seconds";

/// 1970 in microseconds of [`DateTime`].
fn epoch() -> i64 {
    DateTime::date(1970, 1, 1).to_micros()
}

/// The members of an ENUM; the error value '' is one more where there is one, or in all batches of a file, whose dictionary
/// is written once.
fn members(array: &ArrayRef, ty: &SqlType, is_file: bool) -> Result<DictionaryArray<UInt16Type>> {
    let indexes = array.as_primitive::<UInt64Type>();
    let count = ty.members.len() as u64;
    let mut given = indexes.iter().flatten();
    let has_error = is_file || given.any(|index| index == 0 || index > count);
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
