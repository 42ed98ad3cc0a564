//! DATE(value), TIME(value), TIMESTAMP(value[, time]), and LAST_DAY(date): the last day of its month.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateTime, append_date, calendar};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Temporals, Wanted, ZeroParts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["date"], 1..=1, date_signature, date)
        .with(&[Fact::Strict])
        .parameters(Parameters::Typed(&[(ParameterType::Date, 0..1)])),
    Row::new(&["time"], 1..=1, time_signature, time)
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)])),
    Row::new(&["timestamp"], 1..=2, timestamp_signature, timestamp)
        .parameters(Parameters::Typed(&[
            (ParameterType::DateTime, 0..1),
            (ParameterType::Time, 1..2),
        ]))
        .with(&[Fact::StopsAtNull]),
    Row::new(&["last_day"], 1..=1, date_signature, last_day)
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)])),
];

fn date_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_date(binding, SqlType::temporal(TypeKind::Date, 0))
}

fn date(call: &Call<'_>) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Allowed)?;
    output::ints(call.rows, |row| {
        Ok(dates.get(row).map(|date| date.at_midnight().pack()))
    })
}

fn time_signature(binding: &Binding<'_>) -> Result<Signature> {
    let digits = arguments::decimals_of_all(binding);
    arguments::of_time(binding, SqlType::temporal(TypeKind::Time, digits))
}

fn time(call: &Call<'_>) -> Result<ArrayRef> {
    let times = Temporals::new(call, 0)?;
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        let micros = times.time(row);
        Ok(micros.map(|micros| arguments::time_result(micros.into(), digits, call.context)))
    })
}

fn timestamp_signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = vec![arguments::datetime_type(binding, 0)];
    if binding.arguments.len() > 1 {
        types.push(arguments::time_type(binding, 1));
    }
    let digits = arguments::decimals_of_all(binding);
    let result = SqlType::temporal(TypeKind::DateTime, digits);
    Ok(Signature::new(types, result, true))
}

fn timestamp(call: &Call<'_>) -> Result<ArrayRef> {
    let context = call.context;
    let dates = DateTimes::new(call, 0, Wanted::DateTime, ZeroParts::Allowed)?;
    let has_time = call.arguments.len() > 1;
    let times = has_time.then(|| Temporals::new(call, 1)).transpose()?;
    let sum = |row: usize| {
        let date = dates.get(row)?;
        let Some(times) = &times else {
            return Some(date);
        };
        let sum = date.add_micros(times.time(row)?);
        sum.or_else(|| arguments::overflow("datetime", context))
    };
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        Ok(sum(row).and_then(|sum| arguments::datetime_result(sum, digits, context)))
    })
}

fn last_day(call: &Call<'_>) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Allowed)?;
    output::ints(call.rows, |row| {
        let Some(date) = dates.get(row) else {
            return Ok(None);
        };
        if date.month == 0 {
            let mut text = Vec::new();
            append_date(&mut text, date.pack());
            arguments::warn_truncated("date", &text, call.context);
            return Ok(None);
        }
        let day = calendar::days_in_month(date.year, date.month);
        Ok(Some(DateTime::date(date.year, date.month, day).pack()))
    })
}
