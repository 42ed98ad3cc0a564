//! GREATEST(value, …) and LEAST(value, …): NULL when any argument is NULL.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateTime, append_date, append_datetime};
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind, Value};

use crate::choice::{choice_type, is_null, pick};
use crate::comparison::compare_texts;
use crate::scalar::Row;
use crate::scalar::dates::arguments::{DateTimes, Wanted, ZeroParts, datetime_result, moment_type};
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Argument, Binding, Call, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["greatest"], 2..=usize::MAX, signature, |call| {
        // Of equal texts the last one.
        evaluate(call, Ordering::is_ge)
    })
    .with(&[
        Fact::StopsAtNull,
        Fact::GivesArgument,
        Fact::Choice,
        Fact::Extreme,
    ])
    .parameters(Parameters::OfOthers(ParameterType::Text)),
    Row::new(&["least"], 2..=usize::MAX, signature, |call| {
        evaluate(call, Ordering::is_lt)
    })
    .with(&[
        Fact::StopsAtNull,
        Fact::GivesArgument,
        Fact::Choice,
        Fact::Extreme,
    ])
    .parameters(Parameters::OfOthers(ParameterType::Text)),
];

/// Maximum number of fractional digits of a second.
const TEMPORAL_DECIMALS_MAX: u8 = 6;

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let (mut ty, coercibility) = choice_type(binding)?;
    if ty.kind == TypeKind::VarChar {
        ty.length = ty.length.max(moment_length(binding));
    }
    // A date is compared as a date, also with strings and numbers, though the result is a string; a time, and a date
    // with a year, as a string. The function itself reads the other arguments as dates.
    let mut kinds = binding.arguments.iter().map(|argument| argument.ty.kind);
    let mut dates = binding
        .arguments
        .iter()
        .filter(|argument| argument.ty.is_temporal() && argument.ty.kind != TypeKind::Time);
    if ty.is_string() && !kinds.any(|kind| kind == TypeKind::Year) && dates.clone().next().is_some()
    {
        let compared = if dates.any(|date| date.ty.kind != TypeKind::Date) {
            let decimals = binding.arguments.iter().map(fraction_digits).max();
            SqlType::temporal(TypeKind::DateTime, decimals.unwrap_or(0))
        } else {
            SqlType::temporal(TypeKind::Date, 0)
        };
        ty.temporal_text = true;
        let types = (0..binding.arguments.len()).map(|index| match moment_type(binding, index) {
            read if read.is_string()
                || matches!(read.kind, TypeKind::Decimal | TypeKind::Double) =>
            {
                read
            }
            _ => compared.clone(),
        });
        let signature = Signature::new(types.collect(), ty, binding.any_nullable());
        return Ok(signature.with_coercibility(coercibility));
    }
    if matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Json) {
        ty = binding.text(0);
    }
    let types = vec![ty.clone(); binding.arguments.len()];
    Ok(Signature::new(types, ty, binding.any_nullable()).with_coercibility(coercibility))
}

/// Length of a temporal value's text among texts and numbers, which may give it a fraction.
fn moment_length(binding: &Binding<'_>) -> u32 {
    let arguments = binding.arguments.iter();
    let kinds = || arguments.clone().map(|argument| argument.ty.kind);
    let kind = if kinds().any(|kind| matches!(kind, TypeKind::DateTime | TypeKind::Timestamp)) {
        TypeKind::DateTime
    } else if kinds().any(|kind| kind == TypeKind::Time) {
        TypeKind::Time
    } else {
        return 0;
    };
    let digits = arguments.clone().map(|argument| match argument.constant {
        // Beside text that is no temporal value the maximum number of digits is assumed.
        Some(Value::Bytes(text)) if !argument.ty.is_bytes_literal && !begins_with_number(text) => {
            TEMPORAL_DECIMALS_MAX
        }
        _ => fraction_digits(argument),
    });
    let decimals = digits.max().unwrap_or(0);
    SqlType::temporal(kind, decimals).length
}

/// `replaces` says whether a value replaces the best before it, given its order relative to that.
fn evaluate(call: &Call<'_>, replaces: impl Fn(Ordering) -> bool) -> Result<ArrayRef> {
    let (ty, result) = (call.ty(0), &call.signature.result);
    if result.temporal_text {
        return evaluate_dates(call, replaces);
    }
    match ty.physical() {
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
    }
}

/// Dates among texts and numbers: non-dates are ignored. Nothing after a NULL is read.
fn evaluate_dates(call: &Call<'_>, replaces: impl Fn(Ordering) -> bool) -> Result<ArrayRef> {
    let types = &call.signature.arguments;
    let compared = types.iter().find(|ty| ty.is_temporal());
    let (kind, digits) = compared.map_or((TypeKind::Date, 0), |ty| (ty.kind, ty.decimals));
    let is_date = kind == TypeKind::Date;
    let zero_parts = if is_date {
        ZeroParts::Allowed
    } else {
        ZeroParts::Refused
    };
    let mut readers = Vec::new();
    readers.resize_with(call.arguments.len(), || None);
    let packed = |date: DateTime| {
        if is_date {
            Some(date.at_midnight().pack())
        } else {
            datetime_result(date, digits, call.context)
        }
    };
    output::texts(call, |row, out| {
        let mut best = None;
        for (index, reader) in readers.iter_mut().enumerate() {
            if is_null(&call.arguments[index], row) {
                return Ok(false);
            }
            let reader = match reader {
                Some(reader) => reader,
                None => reader.insert(DateTimes::new(call, index, Wanted::DateTime, zero_parts)?),
            };
            if let Some(date) = reader.get(row).and_then(packed)
                && best.is_none_or(|best: i64| replaces(date.cmp(&best)))
            {
                best = Some(date);
            }
        }
        match best {
            Some(date) if is_date => append_date(out, date),
            Some(date) => append_datetime(out, date, digits),
            None => {}
        }
        Ok(best.is_some())
    })
}

/// For each row the value that replaces those before it and is not replaced.
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

fn begins_with_number(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    text.first()
        .is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte))
}

/// Number of fractional digits of an argument as a DATETIME.
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
