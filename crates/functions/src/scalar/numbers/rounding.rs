//! Common parts of the rounding functions.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::Float64Type;
use mayfly_types::decimal::Decimal;
use mayfly_types::{PhysicalType, Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::scalar::operators::numeric;
use crate::{Argument, Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["round"], 1..=2, signature::<false>, evaluate::<false>)
        .with(&[
            Fact::StopsAtNull,
            Fact::Strict,
            Fact::Overflows,
            Fact::ReadsDouble,
            Fact::TypedByConstants(&[1]),
        ])
        .parameters(Parameters::Typed(&[(ParameterType::Decimal, 0..1)])),
    Row::new(&["truncate"], 2..=2, signature::<true>, evaluate::<true>)
        .with(&[
            Fact::StopsAtNull,
            Fact::Strict,
            Fact::Overflows,
            Fact::ReadsDouble,
            Fact::TypedByConstants(&[1]),
        ])
        .parameters(Parameters::Typed(&[(ParameterType::Decimal, 0..1)])),
];

/// The type that a numeric function reads its argument as, and the type of a result of the same kind. A date is read
/// as a DOUBLE.
pub(crate) fn number(argument: &Argument<'_>) -> (SqlType, SqlType) {
    match numeric::kind_of_argument(argument) {
        _ if argument.ty.is_temporal() => (SqlType::double(), derive::double_of(argument)),
        numeric::Kind::Integer => {
            let ty = numeric::integer_argument(argument.ty);
            let result = numeric::integer_result(ty.length, ty.physical() == PhysicalType::UInt64);
            (ty, result)
        }
        numeric::Kind::Decimal => {
            let ty = numeric::decimal_argument(argument);
            (ty.clone(), ty)
        }
        numeric::Kind::Double => (SqlType::double(), derive::double_of(argument)),
    }
}

/// A function of one double.
pub(crate) fn doubles(call: &Call<'_>, compute: impl Fn(f64) -> f64) -> Result<ArrayRef> {
    Ok(Arc::new(output::unary::<Float64Type, Float64Type>(
        call.floats(0)?,
        call.rows,
        compute,
    )))
}

/// Rounds a double to `places` decimals; halves go to the even neighbour, as the C library rounds.
fn double<const TRUNCATES: bool>(value: f64, places: i64) -> f64 {
    let magnitude = places.unsigned_abs().min(400) as i32;
    let power = 10_f64.powi(magnitude);
    let scaled = if places >= 0 {
        value * power
    } else {
        value / power
    };
    if places >= 0 && !scaled.is_finite() {
        return value;
    }
    if places < 0 && !power.is_finite() {
        return 0.0;
    }
    let whole = if TRUNCATES {
        scaled.trunc()
    } else {
        scaled.round_ties_even()
    };
    if places >= 0 {
        whole / power
    } else {
        whole * power
    }
}

/// Rounds an integer to (negative) `places` decimals.
fn integer<const TRUNCATES: bool>(value: i128, places: i64) -> i128 {
    let Some(power) = u32::try_from(places.unsigned_abs())
        .ok()
        .and_then(|places| 10_i128.checked_pow(places))
    else {
        return 0;
    };
    let truncated = value / power * power;
    let rest = (value - truncated).abs();
    if TRUNCATES || rest * 2 < power {
        truncated
    } else {
        truncated + power * value.signum()
    }
}

/// The types of ROUND() or TRUNCATE().
fn signature<const TRUNCATES: bool>(binding: &Binding<'_>) -> Result<Signature> {
    let (ty, same) = number(&binding.arguments[0]);
    let places = binding.arguments.get(1);
    let constant_places = places.map_or(Some(0), derive::constant_count);
    let result = match same.physical() {
        PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
            match constant_places {
                Some(places) => {
                    let kept = places.clamp(0, i64::from(scale)) as u8;
                    // Rounding may carry into a new digit when decimals are dropped.
                    let carry = u32::from(kept < scale && !TRUNCATES);
                    let precision = same.length - u32::from(scale - kept) + carry;
                    SqlType::decimal(u8::try_from(precision).unwrap_or(u8::MAX), kept)
                }
                None => same,
            }
        }
        // A DOUBLE result is shown with its actual decimals.
        PhysicalType::Float64 => SqlType::double(),
        _ => SqlType {
            unsigned: same.unsigned,
            ..derive::bigint_of_width(21)
        },
    };
    let mut types = vec![ty];
    types.extend(places.map(numeric::integer_or_bigint));
    Ok(Signature::new(types, result, binding.any_nullable()))
}

/// ROUND() or TRUNCATE()
fn evaluate<const TRUNCATES: bool>(call: &Call<'_>) -> Result<ArrayRef> {
    let places = match call.arguments.get(1) {
        Some(places) => input::any_ints(places)?,
        None => input::AnyInts::Signed(input::Ints::Constant(Some(0))),
    };
    let places = |row: usize| {
        let places = places.get(row)?;
        Some(i64::try_from(places).unwrap_or(i64::MAX))
    };
    let signature = call.signature;
    let fail = |kind: &str| output::out_of_range(kind, signature.text.as_deref());
    match signature.result.physical() {
        PhysicalType::Float64 => {
            let values = call.floats(0)?;
            output::floats(call.rows, |row| {
                let pair = values.get(row).zip(places(row));
                Ok(pair.map(|(value, places)| double::<TRUNCATES>(value, places)))
            })
        }
        PhysicalType::Int64 | PhysicalType::UInt64 => {
            let values = call.any_ints(0)?;
            let rounded = |row: usize| {
                let pair = values.get(row).zip(places(row));
                Ok(pair.map(|(value, places)| match places {
                    0.. => value,
                    _ => integer::<TRUNCATES>(value, places),
                }))
            };
            numeric::integers_of_type(call, rounded, |_, kind| fail(kind))
        }
        _ => {
            let scale = signature.arguments[0].decimals;
            let values = call.decimals(0)?;
            output::decimals(call.rows, &signature.result, |row| {
                let (Some(value), Some(places)) = (values.get(row), places(row)) else {
                    return Ok(None);
                };
                let rounded = Decimal::new(value, scale)
                    .round(places, TRUNCATES)
                    .and_then(|rounded| rounded.rescale(signature.result.decimals));
                Ok(Some(rounded.map_err(|_| fail("DECIMAL"))?.unscaled))
            })
        }
    }
}
