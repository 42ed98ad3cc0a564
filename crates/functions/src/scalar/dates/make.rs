//! Dates and times from numbers: MAKEDATE(year, day), MAKETIME(hour, minute, second),
//! SEC_TO_TIME(seconds), FROM_DAYS(day).

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateTime, calendar};
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use super::arguments;
use crate::input::{self, AnyInts, Decimals};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// MAKEDATE()
#[derive(Debug)]
pub(crate) struct MakeDate;

impl ScalarKernel for MakeDate {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::bigint(), SqlType::bigint()],
            SqlType::temporal(TypeKind::Date, 0),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let years = input::ints(&arguments[0])?;
        let days = input::ints(&arguments[1])?;
        let date = |year: i64, day: i64| {
            let year = match year {
                0..=69 => year + 2000,
                70..=99 => year + 1900,
                _ => year,
            };
            let year = u16::try_from(year).ok().filter(|year| *year <= 9999)?;
            let first = calendar::day_number(DateTime::date(year, 1, 1));
            let number = first.checked_add(day.checked_sub(1)?).filter(|_| day > 0)?;
            calendar::date_of_day_number(number).map(DateTime::pack)
        };
        output::ints(row_count, |row| {
            let (Some(year), Some(day)) = (years.get(row), days.get(row)) else {
                return Ok(None);
            };
            Ok(date(year, day))
        })
    }
}

/// The type that seconds are read as: whole, or with at most six digits after the point.
fn seconds_type(argument: &Argument<'_>) -> SqlType {
    match arguments::decimals_of(argument) {
        0 if argument.ty.kind == TypeKind::Null => argument.ty.clone(),
        0 => derive::integer_of(argument),
        // Digits after the sixth are rounded away.
        _ => SqlType::decimal(38, arguments::FRACTION_MAX),
    }
}

/// How many fractional digits seconds may have: those of a literal are not looked at.
fn seconds_decimals(argument: &Argument<'_>) -> u8 {
    if argument.ty.is_string() {
        arguments::FRACTION_MAX
    } else {
        arguments::decimals_of(argument)
    }
}

/// An argument of [`seconds_type`], in microseconds.
enum Seconds<'a> {
    Whole(AnyInts<'a>),
    Fractional(Decimals<'a>),
}

impl<'a> Seconds<'a> {
    fn new(column: &'a Column, ty: &SqlType) -> Result<Self> {
        Ok(match ty.physical() {
            PhysicalType::Decimal128(scale) => Self::Fractional(input::decimals(column, scale)?),
            _ => Self::Whole(input::any_ints(column)?),
        })
    }

    fn micros(&self, row: usize) -> Option<i128> {
        match self {
            Self::Whole(values) => values.get(row).map(|seconds| seconds * 1_000_000),
            Self::Fractional(values) => {
                let micros = values.get(row)?;
                Some(micros.to_i128().unwrap_or(i128::MAX))
            }
        }
    }
}

/// MAKETIME()
#[derive(Debug)]
pub(crate) struct MakeTime;

impl ScalarKernel for MakeTime {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let decimals = seconds_decimals(&arguments[2]);
        let seconds = match decimals {
            0 => seconds_type(&arguments[2]),
            _ => SqlType::decimal(38, arguments::FRACTION_MAX),
        };
        Ok(Signature::new(
            vec![SqlType::bigint(), SqlType::bigint(), seconds],
            SqlType::temporal(TypeKind::Time, decimals),
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
        let hours = input::ints(&arguments[0])?;
        let minutes = input::ints(&arguments[1])?;
        let seconds = Seconds::new(&arguments[2], &signature.arguments[2])?;
        let digits = signature.result.decimals;
        output::ints(row_count, |row| {
            let (Some(hour), Some(minute), Some(micros)) =
                (hours.get(row), minutes.get(row), seconds.micros(row))
            else {
                return Ok(None);
            };
            if !(0..60).contains(&minute) || !(0..60_000_000).contains(&micros) {
                return Ok(None);
            }
            let sign = if hour < 0 { -1 } else { 1 };
            let seconds = i128::from(hour.unsigned_abs()) * 3600 + i128::from(minute) * 60;
            let total = sign * (seconds * 1_000_000 + micros);
            Ok(Some(arguments::time_result(total, digits, context)))
        })
    }
}

/// SEC_TO_TIME()
#[derive(Debug)]
pub(crate) struct SecToTime;

impl ScalarKernel for SecToTime {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let decimals = seconds_decimals(&arguments[0]);
        let seconds = match decimals {
            0 => seconds_type(&arguments[0]),
            _ => SqlType::decimal(38, arguments::FRACTION_MAX),
        };
        Ok(Signature::new(
            vec![seconds],
            SqlType::temporal(TypeKind::Time, decimals),
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
        let seconds = Seconds::new(&arguments[0], &signature.arguments[0])?;
        let digits = signature.result.decimals;
        output::ints(row_count, |row| {
            let micros = seconds.micros(row);
            Ok(micros.map(|micros| arguments::time_result(micros, digits, context)))
        })
    }
}

/// FROM_DAYS()
#[derive(Debug)]
pub(crate) struct FromDays;

impl ScalarKernel for FromDays {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::bigint()],
            SqlType::temporal(TypeKind::Date, 0),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let days = input::ints(&arguments[0])?;
        output::ints(row_count, |row| {
            let date = days.get(row).and_then(calendar::date_of_day_number);
            Ok(date.map(DateTime::pack))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, f, i, t};

    #[test]
    fn values() {
        check(&[
            ("makedate", &[i(2011), i(31)], "2011-01-31"),
            ("makedate", &[i(2014), i(365)], "2014-12-31"),
            ("makedate", &[i(2011), i(0)], "NULL"),
            ("makedate", &[i(69), i(1)], "2069-01-01"),
            ("makedate", &[i(9999), i(366)], "NULL"),
            ("maketime", &[i(12), i(15), i(30)], "12:15:30"),
            ("maketime", &[i(-5), i(1), d("1.5")], "-05:01:01.5"),
            ("maketime", &[i(1), i(60), i(1)], "NULL"),
            ("maketime", &[i(839), i(0), i(0)], "838:59:59 +1292"),
            ("maketime", &[i(1), i(2), NULL], "NULL"),
            ("sec_to_time", &[i(2378)], "00:39:38"),
            ("sec_to_time", &[d("1.5")], "00:00:01.5"),
            ("sec_to_time", &[t("2.25")], "00:00:02.250000"),
            ("sec_to_time", &[f(1e10)], "838:59:59.000000 +1292"),
            ("from_days", &[i(730669)], "2000-07-03"),
            ("from_days", &[i(0)], "NULL"),
        ]);
    }
}
