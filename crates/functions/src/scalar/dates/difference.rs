//! DATEDIFF(a, b) in days, TIMESTAMPDIFF(unit, from, to) in units, TIMEDIFF(a, b) as a TIME.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::temporal::{IntervalUnit, calendar, timestamp_diff};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Moment, Moments, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// DATEDIFF()
#[derive(Debug)]
pub(crate) struct DateDiff;

impl ScalarKernel for DateDiff {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments
            .iter()
            .map(|argument| arguments::datetime_type(argument, context));
        Ok(Signature::new(
            types.collect(),
            derive::int_of_width(9),
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
        let dates = |index: usize| {
            let ty = &signature.arguments[index];
            let refused = ZeroParts::Refused;
            DateTimes::new(&arguments[index], ty, Wanted::Date, refused, context)
        };
        let (late, early) = (dates(0)?, dates(1)?);
        output::ints(row_count, |row| {
            let (Some(late), Some(early)) = (late.get(row), early.get(row)) else {
                return Ok(None);
            };
            Ok(Some(
                calendar::day_number(late) - calendar::day_number(early),
            ))
        })
    }
}

/// TIMESTAMPDIFF()
#[derive(Debug)]
pub(crate) struct TimestampDiff;

impl ScalarKernel for TimestampDiff {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = vec![
            arguments[0].ty.clone(),
            arguments::datetime_type(&arguments[1], context),
            arguments::datetime_type(&arguments[2], context),
        ];
        Ok(Signature::new(types, derive::bigint_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let unit = std::str::from_utf8(arguments::word(&arguments[0], row_count)?)
            .ok()
            .and_then(IntervalUnit::by_name)
            .ok_or_else(|| codes::ER_WRONG_ARGUMENTS.with(&[&"timestampdiff"]))?;
        let dates = |index: usize| {
            let ty = &signature.arguments[index];
            let refused = ZeroParts::Refused;
            DateTimes::new(&arguments[index], ty, Wanted::DateTime, refused, context)
        };
        let (from, to) = (dates(1)?, dates(2)?);
        output::ints(row_count, |row| {
            let (Some(from), Some(to)) = (from.get(row), to.get(row)) else {
                return Ok(None);
            };
            Ok(Some(timestamp_diff(unit, from, to)))
        })
    }
}

/// TIMEDIFF()
#[derive(Debug)]
pub(crate) struct TimeDiff;

impl ScalarKernel for TimeDiff {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let digits = arguments::decimals_of_all(arguments);
        let types = arguments
            .iter()
            .map(|argument| arguments::time_type(argument, context));
        Ok(Signature::new(
            types.collect(),
            SqlType::temporal(TypeKind::Time, digits),
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
        let late = Moments::new(&arguments[0], &signature.arguments[0], context)?;
        let early = Moments::new(&arguments[1], &signature.arguments[1], context)?;
        let digits = signature.result.decimals;
        output::ints(row_count, |row| {
            let difference = match (late.get(row), early.get(row)) {
                (Some(Moment::At(late)), Some(Moment::At(early))) => {
                    late.to_micros() - early.to_micros()
                }
                (Some(Moment::Time(late)), Some(Moment::Time(early))) => late - early,
                // A time and a date with a time have no difference.
                _ => return Ok(None),
            };
            Ok(Some(arguments::time_result(
                difference.into(),
                digits,
                context,
            )))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            (
                "datediff",
                &[t("2007-12-31 23:59:59"), t("2007-12-30")],
                "1",
            ),
            (
                "datediff",
                &[t("2010-11-30 23:59:59"), t("2010-12-31")],
                "-31",
            ),
            ("datediff", &[t("x"), t("2010-12-31")], "NULL +1292"),
            (
                "timestampdiff",
                &[t("MONTH"), t("2003-02-01"), t("2003-05-01")],
                "3",
            ),
            (
                "timestampdiff",
                &[t("YEAR"), t("2002-05-01"), t("2001-01-01")],
                "-1",
            ),
            (
                "timestampdiff",
                &[t("MINUTE"), t("2003-02-01"), t("2003-05-01 12:05:55")],
                "128885",
            ),
            (
                "timediff",
                &[t("2000-01-01 00:00:00"), t("2000-01-01 00:00:00.000001")],
                "-00:00:00.000001",
            ),
            (
                "timediff",
                &[
                    t("2008-12-31 23:59:59.000001"),
                    t("2008-12-30 01:01:01.000002"),
                ],
                "46:58:57.999999",
            ),
            ("timediff", &[t("10:00:00.5"), t("09:00")], "01:00:00.5"),
            ("timediff", &[t("2000-01-01 00:00:00"), t("10:00")], "NULL"),
        ]);
    }
}
