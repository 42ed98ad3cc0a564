//! Dates and times from numbers: MAKEDATE(year, day), MAKETIME(hour, minute, second),
//! SEC_TO_TIME(seconds), FROM_DAYS(day).

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::temporal::{DateTime, calendar};
use mayfly_types::{PhysicalType, Result, SqlMode, SqlType, TypeKind};

use super::arguments::{self, FRACTION_MAX, MORE_DIGITS};
use crate::input::{AnyInts, Decimals};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::operators::numeric;
use crate::{Argument, Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["makedate"], 2..=2, date_signature, make_date).with(&[Fact::StopsAtNullIn(&[1, 0])]),
    Row::new(&["from_days"], 1..=1, date_signature, from_days),
    Row::new(&["maketime"], 3..=3, time_signature, make_time).with(&[Fact::StopsAtNull]),
    Row::new(&["sec_to_time"], 1..=1, time_signature, sec_to_time).with(&[Fact::ReadsIntegers(1)]),
];

fn date_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![SqlType::bigint(); binding.arguments.len()];
    let result = SqlType::temporal(TypeKind::Date, 0);
    Ok(Signature::new(types, result, true))
}

/// A year, of which two digits are completed.
pub(crate) fn year_of(number: i64) -> i64 {
    match number {
        0..=69 => number + 2000,
        70..=99 => number + 1900,
        _ => number,
    }
}

fn make_date(call: &Call<'_>) -> Result<ArrayRef> {
    let (years, days) = (call.ints(0)?, call.ints(1)?);
    let date = |year: i64, day: i64| {
        let year = u16::try_from(year_of(year)).ok();
        let year = year.filter(|year| *year <= 9999)?;
        let first = calendar::day_number(DateTime::date(year, 1, 1));
        let number = first.checked_add(day.checked_sub(1)?).filter(|_| day > 0)?;
        calendar::date_of_day_number(number).map(DateTime::pack)
    };
    output::ints(call.rows, |row| {
        let pair = years.get(row).zip(days.get(row));
        Ok(pair.and_then(|(year, day)| date(year, day)))
    })
}

fn from_days(call: &Call<'_>) -> Result<ArrayRef> {
    let days = call.ints(0)?;
    output::ints(call.rows, |row| {
        let date = days.get(row).and_then(calendar::date_of_day_number);
        Ok(date.map(DateTime::pack))
    })
}

/// The type that seconds are read as, integer or with at most six fractional digits; the digits of a literal are not
/// examined.
pub(crate) fn seconds_type(argument: &Argument<'_>, sql_mode: SqlMode) -> (SqlType, u8) {
    let digits = if argument.ty.is_string() {
        FRACTION_MAX
    } else {
        arguments::decimals_of(argument)
    };
    let ty = match digits {
        0 => derive::integer_of(argument),
        // They are truncated below.
        _ if sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL) => {
            let more = match argument.ty.kind {
                TypeKind::Decimal => argument.ty.decimals.saturating_sub(FRACTION_MAX),
                _ => MORE_DIGITS,
            };
            SqlType::decimal(38 + more, FRACTION_MAX + more)
        }
        // Digits after the sixth are rounded away.
        _ => SqlType::decimal(38, FRACTION_MAX),
    };
    (ty, digits)
}

/// An argument of [`seconds_type`].
pub(crate) enum Seconds<'a> {
    Whole(AnyInts<'a>),
    /// Seconds, and the divisor from their unscaled numbers to microseconds.
    Fractional(Decimals<'a>, i256),
}

impl<'a> Seconds<'a> {
    pub(crate) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        Ok(match call.ty(index).physical() {
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let more = u32::from(scale.saturating_sub(FRACTION_MAX));
                let divisor = i256::from_i128(10).wrapping_pow(more);
                Self::Fractional(call.decimals(index)?, divisor)
            }
            _ => Self::Whole(call.any_ints(index)?),
        })
    }

    pub(crate) fn micros(&self, row: usize) -> Option<i128> {
        match self {
            Self::Whole(values) => values.get(row).map(|seconds| seconds * 1_000_000),
            Self::Fractional(values, divisor) => {
                let micros = values.get(row)?.wrapping_div(*divisor);
                Some(micros.to_i128().unwrap_or(i128::MAX))
            }
        }
    }
}

/// The types of a function with seconds as last argument that returns a time.
fn time_signature(binding: &Binding<'_>) -> Result<Signature> {
    let last = binding.arguments.len() - 1;
    let (seconds, digits) = seconds_type(&binding.arguments[last], binding.session.sql_mode);
    let mut types = vec![SqlType::bigint(); last];
    if let Some(hours) = types.first_mut() {
        *hours = numeric::integer_or_bigint(&binding.arguments[0]);
    }
    types.push(seconds);
    let result = SqlType::temporal(TypeKind::Time, digits);
    Ok(Signature::new(types, result, true))
}

fn make_time(call: &Call<'_>) -> Result<ArrayRef> {
    let (hours, minutes, seconds) = (call.any_ints(0)?, call.ints(1)?, Seconds::new(call, 2)?);
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        let (Some(hour), Some(minute), Some(micros)) =
            (hours.get(row), minutes.get(row), seconds.micros(row))
        else {
            return Ok(None);
        };
        if !(0..60).contains(&minute) || !(0..60_000_000).contains(&micros) {
            return Ok(None);
        }
        let sign = if hour < 0 { -1 } else { 1 };
        let seconds = hour.abs() * 3600 + i128::from(minute) * 60;
        let total = sign * (seconds * 1_000_000 + micros);
        Ok(Some(arguments::time_result(total, digits, call.context)))
    })
}

fn sec_to_time(call: &Call<'_>) -> Result<ArrayRef> {
    let seconds = Seconds::new(call, 0)?;
    let digits = call.signature.result.decimals;
    output::ints(call.rows, |row| {
        let micros = seconds.micros(row);
        Ok(micros.map(|micros| arguments::time_result(micros, digits, call.context)))
    })
}
