//! Casts to numbers.

use super::number::{parse_double, parse_integer, round_half_even};
use super::source::Datum;
use super::{CastContext, shown};
use crate::decimal::convert::i128_to_f64;
use crate::decimal::{Decimal, parse_decimal};
use crate::error::{Error, codes};
use crate::json::{JsonScalar, scalar_of};
use crate::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX, SqlType, TypeKind};
use crate::temporal::number::{
    date_to_number, datetime_to_micro_number, datetime_to_number, time_to_micro_number,
    time_to_number,
};
use crate::temporal::{DateTime, time_with_fraction};

/// The number of a temporal value, with six digits after the point.
pub(super) fn temporal_micro_number(kind: TypeKind, value: i64) -> i128 {
    match kind {
        TypeKind::Date => i128::from(date_to_number(value)) * 1_000_000,
        TypeKind::Time => i128::from(time_to_micro_number(value)),
        _ => datetime_to_micro_number(value),
    }
}

/// The number of a temporal value, rounded to seconds.
fn temporal_number(kind: TypeKind, value: i64, truncate: bool) -> i64 {
    match kind {
        TypeKind::Date => date_to_number(value),
        TypeKind::Time => time_to_number(time_with_fraction(value, 0, truncate)),
        _ => {
            let value = DateTime::unpack(value);
            datetime_to_number(value.with_fraction(0, truncate).unwrap_or(value).pack())
        }
    }
}

/// The number in a JSON scalar other than a string; 0 with a warning where it is not a number.
fn number_of(scalar: JsonScalar<'_>, type_name: &str, context: &CastContext<'_>) -> Datum<'static> {
    match scalar {
        JsonScalar::Bool(value) => Datum::Int(i64::from(value)),
        JsonScalar::Int(value) => Datum::Int(value),
        JsonScalar::UInt(value) => Datum::UInt(value),
        JsonScalar::Double(value) => Datum::Float(value),
        JsonScalar::Decimal(value) => Datum::Decimal(value),
        JsonScalar::String(_) | JsonScalar::Null | JsonScalar::Array | JsonScalar::Object => {
            context.refuse_json(type_name);
            Datum::Int(0)
        }
    }
}

/// CAST(... AS SIGNED) or UNSIGNED: the bits of the result.
pub(super) fn to_integer(
    datum: Datum<'_>,
    from: &SqlType,
    unsigned: bool,
    context: &CastContext<'_>,
) -> i64 {
    match datum {
        Datum::Int(value) if from.is_temporal() => {
            temporal_number(from.kind, value, context.truncates_fractions())
        }
        Datum::Int(value) => value,
        Datum::UInt(value) => value as i64,
        Datum::Float(value) => float_to_integer(value, unsigned),
        Datum::Decimal(value) => decimal_to_integer(value, unsigned, context),
        Datum::Bytes(bytes) if from.kind == TypeKind::Json => match scalar_of(bytes) {
            JsonScalar::String(text) => {
                let parsed = parse_integer(&text);
                if parsed.consumed != text.len() || parsed.overflow {
                    context.refuse_json("INTEGER");
                }
                parsed.value as i64
            }
            scalar => to_integer(
                number_of(scalar, "INTEGER", context),
                from,
                unsigned,
                context,
            ),
        },
        Datum::Bytes(bytes) => {
            let parsed = parse_integer(bytes);
            if parsed.consumed != bytes.len() || parsed.consumed == 0 || parsed.overflow {
                context.warn_truncated("INTEGER", bytes);
            }
            if parsed.overflow || parsed.consumed == 0 {
                // The warning was given above.
            } else if unsigned && parsed.value < 0 {
                context.warn_text(
                    "Cast to unsigned converted negative integer to its positive complement",
                );
            } else if !unsigned && parsed.value > i128::from(i64::MAX) {
                context.warn_text(
                    "Cast to signed converted positive out-of-range integer to its negative \
                     complement",
                );
            }
            parsed.value as i64
        }
    }
}

fn float_to_integer(value: f64, unsigned: bool) -> i64 {
    let rounded = round_half_even(value);
    if unsigned && rounded >= 9_223_372_036_854_775_808.0 {
        return if rounded < 18_446_744_073_709_551_616.0 {
            rounded as u64 as i64
        } else {
            i64::MAX
        };
    }
    rounded as i64
}

fn decimal_to_integer(value: Decimal, unsigned: bool, context: &CastContext<'_>) -> i64 {
    let converted = if unsigned && !value.is_negative() {
        let converted = value.to_u64();
        converted
            .map(|bits| bits as i64)
            .map_err(|clamped| clamped as i64)
    } else {
        value.to_i64()
    };
    converted.unwrap_or_else(|clamped| {
        context.warn_truncated("DECIMAL", value.to_string().as_bytes());
        clamped
    })
}

/// The double that a value is in a numeric context.
pub(super) fn to_double(datum: Datum<'_>, from: &SqlType, context: &CastContext<'_>) -> f64 {
    match datum {
        Datum::Int(value) if from.is_temporal() => {
            let micros = temporal_micro_number(from.kind, value);
            if micros % 1_000_000 == 0 {
                // At most fourteen digits: exact.
                (micros / 1_000_000) as f64
            } else {
                i128_to_f64(micros, 6)
            }
        }
        Datum::Int(value) => value as f64,
        Datum::UInt(value) => value as f64,
        Datum::Float(value) => value,
        Datum::Decimal(value) => value.to_f64(),
        Datum::Bytes(bytes) if from.kind == TypeKind::Json => match scalar_of(bytes) {
            JsonScalar::String(text) => {
                let parsed = parse_double(&text);
                if parsed.consumed != text.len() || parsed.consumed == 0 || parsed.overflow {
                    context.refuse_json("DOUBLE");
                }
                parsed.value
            }
            scalar => to_double(number_of(scalar, "DOUBLE", context), from, context),
        },
        Datum::Bytes(bytes) => {
            let parsed = parse_double(bytes);
            // The empty string is 0 without a warning here, and so is a value that is no text.
            let is_text = !from.is_structured_bytes();
            if is_text && (parsed.consumed != bytes.len() || parsed.overflow) {
                context.warn_truncated("DOUBLE", bytes);
            }
            parsed.value
        }
    }
}

/// The single-precision value that a FLOAT keeps; error 1690 beyond its range.
pub(super) fn to_float(
    datum: Datum<'_>,
    from: &SqlType,
    context: &CastContext<'_>,
) -> Result<f64, Error> {
    let value = to_double(datum, from, context);
    let single = value as f32;
    if single.is_finite() {
        Ok(f64::from(single))
    } else {
        Err(codes::ER_DATA_OUT_OF_RANGE.with(&[&"DOUBLE", &context.operand]))
    }
}

/// The exact number that a value is, before it is brought to a precision and scale.
pub(super) fn to_exact(datum: Datum<'_>, from: &SqlType, context: &CastContext<'_>) -> Decimal {
    match datum {
        Datum::Int(value) if from.is_temporal() => {
            let number = temporal_micro_number(from.kind, value);
            Decimal::from_i128(number, 6)
        }
        Datum::Int(value) => value.into(),
        Datum::UInt(value) => value.into(),
        Datum::Float(value) => {
            Decimal::from_f64(value).map_or(Decimal::ZERO, |parsed| parsed.value)
        }
        Datum::Decimal(value) => value,
        Datum::Bytes(bytes) if from.kind == TypeKind::Json => match scalar_of(bytes) {
            JsonScalar::String(text) => {
                let parsed = parse_decimal(&text);
                if parsed.consumed != text.len() || parsed.consumed == 0 {
                    context.refuse_json("DECIMAL");
                }
                parsed.value
            }
            scalar => to_exact(number_of(scalar, "DECIMAL", context), from, context),
        },
        Datum::Bytes(bytes) => {
            let parsed = parse_decimal(bytes);
            if parsed.consumed != bytes.len() || parsed.consumed == 0 || parsed.overflow {
                context.warn_truncated("DECIMAL", bytes);
            }
            parsed.value
        }
    }
}

/// CAST(... AS DECIMAL(p, s)); clamped with warning 1264.
pub(super) fn to_decimal(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Decimal {
    let exact = to_exact(datum, from, context);
    let precision = to.length.min(u32::from(DECIMAL_PRECISION_MAX)) as u8;
    let scale = to.decimals.min(DECIMAL_SCALE_MAX);
    exact
        .to_precision(precision, scale)
        .unwrap_or_else(|clamped| {
            context.warn_out_of_range();
            clamped
        })
}

/// CAST(... AS YEAR); `None` is NULL, with a warning.
pub(super) fn to_year(datum: Datum<'_>, from: &SqlType, context: &CastContext<'_>) -> Option<u64> {
    let number = match datum {
        Datum::Int(micros) if from.kind == TypeKind::Time => {
            return context
                .date_of_time(micros)
                .map(|date| u64::from(date.year));
        }
        Datum::Int(packed) if from.is_temporal() => i64::from(DateTime::unpack(packed).year),
        Datum::Bytes(bytes) if from.kind != TypeKind::Json => {
            let parsed = parse_integer(bytes);
            if parsed.consumed == 0 || parsed.value < 0 || parsed.overflow {
                let value = shown(bytes);
                let error = codes::ER_WRONG_VALUE.with(&[&"YEAR", &value]);
                context.diagnostics.warn(error);
                return None;
            }
            let has_spaces = bytes.last().is_some_and(u8::is_ascii_whitespace);
            if parsed.consumed != bytes.len() || has_spaces {
                context.warn_truncated("YEAR", bytes);
            }
            match i64::try_from(parsed.value) {
                // '0' is 2000, the number 0 is 0000.
                Ok(0) => 2000,
                Ok(number) => number,
                Err(_) => i64::MAX,
            }
        }
        _ => to_integer(datum, from, false, context),
    };
    let year = year_of_number(number);
    if year.is_none() {
        context.warn_truncated("YEAR", number.to_string().as_bytes());
    }
    year
}

/// The year of a number: two digits up to 69 are of this century, from 70 on of the last.
pub(super) fn year_of_number(number: i64) -> Option<u64> {
    match number {
        0 => Some(0),
        1..70 => Some(number as u64 + 2000),
        70..100 => Some(number as u64 + 1900),
        1901..=2155 => Some(number as u64),
        _ => None,
    }
}
