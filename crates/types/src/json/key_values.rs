//! Values of a document in the type of a multi-valued key part (the manual, "Multi-Valued Indexes"): those that an
//! index holds for a row, and those that a condition looks for.

use super::tag::{TypeTag, untagged};
use super::text::{JsonKind, JsonScalar, elements, kind_of, scalar_of, unquote};
use crate::convert::{CastContext, cast_value};
use crate::decimal::{Decimal, parse_decimal};
use crate::temporal::{DateTime, TimeZone};
use crate::{CollationId, Diagnostics, Level, SqlMode, SqlType, TypeKind, Value};

/// Reason why an index cannot hold a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyValueError {
    /// The document is an object.
    Object,
    /// An element is an array or an object.
    NotScalar,
    /// An element is `null`, or not of the type.
    Invalid,
    /// A number is beyond all integers of 64 bits.
    TooLarge,
    /// A number is out of the type's range.
    OutOfRange,
    /// A string has more characters than the type.
    TooLong,
    /// A string is no value of a temporal type.
    Truncated,
}

type Result<T> = std::result::Result<T, KeyValueError>;

/// The values that an index holds for a row with this document: those of the elements of an array, or that of a scalar.
/// They are in the order of the document, and may be equal.
pub fn key_values(document: &[u8], ty: &SqlType) -> Result<Vec<Value>> {
    match kind_of(document) {
        JsonKind::Object => Err(KeyValueError::Object),
        JsonKind::Array => elements(document)
            .map(|element| key_value(element, ty))
            .collect(),
        _ => key_value(document, ty).map(|value| vec![value]),
    }
}

/// The values under which an index holds every row whose document has an element that is equal to one of `document`;
/// `None` if it does not find these rows. A `null` is an element of no row.
pub fn sought_values(document: &[u8], ty: &SqlType) -> Option<Vec<Value>> {
    let all: Vec<&[u8]> = match kind_of(document) {
        JsonKind::Array => elements(document).collect(),
        _ => vec![document],
    };
    let is_sought = |element: &&&[u8]| kind_of(element) != JsonKind::Null;
    let values = all.iter().filter(is_sought).map(|element| {
        // Equal numbers may have different texts, and are rounded in different ways.
        let is_exact = match kind_of(element) {
            JsonKind::Number if ty.is_integer() => exact(&scalar_of(element))
                .is_some_and(|number| number.compare(number.truncate(0)).is_eq()),
            JsonKind::Number => ty.kind == TypeKind::Decimal,
            _ => true,
        };
        key_value(element, ty).ok().filter(|_| is_exact)
    });
    let values: Vec<Value> = values.collect::<Option<_>>()?;
    Some(values).filter(|values| !values.is_empty())
}

fn key_value(scalar: &[u8], ty: &SqlType) -> Result<Value> {
    match kind_of(scalar) {
        JsonKind::Null => return Err(KeyValueError::Invalid),
        JsonKind::Array | JsonKind::Object => return Err(KeyValueError::NotScalar),
        JsonKind::Bool | JsonKind::Number | JsonKind::String => {}
    }
    match ty.kind {
        TypeKind::BigInt => integer(scalar, ty),
        TypeKind::Decimal => decimal(scalar, ty),
        _ if ty.is_string() => string(scalar, ty),
        _ => temporal(scalar, ty),
    }
}

/// The exact value of a number; `None` if it has too many digits.
fn exact(number: &JsonScalar<'_>) -> Option<Decimal> {
    match number {
        JsonScalar::Bool(value) => Some(i64::from(*value).into()),
        JsonScalar::Int(value) => Some((*value).into()),
        JsonScalar::UInt(value) => Some((*value).into()),
        JsonScalar::Decimal(value) => Some(*value),
        JsonScalar::Double(value) => {
            let parsed = Decimal::from_f64(*value).filter(|parsed| !parsed.overflow)?;
            Some(parsed.value)
        }
        _ => None,
    }
}

/// The number that a string is as a whole, whose type its text does not show.
fn number_of(scalar: &[u8]) -> Result<Decimal> {
    let text = unquote(scalar);
    let text = text.trim_ascii();
    let parsed = parse_decimal(text);
    let is_number =
        untagged(scalar).1.is_none() && !text.is_empty() && parsed.consumed == text.len();
    match (is_number, parsed.overflow) {
        (false, _) => Err(KeyValueError::Invalid),
        (true, true) => Err(KeyValueError::TooLarge),
        (true, false) => Ok(parsed.value),
    }
}

fn integer(scalar: &[u8], ty: &SqlType) -> Result<Value> {
    let number = match scalar_of(scalar) {
        JsonScalar::String(text) => {
            let digits = text.trim_ascii_start();
            let digits = digits
                .strip_prefix(b"-")
                .or_else(|| digits.strip_prefix(b"+"))
                .unwrap_or(digits);
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Err(KeyValueError::Invalid);
            }
            number_of(scalar)?
        }
        // A double is rounded to an even number where two are equally near.
        JsonScalar::Double(value) if value.abs() < 1e15 => (value.round_ties_even() as i64).into(),
        other => exact(&other).ok_or(KeyValueError::TooLarge)?,
    };
    let rounded = number.rescale(0).ok();
    let rounded = rounded.and_then(|number| number.unscaled.to_i128());
    let rounded = rounded.ok_or(KeyValueError::TooLarge)?;
    if rounded > i128::from(u64::MAX) || rounded < i128::from(i64::MIN) {
        return Err(KeyValueError::TooLarge);
    }
    let value = if ty.unsigned {
        u64::try_from(rounded).map(Value::UInt)
    } else {
        i64::try_from(rounded).map(Value::Int)
    };
    value.map_err(|_| KeyValueError::OutOfRange)
}

fn decimal(scalar: &[u8], ty: &SqlType) -> Result<Value> {
    let number = match scalar_of(scalar) {
        JsonScalar::String(_) => number_of(scalar)?,
        other => exact(&other).ok_or(KeyValueError::OutOfRange)?,
    };
    let precision = u8::try_from(ty.length).unwrap_or(u8::MAX);
    let value = number.to_precision(precision, ty.decimals);
    let Decimal { unscaled, scale } = value.map_err(|_| KeyValueError::OutOfRange)?;
    Ok(Value::Decimal { unscaled, scale })
}

fn string(scalar: &[u8], ty: &SqlType) -> Result<Value> {
    let text = match kind_of(scalar) {
        JsonKind::String => unquote(scalar).into_owned(),
        _ => untagged(scalar).0.to_vec(),
    };
    let characters = if ty.is_binary_string() {
        text.len()
    } else {
        String::from_utf8_lossy(&text).chars().count()
    };
    if characters > ty.length as usize {
        return Err(KeyValueError::TooLong);
    }
    Ok(Value::Bytes(text))
}

fn temporal(scalar: &[u8], ty: &SqlType) -> Result<Value> {
    let text = SqlType::varchar(64, CollationId::UTF8MB4_BIN);
    let (value, from) = match scalar_of(scalar) {
        // The day of a time depends on the day of the statement.
        JsonScalar::String(_)
            if untagged(scalar).1 == Some(TypeTag::Time) && ty.kind != TypeKind::Time =>
        {
            return Err(KeyValueError::Truncated);
        }
        JsonScalar::String(text_of) => (Value::Bytes(text_of.into_owned()), text),
        JsonScalar::Int(number) => (Value::Int(number), SqlType::bigint()),
        JsonScalar::Double(number) => (Value::Float(number), SqlType::double()),
        _ => return Err(KeyValueError::Truncated),
    };
    let diagnostics = Diagnostics::new(1);
    let context = CastContext {
        sql_mode: SqlMode::DEFAULT,
        diagnostics: &diagnostics,
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
        operand: "",
        room: None,
    };
    let cast = cast_value(&value, &from, ty, &context).ok();
    let is_warning = |level: Level| level != Level::Note;
    let mut conditions = diagnostics.conditions().into_iter();
    let is_cut = conditions.any(|condition| is_warning(condition.level));
    cast.filter(|value| !value.is_null() && !is_cut)
        .ok_or(KeyValueError::Truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &str, ty: &SqlType) -> Result<Vec<Value>> {
        let mut normalized = Vec::new();
        crate::json::append_normalized(&mut normalized, document.as_bytes()).unwrap();
        key_values(&normalized, ty)
    }

    fn unsigned() -> SqlType {
        SqlType {
            unsigned: true,
            ..SqlType::bigint()
        }
    }

    // mysql> create table t (j json, key k((cast(j as unsigned array)))); insert into t values ('[…]');
    #[test]
    fn integers() {
        let ints = |document: &str| text(document, &unsigned());
        let values = |all: &[u64]| Ok(all.iter().copied().map(Value::UInt).collect());
        assert_eq!(ints("[1, 2, 2, 1]"), values(&[1, 2, 2, 1]));
        assert_eq!(ints("5"), values(&[5]));
        assert_eq!(ints("[]"), values(&[]));
        assert_eq!(
            ints("[2.5, 3.5, 4.4, true, \"+55\", \" 56\"]"),
            values(&[2, 4, 4, 1, 55, 56])
        );
        assert_eq!(ints("[null]"), Err(KeyValueError::Invalid));
        assert_eq!(ints("null"), Err(KeyValueError::Invalid));
        assert_eq!(ints("[\"6 \"]"), Err(KeyValueError::Invalid));
        assert_eq!(ints("[\"6.7\"]"), Err(KeyValueError::Invalid));
        assert_eq!(ints("{}"), Err(KeyValueError::Object));
        assert_eq!(ints("[[1]]"), Err(KeyValueError::NotScalar));
        assert_eq!(ints("[-1]"), Err(KeyValueError::OutOfRange));
        assert_eq!(ints("[1e30]"), Err(KeyValueError::TooLarge));
        assert_eq!(
            ints("[\"18446744073709551616\"]"),
            Err(KeyValueError::TooLarge)
        );
        let signed = text("[9223372036854775808]", &SqlType::bigint());
        assert_eq!(signed, Err(KeyValueError::OutOfRange));
    }

    #[test]
    fn other_types() {
        let decimal = SqlType::decimal(4, 2);
        let unscaled = |number: i64| Value::Decimal {
            unscaled: number.into(),
            scale: 2,
        };
        let hundredths = |all: &[i64]| Ok(all.iter().copied().map(unscaled).collect());
        assert_eq!(
            text("[1.25, 3, \"1.5\"]", &decimal),
            hundredths(&[125, 300, 150])
        );
        assert_eq!(text("[1.255]", &decimal), hundredths(&[126]));
        assert_eq!(text("[100]", &decimal), Err(KeyValueError::OutOfRange));
        assert_eq!(text("[\"x\"]", &decimal), Err(KeyValueError::Invalid));
        let string = SqlType::varchar(3, CollationId::UTF8MB4_0900_AS_CS);
        let strings = text("[\"abc\", 1, \"éaé\"]", &string);
        assert_eq!(strings, Ok(vec!["abc".into(), "1".into(), "éaé".into()]));
        assert_eq!(text("[true]", &string), Err(KeyValueError::TooLong));
        let date = SqlType::temporal(TypeKind::Date, 0);
        let day = text("\"2020-01-01\"", &date);
        assert!(day.is_ok());
        assert_eq!(text("[\"2020-01-01 10:00:00\"]", &date), day);
        assert_eq!(text("[20200101]", &date), day);
        for wrong in [
            "[\"x\"]",
            "[\"2020-02-31\"]",
            "[\"0000-00-00\"]",
            "[true]",
            "[1.5]",
        ] {
            assert_eq!(text(wrong, &date), Err(KeyValueError::Truncated), "{wrong}");
        }
    }

    #[test]
    fn what_is_sought_is_in_the_index_or_not_sought_in_it() {
        let found = |document: &str| sought_values(document.as_bytes(), &unsigned());
        assert_eq!(found("[1, null]"), Some(vec![Value::UInt(1)]));
        assert_eq!(found("[2.0]"), Some(vec![Value::UInt(2)]));
        for unknown in [
            "[]",
            "null",
            "[2.5]",
            "[1, \"x\"]",
            "{\"a\": 1}",
            "[[1]]",
            "[-1]",
        ] {
            assert_eq!(found(unknown), None, "{unknown}");
        }
        let string = SqlType::varchar(3, CollationId::UTF8MB4_0900_AS_CS);
        assert_eq!(sought_values(b"1", &string), None);
        assert_eq!(sought_values(b"\"1\"", &string), Some(vec!["1".into()]));
    }
}
