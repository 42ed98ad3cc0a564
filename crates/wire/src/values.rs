//! Values in the binary form of prepared statements. See the protocol documentation, "Binary
//! Protocol Value".

use mayfly_engine::{CollationId, DateTime, SqlType, TypeKind, Value, parse_decimal};
use mysql_common::constants::ColumnType;

use crate::packet::PayloadReader;

const MICROS_PER_SECOND: u64 = 1_000_000;
const SECONDS_PER_DAY: u64 = 86_400;

/// Appends a DATE, DATETIME or TIMESTAMP without its trailing parts that are 0.
pub(crate) fn append_datetime(out: &mut Vec<u8>, value: DateTime) {
    let length = match value {
        _ if value == DateTime::default() => 0,
        _ if value.microsecond != 0 => 11,
        _ if value.time_of_day() != 0 => 7,
        _ => 4,
    };
    let mut bytes = [0; 11];
    bytes[..2].copy_from_slice(&value.year.to_le_bytes());
    bytes[2..7].copy_from_slice(&[
        value.month,
        value.day,
        value.hour,
        value.minute,
        value.second,
    ]);
    bytes[7..].copy_from_slice(&value.microsecond.to_le_bytes());
    out.push(length);
    out.extend_from_slice(&bytes[..usize::from(length)]);
}

/// Appends a TIME: sign, days, hours, minutes, seconds and microseconds.
pub(crate) fn append_time(out: &mut Vec<u8>, micros: i64) {
    let magnitude = micros.unsigned_abs();
    let (seconds, fraction) = (magnitude / MICROS_PER_SECOND, magnitude % MICROS_PER_SECOND);
    let length = match (seconds, fraction) {
        (0, 0) => 0,
        (_, 0) => 8,
        _ => 12,
    };
    let mut bytes = [0; 12];
    bytes[0] = u8::from(micros < 0);
    bytes[1..5].copy_from_slice(&((seconds / SECONDS_PER_DAY) as u32).to_le_bytes());
    bytes[5] = (seconds / 3600 % 24) as u8;
    bytes[6] = (seconds / 60 % 60) as u8;
    bytes[7] = (seconds % 60) as u8;
    bytes[8..].copy_from_slice(&(fraction as u32).to_le_bytes());
    out.push(length);
    out.extend_from_slice(&bytes[..usize::from(length)]);
}

/// Reads the value of a parameter of a type, unsigned or not; texts have the connection's
/// collation. `None`: the payload is malformed.
pub(crate) fn read_parameter(
    reader: &mut PayloadReader<'_>,
    ty: ColumnType,
    unsigned: bool,
    collation: CollationId,
) -> Option<(Value, SqlType)> {
    use ColumnType as T;
    let integer = |signed: i64, width: u32| {
        if unsigned {
            let mask = u64::MAX >> (64 - 8 * width);
            (
                Value::UInt(signed.cast_unsigned() & mask),
                SqlType::bigint_unsigned(),
            )
        } else {
            (Value::Int(signed), SqlType::bigint())
        }
    };
    Some(match ty {
        T::MYSQL_TYPE_NULL => (Value::Null, SqlType::null()),
        T::MYSQL_TYPE_TINY => integer(i64::from(reader.u8()?.cast_signed()), 1),
        T::MYSQL_TYPE_SHORT | T::MYSQL_TYPE_YEAR => {
            integer(i64::from(reader.u16()?.cast_signed()), 2)
        }
        T::MYSQL_TYPE_LONG | T::MYSQL_TYPE_INT24 => {
            integer(i64::from(reader.u32()?.cast_signed()), 4)
        }
        T::MYSQL_TYPE_LONGLONG => integer(reader.u64()?.cast_signed(), 8),
        T::MYSQL_TYPE_FLOAT => {
            let number = f32::from_le_bytes(reader.array()?);
            (Value::Float(f64::from(number)), SqlType::double())
        }
        T::MYSQL_TYPE_DOUBLE => {
            let number = f64::from_le_bytes(reader.array()?);
            (Value::Float(number), SqlType::double())
        }
        T::MYSQL_TYPE_DATE | T::MYSQL_TYPE_NEWDATE => {
            let value = read_datetime(reader)?.at_midnight();
            (
                Value::Int(value.pack()),
                SqlType::temporal(TypeKind::Date, 0),
            )
        }
        T::MYSQL_TYPE_DATETIME
        | T::MYSQL_TYPE_TIMESTAMP
        | T::MYSQL_TYPE_DATETIME2
        | T::MYSQL_TYPE_TIMESTAMP2 => {
            let value = read_datetime(reader)?;
            let digits = if value.microsecond == 0 { 0 } else { 6 };
            let ty = SqlType::temporal(TypeKind::DateTime, digits);
            (Value::Int(value.pack()), ty)
        }
        T::MYSQL_TYPE_TIME | T::MYSQL_TYPE_TIME2 => {
            let micros = read_time(reader)?;
            let digits = if micros % MICROS_PER_SECOND.cast_signed() == 0 {
                0
            } else {
                6
            };
            (
                Value::Int(micros),
                SqlType::temporal(TypeKind::Time, digits),
            )
        }
        T::MYSQL_TYPE_TINY_BLOB
        | T::MYSQL_TYPE_MEDIUM_BLOB
        | T::MYSQL_TYPE_LONG_BLOB
        | T::MYSQL_TYPE_BLOB
        | T::MYSQL_TYPE_BIT
        | T::MYSQL_TYPE_GEOMETRY
        | T::MYSQL_TYPE_VECTOR => bytes(reader.length_encoded_bytes()?, CollationId::BINARY),
        T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL => {
            let number = parse_decimal(reader.length_encoded_bytes()?).value;
            let precision = number.precision().max(number.scale.saturating_add(1));
            let value = Value::Decimal {
                unscaled: number.unscaled,
                scale: number.scale,
            };
            (value, SqlType::decimal(precision, number.scale))
        }
        T::MYSQL_TYPE_VARCHAR
        | T::MYSQL_TYPE_VAR_STRING
        | T::MYSQL_TYPE_STRING
        | T::MYSQL_TYPE_ENUM
        | T::MYSQL_TYPE_SET
        | T::MYSQL_TYPE_JSON => bytes(reader.length_encoded_bytes()?, collation),
        T::MYSQL_TYPE_TYPED_ARRAY | T::MYSQL_TYPE_UNKNOWN => return None,
    })
}

/// A text or bytes as a value.
pub(crate) fn bytes(bytes: &[u8], collation: CollationId) -> (Value, SqlType) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    (
        Value::Bytes(bytes.to_vec()),
        SqlType::varchar(length, collation),
    )
}

/// Reads a date and time. With parts out of range it is the zero date, as in MySQL.
fn read_datetime(reader: &mut PayloadReader<'_>) -> Option<DateTime> {
    let length = usize::from(reader.u8()?);
    let mut parts = PayloadReader::new(reader.bytes(length)?);
    let mut value = DateTime::date(0, 0, 0);
    if length >= 4 {
        value = DateTime::date(parts.u16()?, parts.u8()?, parts.u8()?);
    }
    if length >= 7 {
        (value.hour, value.minute, value.second) = (parts.u8()?, parts.u8()?, parts.u8()?);
    }
    if length >= 11 {
        value.microsecond = parts.u32()?;
    }
    let is_valid = value.year <= 9999
        && value.month <= 12
        && value.day <= 31
        && value.hour <= 23
        && value.minute <= 59
        && value.second <= 59
        && value.microsecond <= 999_999;
    Some(if is_valid {
        value
    } else {
        DateTime::date(0, 0, 0)
    })
}

/// The greatest TIME: 838:59:59.
const TIME_MAX: u64 = (838 * 3600 + 59 * 60 + 59) * MICROS_PER_SECOND;

fn read_time(reader: &mut PayloadReader<'_>) -> Option<i64> {
    let length = usize::from(reader.u8()?);
    let mut parts = PayloadReader::new(reader.bytes(length)?);
    if length < 8 {
        return Some(0);
    }
    let is_negative = parts.u8()? != 0;
    let days = u64::from(parts.u32()?);
    let hours = days * 24 + u64::from(parts.u8()?);
    let minutes = hours * 60 + u64::from(parts.u8()?);
    let seconds = minutes * 60 + u64::from(parts.u8()?);
    let fraction = if length >= 12 { parts.u32()? } else { 0 };
    // Larger values would not fit in microseconds.
    let micros = seconds.min(TIME_MAX) * MICROS_PER_SECOND + u64::from(fraction);
    let micros = micros.min(TIME_MAX);
    Some(if is_negative {
        -micros.cast_signed()
    } else {
        micros.cast_signed()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(bytes: &[u8], ty: ColumnType, unsigned: bool) -> Option<(Value, SqlType)> {
        let collation = CollationId::UTF8MB4_0900_AI_CI;
        read_parameter(&mut PayloadReader::new(bytes), ty, unsigned, collation)
    }

    #[test]
    fn integers_keep_their_sign() {
        let value = |bytes: &[u8], ty, unsigned| parameter(bytes, ty, unsigned).map(|it| it.0);
        let tiny = ColumnType::MYSQL_TYPE_TINY;
        assert_eq!(value(&[255], tiny, false), Some(Value::Int(-1)));
        assert_eq!(value(&[255], tiny, true), Some(Value::UInt(255)));
        let long = ColumnType::MYSQL_TYPE_LONGLONG;
        assert_eq!(value(&[255; 8], long, true), Some(Value::UInt(u64::MAX)));
        assert_eq!(value(&[255; 7], long, true), None);
    }

    #[test]
    fn temporal_values_come_back() {
        let read = |bytes: &[u8], ty| parameter(bytes, ty, false).map(|it| it.0);
        let datetime = DateTime {
            microsecond: 5,
            ..DateTime::date(2024, 2, 29).with_time_of_day(86_399_000_000)
        };
        for value in [
            datetime,
            DateTime::date(2024, 2, 29),
            DateTime::date(0, 0, 0),
        ] {
            let mut out = Vec::new();
            append_datetime(&mut out, value);
            let came = read(&out, ColumnType::MYSQL_TYPE_DATETIME);
            assert_eq!(came, Some(Value::Int(value.pack())));
        }
        for micros in [0, -1, 3_600_000_000, -TIME_MAX.cast_signed()] {
            let mut out = Vec::new();
            append_time(&mut out, micros);
            assert_eq!(
                read(&out, ColumnType::MYSQL_TYPE_TIME),
                Some(Value::Int(micros))
            );
        }
    }

    #[test]
    fn times_out_of_range_are_bounded() {
        let mut bytes = vec![12, 0];
        bytes.extend_from_slice(&[255; 11]);
        let value = parameter(&bytes, ColumnType::MYSQL_TYPE_TIME, false).map(|it| it.0);
        assert_eq!(value, Some(Value::Int(TIME_MAX.cast_signed())));
        let month_13 = [4, 0xE8, 7, 13, 1];
        let value = parameter(&month_13, ColumnType::MYSQL_TYPE_DATE, false).map(|it| it.0);
        assert_eq!(value, Some(Value::Int(0)));
    }
}
