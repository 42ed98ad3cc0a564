//! EXTRACT(unit FROM value): the parts of a unit as one number. The parser passes the unit first, as a keyword.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::temporal::calendar::{self, WeekMode};
use mayfly_types::temporal::{DateTime, IntervalUnit, MICROS_PER_SECOND};
use mayfly_types::{Result, Value};

use super::arguments::{self, DateTimes, Preferred, Temporal, Temporals, Wanted, ZeroParts};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, Parameters};
use crate::scalar::operators::numeric::integer_result;
use crate::{Binding, Call, EvaluationContext, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["extract"], 2..=2, signature, evaluate)
    .parameters(Parameters::PartOfDate)
    .with(&[Fact::ExtractsPart, Fact::Strict])];

/// Name of the function in errors.
const NAME: &str = "EXTRACT";

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let unit_word = &binding.arguments[0];
    let unit = match unit_word.constant {
        Some(Value::Bytes(word)) => arguments::interval_unit(word, NAME)?,
        _ => return Err(codes::ER_WRONG_ARGUMENTS.with(&[&NAME])),
    };
    let width = match unit {
        IntervalUnit::Year => 5,
        IntervalUnit::YearMonth => 7,
        IntervalUnit::Quarter => 2,
        IntervalUnit::Month
        | IntervalUnit::Week
        | IntervalUnit::Day
        | IntervalUnit::Minute
        | IntervalUnit::Second => 3,
        IntervalUnit::Hour => 4,
        IntervalUnit::DayHour => 9,
        IntervalUnit::DayMinute => 11,
        IntervalUnit::DaySecond => 13,
        IntervalUnit::HourMinute => 6,
        IntervalUnit::HourSecond => 8,
        IntervalUnit::MinuteSecond => 5,
        IntervalUnit::Microsecond => 7,
        IntervalUnit::DayMicrosecond => 20,
        IntervalUnit::HourMicrosecond => 14,
        IntervalUnit::MinuteMicrosecond => 11,
        IntervalUnit::SecondMicrosecond => 9,
    };
    let value = if is_of_date(unit) {
        arguments::zero_datetime_type(binding, 1)
    } else {
        arguments::moment_type(binding, 1)
    };
    let types = vec![unit_word.ty.clone(), value];
    Ok(Signature::new(types, integer_result(width, false), true))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let unit = arguments::interval_unit(arguments::word(call, 0)?, NAME)?;
    if is_of_date(unit) {
        let dates = DateTimes::new(call, 1, Wanted::DateTime, ZeroParts::Allowed)?;
        return output::ints(call.rows, |row| {
            Ok(dates.get(row).map(|date| of_date(unit, date, call.context)))
        });
    }
    let values = Temporals::preferring(Preferred::Date, call, 1)?;
    output::ints(call.rows, |row| {
        Ok(values.get(row).map(|value| of_time(unit, value)))
    })
}

fn is_of_date(unit: IntervalUnit) -> bool {
    matches!(
        unit,
        IntervalUnit::Year
            | IntervalUnit::Quarter
            | IntervalUnit::Month
            | IntervalUnit::YearMonth
            | IntervalUnit::Week
            | IntervalUnit::Day
    )
}

fn of_date(unit: IntervalUnit, date: DateTime, context: &EvaluationContext) -> i64 {
    let (year, month) = (i64::from(date.year), i64::from(date.month));
    match unit {
        IntervalUnit::Year => year,
        IntervalUnit::Quarter => (month + 2) / 3,
        IntervalUnit::Month => month,
        IntervalUnit::YearMonth => year * 100 + month,
        IntervalUnit::Week => {
            i64::from(calendar::week(date, WeekMode::new(context.session.default_week_format)).1)
        }
        _ => i64::from(date.day),
    }
}

fn of_time(unit: IntervalUnit, value: Temporal) -> i64 {
    let day = match value {
        Temporal::DateTime(date) => i64::from(date.day),
        Temporal::Time(_) => 0,
    };
    let micros = value.micros();
    let sign = if micros < 0 { -1 } else { 1 };
    let (seconds, fraction) = (
        micros.abs() / MICROS_PER_SECOND,
        micros.abs() % MICROS_PER_SECOND,
    );
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let hour_second = (hour * 100 + minute) * 100 + second;
    let day_second = day * 1_000_000 + hour_second;
    let minute_second = minute * 100 + second;
    let with_fraction = |number: i64| number * MICROS_PER_SECOND + fraction;
    sign * match unit {
        IntervalUnit::DayHour => day * 100 + hour,
        IntervalUnit::DayMinute => (day * 100 + hour) * 100 + minute,
        IntervalUnit::DaySecond => day_second,
        IntervalUnit::DayMicrosecond => with_fraction(day_second),
        IntervalUnit::Hour => hour,
        IntervalUnit::HourMinute => hour * 100 + minute,
        IntervalUnit::HourSecond => hour_second,
        IntervalUnit::HourMicrosecond => with_fraction(hour_second),
        IntervalUnit::Minute => minute,
        IntervalUnit::MinuteSecond => minute_second,
        IntervalUnit::MinuteMicrosecond => with_fraction(minute_second),
        IntervalUnit::Second => second,
        IntervalUnit::SecondMicrosecond => with_fraction(second),
        _ => fraction,
    }
}
