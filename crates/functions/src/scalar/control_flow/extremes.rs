//! GREATEST(value, …) and LEAST(value, …): NULL when any is NULL.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::convert::cast_array;
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind, Value};

use crate::choice::{choice_type, pick};
use crate::comparison::compare_texts;
use crate::scalar::Row;
use crate::{Argument, Binding, Call, Signature, input};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["greatest"], 2..=usize::MAX, signature, |call| {
        // Of texts that are equal the last one.
        evaluate(call, Ordering::is_ge)
    }),
    Row::new(&["least"], 2..=usize::MAX, signature, |call| {
        evaluate(call, Ordering::is_lt)
    }),
];

/// The most digits of a second.
const TEMPORAL_DECIMALS_MAX: u8 = 6;

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let (mut ty, coercibility) = choice_type(binding)?;
    // A date is compared as what it is, also with strings and numbers, though the result is a string; a
    // time, and a date with a year, as a string.
    let mut kinds = binding.arguments.iter().map(|argument| argument.ty.kind);
    let mut dates = binding
        .arguments
        .iter()
        .filter(|argument| argument.ty.is_temporal() && argument.ty.kind != TypeKind::Time);
    let compared = if ty.is_string()
        && !kinds.any(|kind| kind == TypeKind::Year)
        && dates.clone().next().is_some()
    {
        if dates.any(|date| date.ty.kind != TypeKind::Date) {
            let decimals = binding.arguments.iter().map(fraction_digits).max();
            SqlType::temporal(TypeKind::DateTime, decimals.unwrap_or(0))
        } else {
            SqlType::temporal(TypeKind::Date, 0)
        }
    } else {
        if matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json) {
            ty = binding.text(0);
        }
        ty.clone()
    };
    let types = vec![compared; binding.arguments.len()];
    Ok(Signature::new(types, ty, binding.any_nullable()).with_coercibility(coercibility))
}

/// `replaces` says whether a value replaces the best before it, by its order to that.
fn evaluate(call: &Call<'_>, replaces: impl Fn(Ordering) -> bool) -> Result<ArrayRef> {
    let (ty, result) = (call.ty(0), &call.signature.result);
    let picked = match ty.physical() {
        PhysicalType::Bytes => {
            let values: Vec<_> = call.all(0, input::texts)?;
            best(
                call,
                |row, index| values[index].get(row),
                |a, b| replaces(compare_texts(a, b, ty.collation)),
            )
        }
        PhysicalType::Float64 => {
            let values: Vec<_> = call.all(0, input::floats)?;
            best(
                call,
                |row, index| values[index].get(row),
                |a, b| replaces(a.total_cmp(&b)),
            )
        }
        PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
            let values: Vec<_> = call.all(0, |column| input::decimals(column, scale))?;
            best(
                call,
                |row, index| values[index].get(row),
                |a, b| replaces(a.cmp(&b)),
            )
        }
        _ => {
            let values: Vec<_> = call.all(0, input::any_ints)?;
            best(
                call,
                |row, index| values[index].get(row),
                |a, b| replaces(a.cmp(&b)),
            )
        }
    }?;
    if ty.is_temporal() && result.is_string() {
        return cast_array(&picked, ty, result, &call.context.cast(call.name));
    }
    Ok(picked)
}

/// The value of each row that replaces those before it and is not replaced.
fn best<T: Copy>(
    call: &Call<'_>,
    value: impl Fn(usize, usize) -> Option<T>,
    replaces: impl Fn(T, T) -> bool,
) -> Result<ArrayRef> {
    pick(call, 0, |row| {
        let mut best = (value(row, 0)?, 0);
        for index in 1..call.arguments.len() {
            let candidate = value(row, index)?;
            if replaces(candidate, best.0) {
                best = (candidate, index);
            }
        }
        Some(best.1)
    })
}

/// The digits of a second that an argument may have as a date with time.
fn fraction_digits(argument: &Argument<'_>) -> u8 {
    let digits = match argument.constant {
        _ if argument.ty.is_temporal() => argument.ty.decimals,
        Some(Value::Bytes(text)) => {
            let fraction = text.iter().skip_while(|byte| **byte != b'.').skip(1);
            fraction.take_while(|byte| byte.is_ascii_digit()).count() as u8
        }
        Some(Value::Null) => 0,
        _ if argument.ty.is_integer() => 0,
        _ if argument.ty.is_numeric() => argument.ty.decimals,
        _ => TEMPORAL_DECIMALS_MAX,
    };
    digits.min(TEMPORAL_DECIMALS_MAX)
}
