//! ADDTIME(value, time) and SUBTIME(value, time).

use arrow_array::ArrayRef;
use mayfly_types::temporal::{TIME_MAX_MICROS, append_datetime, append_time};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, FRACTION_MAX, Preferred, Temporal, Temporals, overflow, time_result};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["addtime"], 2..=2, signature, |call| add(call, 1))
        .with(&[Fact::StopsAtNull, Fact::FixedString])
        .parameters(Parameters::Typed(&[(ParameterType::Time, 0..2)])),
    Row::new(&["subtime"], 2..=2, signature, |call| add(call, -1))
        .with(&[Fact::StopsAtNull, Fact::FixedString])
        .parameters(Parameters::Typed(&[(ParameterType::Time, 0..2)])),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let digits = arguments::decimals_of_all(binding);
    let result = match binding.arguments[0].ty.kind {
        TypeKind::Time => SqlType::temporal(TypeKind::Time, digits),
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
            SqlType::temporal(TypeKind::DateTime, digits)
        }
        // Text with a date gives a datetime, text without one a time.
        _ => arguments::temporal_text(binding),
    };
    let types = vec![
        arguments::moment_type(binding, 0),
        arguments::time_type(binding, 1),
    ];
    Ok(Signature::new(types, result, true))
}

fn add(call: &Call<'_>, sign: i64) -> Result<ArrayRef> {
    let (context, result) = (call.context, &call.signature.result);
    let values = Temporals::preferring(Preferred::DateOfText, call, 0)?;
    let times = Temporals::new(call, 1)?;
    let sum = |row: usize| -> Option<Temporal> {
        let value = values.get(row)?;
        let added = times.time(row)? * sign;
        match value {
            Temporal::DateTime(date) if date.has_zero_part() => {
                let mut text = Vec::new();
                append_datetime(&mut text, date.pack(), 0);
                arguments::warn_incorrect("datetime", &text, context);
                None
            }
            Temporal::DateTime(date) => {
                let sum = date.add_micros(added).map(Temporal::DateTime);
                sum.or_else(|| overflow("datetime", context))
            }
            other => {
                let sum = other.micros() + added;
                Some(Temporal::Time(match result.kind {
                    TypeKind::Time => sum,
                    // A result as text is clamped to the largest time.
                    _ => time_result(sum.into(), FRACTION_MAX, context),
                }))
            }
        }
    };
    match result.kind {
        TypeKind::Time => output::ints(call.rows, |row| {
            Ok(sum(row).and_then(|sum| {
                let time = sum.micros();
                if time.abs() <= TIME_MAX_MICROS {
                    Some(time_result(time.into(), result.decimals, context))
                } else {
                    overflow("time", context)
                }
            }))
        }),
        TypeKind::DateTime => output::ints(call.rows, |row| {
            Ok(match sum(row) {
                Some(Temporal::DateTime(sum)) => {
                    arguments::datetime_result(sum, result.decimals, context)
                }
                _ => None,
            })
        }),
        _ => output::texts(call, |row, out| {
            let digits = |micros: i64| {
                if micros % 1_000_000 == 0 {
                    0
                } else {
                    FRACTION_MAX
                }
            };
            match sum(row) {
                None => return Ok(false),
                Some(Temporal::DateTime(sum)) => {
                    append_datetime(out, sum.pack(), digits(sum.time_of_day()));
                }
                Some(Temporal::Time(micros)) => append_time(out, micros, digits(micros)),
            }
            Ok(true)
        }),
    }
}
