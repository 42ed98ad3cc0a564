//! Parts of a date as numbers: YEAR, QUARTER, MONTH, DAY, DAYOFWEEK, DAYOFYEAR, WEEKDAY,
//! WEEKOFYEAR, WEEK, YEARWEEK, TO_DAYS, TO_SECONDS.

use arrow_array::ArrayRef;
use mayfly_types::temporal::calendar::{self, WeekMode};
use mayfly_types::temporal::{DateTime, MICROS_PER_SECOND};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::scalar::operators::numeric::integer_result;
use crate::{Binding, Call, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["year"], 1..=1, year_signature, year)
        .with(&[Fact::YearOfDate, Fact::Strict])
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)])),
    Row::new(&["quarter"], 1..=1, zero_signature::<2>, |call| {
        part(call, |date| i64::from(date.month.div_ceil(3)))
    })
    .with(&[Fact::Strict])
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(4),
    Row::new(&["month"], 1..=1, zero_signature::<3>, |call| {
        part(call, |date| i64::from(date.month))
    })
    .with(&[Fact::Strict])
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(12),
    Row::new(&["dayofmonth", "day"], 1..=1, zero_signature::<3>, |call| {
        part(call, |date| i64::from(date.day))
    })
    .with(&[Fact::Strict])
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(31),
    // 1 is Sunday.
    Row::new(&["dayofweek"], 1..=1, signature::<2>, |call| {
        part_of_day(call, |date| (weekday(date) + 1) % 7 + 1)
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(7),
    Row::new(&["weekday"], 1..=1, signature::<2>, |call| {
        part_of_day(call, weekday)
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(7),
    Row::new(&["dayofyear"], 1..=1, signature::<4>, |call| {
        part_of_day(call, calendar::day_of_year)
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(366),
    Row::new(&["weekofyear"], 1..=1, signature::<3>, |call| {
        part_of_day(call, |date| week_of(date, 3))
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)])),
    Row::new(&["to_days"], 1..=1, signature::<8>, |call| {
        part_of_day(call, calendar::day_number)
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)])),
    Row::new(&["to_seconds"], 1..=1, seconds_signature, to_seconds)
        .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)])),
    Row::new(&["week"], 1..=2, signature::<3>, |call| {
        by_week(call, call.context.session.default_week_format, week_of)
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .distinct_values(53)
    .with(&[Fact::StopsAtNull]),
    Row::new(&["yearweek"], 1..=2, signature::<7>, |call| {
        by_week(call, 0, |date, mode| {
            let (year, week) = calendar::week(date, WeekMode::new(mode | 2));
            i64::from(year) * 100 + i64::from(week)
        })
    })
    .parameters(Parameters::Typed(&[(ParameterType::DateTime, 0..1)]))
    .with(&[Fact::StopsAtNull]),
];

fn weekday(date: DateTime) -> i64 {
    calendar::weekday(calendar::day_number(date)).into()
}

fn week_of(date: DateTime, mode: u8) -> i64 {
    calendar::week(date, WeekMode::new(mode)).1.into()
}

/// The types of a function of a date, perhaps with a week mode; the result is an integer with a display width.
fn signature<const WIDTH: u32>(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = vec![SqlType::bigint(); binding.arguments.len()];
    types[0] = arguments::date_type(binding, 0);
    if binding
        .arguments
        .get(1)
        .is_some_and(|mode| mode.ty.unsigned)
    {
        types[1] = SqlType::bigint_unsigned();
    }
    Ok(Signature::new(types, integer_result(WIDTH, false), true))
}

/// The types of a part that dates with a zero month or day have, too.
fn zero_signature<const WIDTH: u32>(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![arguments::zero_date_type(binding, 0)];
    Ok(Signature::new(types, integer_result(WIDTH, false), true))
}

/// A part that dates with a zero month or day have, too.
fn part(call: &Call<'_>, compute: impl Fn(DateTime) -> i64) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Allowed)?;
    output::ints(call.rows, |row| Ok(dates.get(row).map(&compute)))
}

/// A part that only valid dates have.
fn part_of_day(call: &Call<'_>, compute: impl Fn(DateTime) -> i64) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Refused)?;
    output::ints(call.rows, |row| Ok(dates.get(row).map(&compute)))
}

fn year_signature(binding: &Binding<'_>) -> Result<Signature> {
    let year = SqlType {
        unsigned: true,
        ..SqlType::temporal(TypeKind::Year, 0)
    };
    let types = vec![arguments::zero_date_type(binding, 0)];
    Ok(Signature::new(types, year, true))
}

fn year(call: &Call<'_>) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Allowed)?;
    output::uints(call.rows, |row| {
        Ok(dates.get(row).map(|date| u64::from(date.year)))
    })
}

fn seconds_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![arguments::datetime_type(binding, 0)];
    Ok(Signature::new(types, integer_result(21, false), true))
}

fn to_seconds(call: &Call<'_>) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::DateTime, ZeroParts::Refused)?;
    output::ints(call.rows, |row| {
        let date = dates.get(row);
        Ok(date.map(|date| date.to_micros() / MICROS_PER_SECOND))
    })
}

/// WEEK(date[, mode]) or YEARWEEK(date[, mode])
fn by_week(
    call: &Call<'_>,
    default_mode: u8,
    compute: impl Fn(DateTime, u8) -> i64,
) -> Result<ArrayRef> {
    let dates = DateTimes::new(call, 0, Wanted::Date, ZeroParts::Refused)?;
    let modes = call.optional(1, input::any_ints)?;
    // MySQL takes the low 32 bits as a signed number, and 0 for a negative one.
    let of_number = |number: i128| ((number as i32).max(0) & 7) as u8;
    output::ints(call.rows, |row| {
        let mode = modes.map_or(default_mode, |modes| modes.get(row).map_or(0, of_number));
        Ok(dates.get(row).map(|date| compute(date, mode)))
    })
}
