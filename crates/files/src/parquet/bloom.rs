//! Bloom filters of columns: whether a row group may have a value.
//!
//! The filter is one of the bytes that the file has for a value (Parquet's specification, "Parquet Bloom Filter"), so that
//! a value is brought into the column's physical form: integers, dates, and decimals. Texts are compared by a collation,
//! under which other bytes may be equal, and their filters are not read.

use arrow_buffer::i256;
use arrow_schema::DataType;
use mayfly_engine::{DateTime, Decimal, InputFile, Result, StatementMemory, Value};
use parquet::basic::Type as Physical;
use parquet::bloom_filter::Sbbf;

use super::chunk::{INDEX_MAX, TermColumn, bytes_at};
use crate::guard::guarded;

/// Whether a row group may have one of some values in a column.
///
/// # Errors
/// Those of memory.
pub(super) fn may_contain(
    column: &TermColumn<'_>,
    path: &str,
    file: &InputFile,
    memory: &StatementMemory,
    values: &[Value],
) -> Result<bool> {
    let chunk = column.chunk;
    let place = chunk.bloom_filter_offset().zip(chunk.bloom_filter_length());
    let place = place.and_then(|(offset, length)| {
        let begin = u64::try_from(offset).ok()?;
        Some(begin..begin.checked_add(u64::try_from(length).ok()?)?)
    });
    // Of the filters of old writers, no length is known before they are read.
    let Some(place) = place.filter(|place| place.end - place.start <= INDEX_MAX) else {
        return Ok(true);
    };
    if !values.iter().all(|value| has_form(value, column)) {
        return Ok(true);
    }
    let _memory = memory.reserve((place.end - place.start) * 2)?;
    let may_contain = || {
        let bytes = bytes_at(file, [place]);
        let filter = bytes.and_then(|[bytes]| Sbbf::from_bytes(&bytes).ok());
        let filter = filter.filter(|filter| filter.num_blocks() > 0);
        filter.is_none_or(|filter| values.iter().any(|value| has(&filter, value, column)))
    };
    Ok(guarded(path, || Ok(may_contain())).unwrap_or(true))
}

/// Whether [`has`] knows the physical form of a value.
fn has_form(value: &Value, column: &TermColumn<'_>) -> bool {
    let ty = column.field.data_type();
    match value {
        Value::Int(_) => ty.is_signed_integer() || *ty == DataType::Date32,
        Value::UInt(_) => ty.is_unsigned_integer(),
        Value::Decimal { .. } => scale_of(ty).is_some(),
        _ => false,
    }
}

/// Number of digits after the point of a decimal type of SQL.
fn scale_of(ty: &DataType) -> Option<u8> {
    match ty {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => u8::try_from(*scale).ok(),
        _ => None,
    }
}

/// Whether a filter has a value, in the column's physical form. A value that the column cannot store is not there.
fn has(filter: &Sbbf, value: &Value, column: &TermColumn<'_>) -> bool {
    let number = match *value {
        Value::Int(packed) if *column.field.data_type() == DataType::Date32 => {
            let epoch = DateTime::date(1970, 1, 1).to_micros();
            let micros = DateTime::unpack(packed).to_micros() - epoch;
            i256::from_i128(micros.div_euclid(MICROS_OF_DAY).into())
        }
        Value::Int(number) => i256::from_i128(number.into()),
        // Unsigned integers are stored by their bits.
        Value::UInt(number) => match column.chunk.column_type() {
            Physical::INT32 => match u32::try_from(number) {
                Ok(number) => i256::from_i128(number.cast_signed().into()),
                Err(_) => return false,
            },
            _ => i256::from_i128(number.cast_signed().into()),
        },
        Value::Decimal { unscaled, scale } => {
            let number = Decimal::new(unscaled, scale);
            let stored =
                scale_of(column.field.data_type()).and_then(|scale| number.rescale(scale).ok());
            match stored {
                Some(stored) if stored.compare(number).is_eq() => stored.unscaled,
                _ => return false,
            }
        }
        _ => return true,
    };
    let narrow = number.to_i128();
    match column.chunk.column_type() {
        Physical::INT32 => narrow
            .and_then(|number| i32::try_from(number).ok())
            .is_some_and(|number| filter.check(&number)),
        Physical::INT64 => narrow
            .and_then(|number| i64::try_from(number).ok())
            .is_some_and(|number| filter.check(&number)),
        Physical::FIXED_LEN_BYTE_ARRAY => {
            let bytes = number.to_be_bytes();
            let length = usize::try_from(column.chunk.column_descr().type_length()).unwrap_or(0);
            let Some(begin) = bytes.len().checked_sub(length) else {
                return true;
            };
            filter.check(&bytes[begin..])
        }
        // Bytes of any length may have leading zeros.
        _ => true,
    }
}

const MICROS_OF_DAY: i64 = 86_400_000_000;
