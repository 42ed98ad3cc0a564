//! DATE_ADD(date, INTERVAL amount unit), DATE_SUB, TIMESTAMPADD(unit, amount, date). The parser
//! and planner hand over the unit as a word; ADDDATE and SUBDATE come as the first two.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::error::codes;
use mayfly_types::temporal::{
    DateTime, Interval, IntervalUnit, add_interval, add_interval_to_time, append_date,
    append_datetime,
};
use mayfly_types::{Error, PhysicalType, Result, SqlType, TypeKind, Value};

use super::arguments::{self, DateTimes, FRACTION_MAX, Wanted, ZeroParts};
use crate::input::{self, AnyInts, Decimals, Texts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// One of the three.
#[derive(Debug)]
pub(crate) struct DateAdd {
    names: &'static [&'static str],
    /// Where the date, the amount and the unit stand.
    places: [usize; 3],
    is_negative: bool,
}

/// DATE_ADD()
pub(crate) static DATE_ADD: DateAdd = DateAdd {
    names: &["date_add", "adddate"],
    places: [0, 1, 2],
    is_negative: false,
};
/// DATE_SUB()
pub(crate) static DATE_SUB: DateAdd = DateAdd {
    names: &["date_sub", "subdate"],
    places: [0, 1, 2],
    is_negative: true,
};
/// TIMESTAMPADD()
pub(crate) static TIMESTAMPADD: DateAdd = DateAdd {
    names: &["timestampadd"],
    places: [2, 1, 0],
    is_negative: false,
};

/// The most digits of the seconds of an interval, before and after the point.
const SECONDS_PRECISION: u8 = 26;

/// How many digits a number that is no DECIMAL has behind those.
const MORE_DIGITS: u8 = 9;

impl ScalarKernel for DateAdd {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let [date, amount, unit_word] = self.places.map(|place| &arguments[place]);
        let unit = match unit_word.constant {
            Some(Value::Bytes(word)) => self.unit_of(word)?,
            _ => return Err(self.wrong_arguments()),
        };
        let amount_type = amount_type(unit, amount, context);
        let digits = if unit.has_microseconds() {
            FRACTION_MAX
        } else if unit == IntervalUnit::Second {
            arguments::decimals_of(amount)
        } else {
            0
        };
        let decimals = date.ty.decimals.max(digits);
        let (date_type, result) = match date.ty.kind {
            TypeKind::Date if !unit.has_time() => (date.ty.clone(), date.ty.clone()),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => (
                date.ty.clone(),
                SqlType::temporal(TypeKind::DateTime, decimals),
            ),
            TypeKind::Time if is_of_time(unit) => {
                (date.ty.clone(), SqlType::temporal(TypeKind::Time, decimals))
            }
            TypeKind::Time => {
                let today = SqlType::temporal(TypeKind::DateTime, decimals);
                (today.clone(), today)
            }
            // A value that says itself whether it has a time: so does the result.
            _ => (
                derive::text_of(date, context),
                SqlType::varchar(29, context.collation_connection),
            ),
        };
        let mut types = vec![SqlType::null(); 3];
        types[self.places[0]] = date_type;
        types[self.places[1]] = amount_type;
        types[self.places[2]] = unit_word.ty.clone();
        Ok(Signature::new(types, result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let [date, amount, unit] = self.places.map(|place| &arguments[place]);
        let [date_type, amount_type, _] = self.places.map(|place| &signature.arguments[place]);
        let unit = self.unit_of(arguments::word(unit, row_count)?)?;
        let amounts = Amounts::new(amount, amount_type, unit)?;
        let amount = |row: usize| {
            let amount = amounts.get(row)?;
            match amount {
                Ok(interval) if self.is_negative => Some(interval.negate()),
                Ok(interval) => Some(interval),
                Err(TooLarge) => arguments::overflow("datetime", context),
            }
        };
        let result = &signature.result;
        if result.kind == TypeKind::Time {
            let times = input::ints(date)?;
            return output::ints(row_count, |row| {
                let (Some(time), Some(interval)) = (times.get(row), amount(row)) else {
                    return Ok(None);
                };
                Ok(match add_interval_to_time(time, interval) {
                    Some(time) => Some(arguments::time_result(
                        time.into(),
                        result.decimals,
                        context,
                    )),
                    None => arguments::overflow("time", context),
                })
            });
        }
        if result.is_temporal() {
            let refused = ZeroParts::Refused;
            let dates = DateTimes::new(date, date_type, Wanted::DateTime, refused, context)?;
            return output::ints(row_count, |row| {
                let (Some(date), Some(interval)) = (dates.get(row), amount(row)) else {
                    return Ok(None);
                };
                let sum = add_interval(date, interval);
                Ok(match sum {
                    Some(sum) => arguments::datetime_result(sum, result.decimals, context),
                    None => arguments::overflow("datetime", context),
                })
            });
        }
        let texts = input::texts(date)?;
        output::texts(row_count, context, |row, out| {
            let (Some(text), Some(interval)) = (texts.get(row), amount(row)) else {
                return Ok(false);
            };
            Ok(add_to_text(text, interval, unit, context, out).is_some())
        })
    }
}

impl DateAdd {
    fn wrong_arguments(&self) -> Error {
        codes::ER_WRONG_ARGUMENTS.with(&[&self.names[0]])
    }

    fn unit_of(&self, word: &[u8]) -> Result<IntervalUnit> {
        std::str::from_utf8(word)
            .ok()
            .and_then(IntervalUnit::by_name)
            .ok_or_else(|| self.wrong_arguments())
    }
}

/// Whether a unit has no part of a day or more, so that a TIME stays one.
fn is_of_time(unit: IntervalUnit) -> bool {
    matches!(
        unit,
        IntervalUnit::Hour
            | IntervalUnit::Minute
            | IntervalUnit::Second
            | IntervalUnit::Microsecond
            | IntervalUnit::HourMinute
            | IntervalUnit::HourSecond
            | IntervalUnit::HourMicrosecond
            | IntervalUnit::MinuteSecond
            | IntervalUnit::MinuteMicrosecond
            | IntervalUnit::SecondMicrosecond
    )
}

fn amount_type(unit: IntervalUnit, amount: &Argument<'_>, context: &SignatureContext) -> SqlType {
    if amount.ty.kind == TypeKind::Null {
        return amount.ty.clone();
    }
    if unit.is_compound() {
        return derive::text_of(amount, context);
    }
    if amount.ty.is_integer() {
        return match amount.ty.kind {
            TypeKind::Boolean => SqlType::bigint(),
            _ => amount.ty.clone(),
        };
    }
    if unit == IntervalUnit::Second {
        // Digits behind those of microseconds are cut off, not rounded.
        let more = match amount.ty.kind {
            TypeKind::Decimal => amount.ty.decimals.saturating_sub(FRACTION_MAX),
            _ => MORE_DIGITS,
        };
        return SqlType::decimal(SECONDS_PRECISION + more, FRACTION_MAX + more);
    }
    SqlType::bigint()
}

/// An amount that no date can bear.
struct TooLarge;

enum Source<'a> {
    Null,
    Integers(AnyInts<'a>),
    /// Seconds, and what their unscaled numbers are divided by to give microseconds.
    Seconds(Decimals<'a>, i256),
    Compound(Texts<'a>),
}

struct Amounts<'a> {
    source: Source<'a>,
    unit: IntervalUnit,
}

impl<'a> Amounts<'a> {
    fn new(column: &'a Column, ty: &SqlType, unit: IntervalUnit) -> Result<Self> {
        let source = match ty.physical() {
            _ if ty.kind == TypeKind::Null => Source::Null,
            PhysicalType::Bytes => Source::Compound(input::texts(column)?),
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let more = u32::from(scale.saturating_sub(FRACTION_MAX));
                let divisor = i256::from_i128(10).wrapping_pow(more);
                Source::Seconds(input::decimals(column, scale)?, divisor)
            }
            _ => Source::Integers(input::any_ints(column)?),
        };
        Ok(Self { source, unit })
    }

    fn get(&self, row: usize) -> Option<Result<Interval, TooLarge>> {
        Some(match &self.source {
            Source::Null => return None,
            Source::Integers(values) => i64::try_from(values.get(row)?)
                .map(|count| Interval::of(self.unit, count, 0))
                .map_err(|_| TooLarge),
            Source::Seconds(values, divisor) => {
                let micros = values.get(row)?.wrapping_div(*divisor);
                Ok(Interval {
                    micros: micros.to_i128().unwrap_or(i128::MAX / 4),
                    ..Interval::default()
                })
            }
            Source::Compound(texts) => {
                Interval::parse_compound(self.unit, texts.get(row)?).ok_or(TooLarge)
            }
        })
    }
}

/// Text stays text: a mere date of a unit of days gives a mere date.
fn add_to_text(
    text: &[u8],
    interval: Interval,
    unit: IntervalUnit,
    context: &EvaluationContext,
    out: &mut Vec<u8>,
) -> Option<()> {
    let (value, is_date) = arguments::parse_whole(text, context)?;
    let Some(sum) = add_interval(value, interval) else {
        return arguments::overflow("datetime", context);
    };
    if is_date && !unit.has_time() {
        append_date(out, sum.pack());
    } else {
        append_sum(out, sum);
    }
    Some(())
}

fn append_sum(out: &mut Vec<u8>, sum: DateTime) {
    let digits = if sum.microsecond == 0 {
        0
    } else {
        FRACTION_MAX
    };
    append_datetime(out, sum.pack(), digits);
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, date, datetime, i, t, time};

    #[test]
    fn of_text() {
        check(&[
            (
                "date_add",
                &[t("2024-01-31"), i(1), t("MONTH")],
                "2024-02-29",
            ),
            (
                "date_add",
                &[t("2018-12-31 23:59:59"), i(1), t("SECOND")],
                "2019-01-01 00:00:00",
            ),
            (
                "date_add",
                &[t("2024-01-31"), i(1), t("HOUR")],
                "2024-01-31 01:00:00",
            ),
            (
                "date_add",
                &[t("2100-12-31 23:59:59"), t("1:1"), t("MINUTE_SECOND")],
                "2101-01-01 00:01:00",
            ),
            (
                "date_sub",
                &[t("2025-01-01 00:00:00"), t("1 1:1:1"), t("DAY_SECOND")],
                "2024-12-30 22:58:59",
            ),
            (
                "date_add",
                &[t("1900-01-01 00:00:00"), t("-1 10"), t("DAY_HOUR")],
                "1899-12-30 14:00:00",
            ),
            (
                "date_sub",
                &[t("1998-01-02"), i(31), t("DAY")],
                "1997-12-02",
            ),
            (
                "date_add",
                &[
                    t("1992-12-31 23:59:59.000002"),
                    t("1.999999"),
                    t("SECOND_MICROSECOND"),
                ],
                "1993-01-01 00:00:01.000001",
            ),
            ("date_add", &[t("9999-12-31"), i(1), t("DAY")], "NULL +1441"),
            ("date_add", &[t("2024-00-10"), i(1), t("DAY")], "NULL +1292"),
            ("date_add", &[i(20240131), i(1), t("DAY")], "2024-02-01"),
            ("date_add", &[t("2024-01-31"), NULL, t("DAY")], "NULL"),
            (
                "date_add",
                &[t("2024-01-31"), d("1.5"), t("DAY")],
                "2024-02-02",
            ),
            (
                "date_add",
                &[t("2024-01-31"), d("1.5"), t("SECOND")],
                "2024-01-31 00:00:01.500000",
            ),
        ]);
    }

    #[test]
    fn of_dates() {
        check(&[
            (
                "date_add",
                &[date("2024-01-31"), i(1), t("DAY")],
                "2024-02-01",
            ),
            (
                "date_add",
                &[date("2024-01-31"), i(1), t("HOUR")],
                "2024-01-31 01:00:00",
            ),
            (
                "date_add",
                &[datetime("2024-01-31 10:00:00"), d("1.5"), t("SECOND")],
                "2024-01-31 10:00:01.5",
            ),
            ("date_add", &[time("10:11:12"), i(1), t("HOUR")], "11:11:12"),
            (
                "date_add",
                &[time("838:00:00"), i(1), t("HOUR")],
                "NULL +1441",
            ),
            (
                "timestampadd",
                &[t("MINUTE"), i(1), t("2003-01-02")],
                "2003-01-02 00:01:00",
            ),
            (
                "timestampadd",
                &[t("WEEK"), i(1), date("2003-01-02")],
                "2003-01-09",
            ),
        ]);
    }
}
