//! EXTRACT(unit FROM value): the parts of a unit as one number. The parser puts the unit first,
//! as a word.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::temporal::calendar::{self, WeekMode};
use mayfly_types::temporal::{DateTime, IntervalUnit, MICROS_PER_SECOND};
use mayfly_types::{Error, Result, Value};

use super::arguments::{self, DateTimes, Moment, Moments, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// EXTRACT()
#[derive(Debug)]
pub(crate) struct Extract;

impl ScalarKernel for Extract {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let unit = match arguments[0].constant {
            Some(Value::Bytes(word)) => unit_of(word)?,
            _ => return Err(wrong_unit()),
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
            arguments::datetime_type(&arguments[1], context)
        } else {
            arguments::time_type(&arguments[1], context)
        };
        let result = match width {
            12.. => derive::bigint_of_width(width),
            _ => derive::int_of_width(width),
        };
        Ok(Signature::new(
            vec![arguments[0].ty.clone(), value],
            result,
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let unit = unit_of(arguments::word(&arguments[0], row_count)?)?;
        let ty = &signature.arguments[1];
        if is_of_date(unit) {
            let allowed = ZeroParts::Allowed;
            let dates = DateTimes::new(&arguments[1], ty, Wanted::DateTime, allowed, context)?;
            return output::ints(row_count, |row| {
                Ok(dates.get(row).map(|date| of_date(unit, date, context)))
            });
        }
        let moments = Moments::new(&arguments[1], ty, context)?;
        output::ints(row_count, |row| {
            Ok(moments.get(row).map(|moment| of_moment(unit, moment)))
        })
    }
}

fn wrong_unit() -> Error {
    codes::ER_WRONG_ARGUMENTS.with(&[&"EXTRACT"])
}

fn unit_of(word: &[u8]) -> Result<IntervalUnit> {
    std::str::from_utf8(word)
        .ok()
        .and_then(IntervalUnit::by_name)
        .ok_or_else(wrong_unit)
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
            i64::from(calendar::week(date, WeekMode::new(context.default_week_format)).1)
        }
        _ => i64::from(date.day),
    }
}

fn of_moment(unit: IntervalUnit, moment: Moment) -> i64 {
    let day = match moment {
        Moment::At(date) => i64::from(date.day),
        Moment::Time(_) => 0,
    };
    let micros = moment.micros();
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

#[cfg(test)]
mod tests {
    use crate::testing::{check, t, time};

    #[test]
    fn values() {
        check(&[
            ("extract", &[t("YEAR"), t("2019-07-02")], "2019"),
            (
                "extract",
                &[t("YEAR_MONTH"), t("2019-07-02 01:02:03")],
                "201907",
            ),
            (
                "extract",
                &[t("DAY_MINUTE"), t("2019-07-02 01:02:03")],
                "20102",
            ),
            ("extract", &[t("WEEK"), t("2019-07-02")], "26"),
            (
                "extract",
                &[t("MICROSECOND"), t("2003-01-02 10:30:00.000123")],
                "123",
            ),
            ("extract", &[t("HOUR_SECOND"), t("-10:11:12")], "-101112"),
            (
                "extract",
                &[t("DAY_MICROSECOND"), t("2019-07-02 01:02:03.5")],
                "2010203500000",
            ),
            ("extract", &[t("HOUR"), t("838:00:00")], "838"),
            ("extract", &[t("DAY_SECOND"), time("100:11:12")], "1001112"),
        ]);
    }
}
