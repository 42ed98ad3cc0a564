//! Values of rows: what each SQL type is here, and their conversions to types of Rust.
//!
//! | SQL | [`Value`] |
//! |---|---|
//! | integers, YEAR, predicates | `Int`; UNSIGNED ones, YEAR and BIT `UInt` |
//! | FLOAT, DOUBLE | `Double` |
//! | DECIMAL | `Decimal`, all 65 digits |
//! | DATE; DATETIME and TIMESTAMP; TIME | `Date`, `DateTime`, `Time`; dates may be zero, as MySQL's may |
//! | strings, ENUM, SET, JSON | `Text` |
//! | BINARY, VARBINARY, BLOB | `Bytes` |

use std::borrow::Cow;
use std::fmt;

use mayfly_engine::{
    CollationId, DateTime, Decimal, Error, Result, SqlType, TypeKind, codes, format_value,
};

/// A day; its parts may be 0 where SQL allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date {
    /// 0 to 9999
    pub year: u16,
    /// 0 to 12
    pub month: u8,
    /// 0 to 31
    pub day: u8,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A TIME: a time of day or an interval, from -838:59:59 to 838:59:59.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    /// Microseconds, negative ones too.
    pub microseconds: i64,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.microseconds.unsigned_abs();
        let (seconds, fraction) = (all / 1_000_000, all % 1_000_000);
        let sign = if self.microseconds < 0 { "-" } else { "" };
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        write!(f, "{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60)?;
        append_fraction(f, fraction)
    }
}

fn append_fraction(f: &mut fmt::Formatter<'_>, microseconds: u64) -> fmt::Result {
    match microseconds {
        0 => Ok(()),
        _ => write!(f, ".{microseconds:06}"),
    }
}

/// A value of a row, which may borrow its text from it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'r> {
    /// NULL
    Null,
    /// A whole number.
    Int(i64),
    /// A whole number that cannot be negative.
    UInt(u64),
    /// A floating-point number.
    Double(f64),
    /// An exact number.
    Decimal(Decimal),
    /// A day.
    Date(Date),
    /// A day and a time of day.
    DateTime(DateTime),
    /// A time of day or an interval.
    Time(Time),
    /// A text.
    Text(Cow<'r, str>),
    /// Bytes.
    Bytes(Cow<'r, [u8]>),
}

impl Value<'_> {
    /// A value of the engine, of a SQL type.
    pub(crate) fn of(value: &mayfly_engine::Value, ty: &SqlType) -> Value<'static> {
        match value {
            mayfly_engine::Value::Null => Value::Null,
            mayfly_engine::Value::Int(number) => Value::of_integer(*number, ty.kind),
            mayfly_engine::Value::UInt(number) => Value::UInt(*number),
            mayfly_engine::Value::Float(number) => Value::Double(*number),
            mayfly_engine::Value::Decimal { unscaled, scale } => {
                Value::Decimal(Decimal::new(*unscaled, *scale))
            }
            mayfly_engine::Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if ty.collation != CollationId::BINARY => {
                    Value::Text(Cow::Owned(text.to_owned()))
                }
                _ => Value::Bytes(Cow::Owned(bytes.clone())),
            },
        }
    }

    /// What the engine has as an integer: a number, a date or a time.
    pub(crate) fn of_integer(number: i64, kind: TypeKind) -> Value<'static> {
        match kind {
            TypeKind::Date => {
                let DateTime {
                    year, month, day, ..
                } = DateTime::unpack(number);
                Value::Date(Date { year, month, day })
            }
            TypeKind::DateTime | TypeKind::Timestamp => Value::DateTime(DateTime::unpack(number)),
            TypeKind::Time => Value::Time(Time {
                microseconds: number,
            }),
            _ => Value::Int(number),
        }
    }

    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value with its own text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(value),
            Self::UInt(value) => Value::UInt(value),
            Self::Double(value) => Value::Double(value),
            Self::Decimal(value) => Value::Decimal(value),
            Self::Date(value) => Value::Date(value),
            Self::DateTime(value) => Value::DateTime(value),
            Self::Time(value) => Value::Time(value),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }
}

/// The value as a text: NULL, numbers, `2026-11-28 10:30:00`; bytes that are no text as `0x…`. What a MySQL client shows,
/// with the digits of the SQL type, is given by `row.get::<String>(…)`.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Int(value) => value.fmt(f),
            Self::UInt(value) => value.fmt(f),
            Self::Double(value) => {
                let text = format_value(&mayfly_engine::Value::Float(*value), &SqlType::double());
                f.write_str(&String::from_utf8_lossy(&text.unwrap_or_default()))
            }
            Self::Decimal(value) => value.fmt(f),
            Self::Date(value) => value.fmt(f),
            Self::DateTime(value) => {
                let DateTime {
                    year, month, day, ..
                } = *value;
                Date { year, month, day }.fmt(f)?;
                write!(
                    f,
                    " {:02}:{:02}:{:02}",
                    value.hour, value.minute, value.second
                )?;
                append_fraction(f, value.microsecond.into())
            }
            Self::Time(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => f.write_str(text),
                Err(_) => {
                    f.write_str("0x")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
                }
            },
        }
    }
}

/// A type of Rust that a value can be read as. A value is read if it keeps its meaning: a number that does not fit, NULL
/// without an [`Option`], and a type of another kind are errors. Every value but NULL can be read as a [`String`], the text
/// that a MySQL client shows.
pub trait FromValue<'r>: Sized {
    /// The name of the type in errors.
    const NAME: &'static str;

    /// Whether every value is read as the text that a client shows, which its SQL type has a part in: `0.50` for a
    /// DECIMAL(3, 2), `0.1` for a FLOAT.
    const IS_TEXT: bool = false;

    /// Reads a value; gives it back when it is none of this type.
    ///
    /// # Errors
    /// The value.
    fn from_value(value: Value<'r>) -> std::result::Result<Self, Value<'r>>;
}

/// The error of a value that is not read as a type: 1264 for a number that does not fit, else 1366.
pub(crate) fn unreadable(value: &Value<'_>, ty: &str, column: &str, row: u64) -> Error {
    let is_number = |value: &Value<'_>| matches!(value, Value::Int(_) | Value::UInt(_));
    if is_number(value) && ["u", "i"].iter().any(|sign| ty.starts_with(sign)) {
        return codes::ER_WARN_DATA_OUT_OF_RANGE.with(&[&column, &row]);
    }
    codes::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD.with(&[&ty, value, &column, &row])
}

macro_rules! integers {
    ($($ty:ident),*) => {$(
        impl<'r> FromValue<'r> for $ty {
            const NAME: &'static str = stringify!($ty);

            fn from_value(value: Value<'r>) -> std::result::Result<Self, Value<'r>> {
                let whole = match &value {
                    Value::Int(number) => Self::try_from(*number).ok(),
                    Value::UInt(number) => Self::try_from(*number).ok(),
                    // SUM() and AVG() of integers are DECIMAL.
                    Value::Decimal(number) if number.scale == 0 => {
                        number.unscaled.to_i128().and_then(|number| Self::try_from(number).ok())
                    }
                    _ => None,
                };
                whole.ok_or(value)
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128);

macro_rules! read_as {
    ($($ty:ty, $name:literal: $($pattern:pat => $read:expr),+;)*) => {$(
        impl<'r> FromValue<'r> for $ty {
            const NAME: &'static str = $name;

            fn from_value(value: Value<'r>) -> std::result::Result<Self, Value<'r>> {
                match value {
                    $($pattern => Ok($read),)+
                    other => Err(other),
                }
            }
        }
    )*};
}
read_as! {
    bool, "bool": Value::Int(number @ 0..=1) => number == 1, Value::UInt(number @ 0..=1) => number == 1;
    f64, "f64": Value::Double(number) => number, Value::Int(number) => number as f64,
        Value::UInt(number) => number as f64, Value::Decimal(number) => number.to_f64();
    f32, "f32": Value::Double(number) => number as f32;
    Decimal, "DECIMAL": Value::Decimal(number) => number,
        Value::Int(number) => Decimal::from_i128(number.into(), 0),
        Value::UInt(number) => Decimal::from_i128(number.into(), 0);
    Date, "DATE": Value::Date(date) => date;
    DateTime, "DATETIME": Value::DateTime(value) => value,
        Value::Date(date) => DateTime::date(date.year, date.month, date.day);
    Time, "TIME": Value::Time(time) => time;
    Cow<'r, str>, "text": Value::Text(text) => text;
    Vec<u8>, "bytes": Value::Bytes(bytes) => bytes.into_owned(), Value::Text(text) => text.into_owned().into_bytes();
}

impl<'r> FromValue<'r> for String {
    const NAME: &'static str = "text";
    const IS_TEXT: bool = true;

    fn from_value(value: Value<'r>) -> std::result::Result<Self, Value<'r>> {
        match value {
            Value::Text(text) => Ok(text.into_owned()),
            other => Err(other),
        }
    }
}

impl<'r> FromValue<'r> for Value<'r> {
    const NAME: &'static str = "value";

    fn from_value(value: Value<'r>) -> std::result::Result<Self, Value<'r>> {
        Ok(value)
    }
}

impl<'r, T: FromValue<'r>> FromValue<'r> for Option<T> {
    const NAME: &'static str = T::NAME;
    const IS_TEXT: bool = T::IS_TEXT;

    fn from_value(value: Value<'r>) -> std::result::Result<Self, Value<'r>> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// Reads a value of a column as a type.
pub(crate) fn read<'r, T: FromValue<'r>>(value: Value<'r>, column: &str, row: u64) -> Result<T> {
    T::from_value(value).map_err(|value| unreadable(&value, T::NAME, column, row))
}
