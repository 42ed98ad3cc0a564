//! Storing in columns of numbers.

use super::context::StoreContext;
use crate::convert::number::{Parsed, parse_double, plain_number, round_half_even};
use crate::convert::numeric::{temporal_micro_number, to_double, to_exact, year_of_number};
use crate::convert::shown;
use crate::convert::source::Datum;
use crate::decimal::{Decimal, parse_decimal};
use crate::error::{Result, codes};
use crate::sql_type::{
    DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX, DECIMALS_NOT_FIXED, SqlType, TypeKind,
};
use crate::temporal::DateTime;

/// The least and largest value of an integer kind.
pub(super) fn range(to: &SqlType) -> (i128, i128) {
    let bits = match to.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        _ => 64,
    };
    if to.unsigned {
        (0, (1 << bits) - 1)
    } else {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }
}

/// A number rounded to an integer; `exceeds` when it is beyond every integer type.
struct Whole {
    value: i128,
    /// The number was below zero, even if it was rounded to 0.
    negative: bool,
    /// More text followed: a warning unless there is a worse fault.
    truncated: bool,
}

fn whole_of_decimal(value: Decimal) -> Whole {
    let rounded = value
        .rescale(0)
        .ok()
        .and_then(|rounded| rounded.unscaled.to_i128());
    let extreme = if value.is_negative() {
        i128::MIN
    } else {
        i128::MAX
    };
    Whole {
        value: rounded.unwrap_or(extreme),
        negative: value.is_negative() && !value.is_zero(),
        truncated: false,
    }
}

/// The integer nearest to a value; reports text that is not a number.
fn whole(datum: Datum<'_>, from: &SqlType, context: &StoreContext<'_>) -> Result<Whole> {
    let exact = |value: i128| Whole {
        value,
        negative: value < 0,
        truncated: false,
    };
    Ok(match datum {
        Datum::Int(value) if from.is_temporal() => {
            let number = temporal_micro_number(from.kind, value);
            whole_of_decimal(Decimal::from_i128(number, 6))
        }
        Datum::Int(value) => exact(i128::from(value)),
        Datum::UInt(value) => exact(i128::from(value)),
        Datum::Float(value) => exact(round_half_even(value) as i128),
        Datum::Decimal(value) => whole_of_decimal(value),
        Datum::Bytes(_) if from.kind == TypeKind::Json => {
            whole_of_decimal(to_exact(datum, from, &context.cast))
        }
        Datum::Bytes(bytes) => {
            if let Some((value, 0)) = plain_number(bytes) {
                return Ok(exact(i128::from(value)));
            }
            let parsed = parse_decimal(bytes);
            if parsed.consumed == 0 {
                context.incorrect("integer", || shown(bytes))?;
            }
            let mut whole = whole_of_decimal(parsed.value);
            whole.truncated = parsed.consumed != 0 && parsed.consumed != bytes.len();
            // '-0.4' is 0 even without a sign, unlike the number.
            whole.negative = whole.value < 0;
            whole
        }
    })
}

/// The value of an integer column.
pub(super) fn integer(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<i128> {
    let whole = whole(datum, from, context)?;
    let (least, most) = range(to);
    let clamped = whole.value.clamp(least, most);
    if clamped != whole.value || (to.unsigned && whole.negative) {
        context.out_of_range()?;
    } else if whole.truncated {
        context.truncated()?;
    }
    Ok(clamped)
}

/// The value of a FLOAT or DOUBLE column.
pub(super) fn float(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<f64> {
    let is_float = to.kind == TypeKind::Float;
    let value = match datum {
        Datum::Bytes(bytes) if from.kind != TypeKind::Json => {
            let Parsed {
                value,
                consumed,
                overflow,
            } = parse_double(bytes);
            if consumed == 0 || consumed != bytes.len() {
                let name = if is_float { "FLOAT" } else { "DOUBLE" };
                context.incorrect(name, || shown(bytes))?;
            }
            if overflow { value * 2.0 } else { value }
        }
        _ => to_double(datum, from, &context.cast),
    };
    if value.is_nan() {
        context.out_of_range()?;
        return Ok(0.0);
    }
    let mut largest = if is_float {
        f64::from(f32::MAX)
    } else {
        f64::MAX
    };
    let mut rounded = value;
    if to.decimals < DECIMALS_NOT_FIXED {
        let unit = 10_f64.powi(i32::from(to.decimals));
        let integer_digits = to.length.saturating_sub(u32::from(to.decimals));
        let digits = i32::try_from(integer_digits).unwrap_or(i32::MAX);
        largest = largest.min(10_f64.powi(digits) - 1.0 / unit);
        let whole = value.floor();
        if (whole * unit).is_finite() {
            rounded = whole + round_half_even((value - whole) * unit) / unit;
        }
    }
    let least = if to.unsigned { 0.0 } else { -largest };
    let clamped = rounded.clamp(least, largest);
    if clamped != rounded {
        context.out_of_range()?;
    }
    Ok(if is_float {
        f64::from(clamped as f32)
    } else {
        clamped
    })
}

/// The value of a DECIMAL column.
pub(super) fn decimal(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<Decimal> {
    let mut overflow = false;
    let exact = match datum {
        Datum::Bytes(bytes) if from.kind != TypeKind::Json => {
            let parsed = parse_decimal(bytes);
            if parsed.consumed == 0 || (parsed.consumed != bytes.len() && context.is_strict()) {
                context.incorrect("decimal", || shown(bytes))?;
            } else if parsed.consumed != bytes.len() {
                context.note_truncated();
            }
            overflow = parsed.overflow;
            parsed.value
        }
        Datum::Float(value) => match Decimal::from_f64(value) {
            Some(parsed) => {
                overflow = parsed.overflow;
                parsed.value
            }
            None => Decimal::ZERO,
        },
        _ => to_exact(datum, from, &context.cast),
    };
    let precision = to.length.min(u32::from(DECIMAL_PRECISION_MAX)) as u8;
    let scale = to.decimals.min(DECIMAL_SCALE_MAX);
    if to.unsigned && exact.is_negative() {
        context.out_of_range()?;
        return Ok(Decimal::from_i128(0, scale));
    }
    match exact.to_precision(precision, scale) {
        Ok(value) if !overflow => {
            if exact.scale > scale && value.compare(exact).is_ne() {
                context.note_truncated();
            }
            Ok(value)
        }
        Ok(clamped) | Err(clamped) => {
            context.out_of_range()?;
            Ok(clamped)
        }
    }
}

/// The value of a YEAR column.
pub(super) fn year(datum: Datum<'_>, from: &SqlType, context: &StoreContext<'_>) -> Result<u64> {
    let mut truncated = false;
    let number = match datum {
        Datum::Int(_) if from.kind == TypeKind::Time => i128::from(context.cast.now.year),
        Datum::Int(packed) if from.is_temporal() => i128::from(DateTime::unpack(packed).year),
        _ => {
            let whole = whole(datum, from, context)?;
            truncated = whole.truncated;
            whole.value
        }
    };
    if let (0, Datum::Bytes(bytes)) = (number, datum)
        && from.kind != TypeKind::Json
    {
        // '0', '00', '000' and other texts with a leading zero are 2000; the number 0, '0000' and texts that are not
        // numbers are 0000.
        let digits = bytes.trim_ascii();
        if truncated {
            context.truncated()?;
        }
        let is_number = digits.first().is_some_and(u8::is_ascii_digit);
        return Ok(if is_number && digits.len() != 4 {
            2000
        } else {
            0
        });
    }
    let year = i64::try_from(number).ok().and_then(year_of_number);
    if year.is_none() {
        context.out_of_range()?;
    } else if truncated {
        context.truncated()?;
    }
    Ok(year.unwrap_or(0))
}

/// The value of a BIT column; for a string, its bytes.
pub(super) fn bit(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<u64> {
    let most = match to.length {
        bits @ 1..64 => (1 << bits) - 1,
        _ => u64::MAX,
    };
    let value = match datum {
        // A DECIMAL becomes an unsigned number first.
        Datum::Decimal(number) if number.is_negative() || number.truncate(0).to_u64().is_err() => {
            context.out_of_range()?;
            return Ok(if number.is_negative() { 0 } else { most });
        }
        Datum::Bytes(bytes) if from.kind != TypeKind::Json => {
            let start = bytes
                .iter()
                .position(|byte| *byte != 0)
                .unwrap_or(bytes.len());
            let significant = &bytes[start..];
            (significant.len() <= 8).then(|| {
                significant
                    .iter()
                    .fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
            })
        }
        _ => {
            let value = whole(datum, from, context)?.value;
            // A negative number is taken as its 64 bits.
            u64::try_from(value)
                .ok()
                .or_else(|| i64::try_from(value).ok().map(|value| value as u64))
        }
    };
    match value {
        Some(value) if value <= most => Ok(value),
        _ => {
            // The code depends on the mode alone, IGNORE or not.
            let code = if context.cast.sql_mode.is_strict() {
                codes::ER_DATA_TOO_LONG
            } else {
                codes::ER_WARN_DATA_OUT_OF_RANGE
            };
            context.reject(|| context.column_error(&code))?;
            Ok(most)
        }
    }
}
