//! DATE(value), TIME(value) and TIMESTAMP(value[, time]).

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Moments, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// DATE()
#[derive(Debug)]
pub(crate) struct Date;

impl ScalarKernel for Date {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![arguments::datetime_type(&arguments[0], context)],
            SqlType::temporal(TypeKind::Date, 0),
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
        let ty = &signature.arguments[0];
        let allowed = ZeroParts::Allowed;
        let dates = DateTimes::new(&arguments[0], ty, Wanted::Date, allowed, context)?;
        output::ints(row_count, |row| {
            Ok(dates.get(row).map(|date| date.at_midnight().pack()))
        })
    }
}

/// TIME()
#[derive(Debug)]
pub(crate) struct Time;

impl ScalarKernel for Time {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![arguments::time_type(&arguments[0], context)],
            SqlType::temporal(TypeKind::Time, arguments::decimals_of(&arguments[0])),
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
        let moments = Moments::new(&arguments[0], &signature.arguments[0], context)?;
        let digits = signature.result.decimals;
        output::ints(row_count, |row| {
            let micros = moments.time(row);
            Ok(micros.map(|micros| arguments::time_result(micros.into(), digits, context)))
        })
    }
}

/// TIMESTAMP()
#[derive(Debug)]
pub(crate) struct Timestamp;

impl ScalarKernel for Timestamp {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![arguments::datetime_type(&arguments[0], context)];
        let mut digits = arguments::decimals_of(&arguments[0]);
        if let Some(time) = arguments.get(1) {
            types.push(arguments::time_type(time, context));
            digits = digits.max(arguments::decimals_of(time));
        }
        let result = SqlType::temporal(TypeKind::DateTime, digits);
        Ok(Signature::new(types, result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let allowed = ZeroParts::Allowed;
        let dates = DateTimes::new(&arguments[0], ty, Wanted::DateTime, allowed, context)?;
        let times = match (arguments.get(1), signature.arguments.get(1)) {
            (Some(column), Some(ty)) => Some(Moments::new(column, ty, context)?),
            _ => None,
        };
        let digits = signature.result.decimals;
        output::ints(row_count, |row| {
            let Some(date) = dates.get(row) else {
                return Ok(None);
            };
            let date = match &times {
                None => Some(date),
                Some(times) => match times.time(row) {
                    Some(time) => date
                        .add_micros(time)
                        .or_else(|| arguments::overflow("datetime", context)),
                    None => None,
                },
            };
            Ok(date.and_then(|date| arguments::datetime_result(date, digits, context)))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, datetime, t};

    #[test]
    fn values() {
        check(&[
            ("date", &[t("2003-12-31 01:02:03")], "2003-12-31"),
            ("date", &[datetime("2003-12-31 01:02:03")], "2003-12-31"),
            ("date", &[t("abc")], "NULL +1292"),
            ("time", &[t("2003-12-31 01:02:03")], "01:02:03"),
            (
                "time",
                &[t("2003-12-31 01:02:03.000123")],
                "01:02:03.000123",
            ),
            ("time", &[t("850:00:00")], "838:59:59 +1292"),
            ("timestamp", &[t("2003-12-31")], "2003-12-31 00:00:00"),
            (
                "timestamp",
                &[t("2003-12-31 12:00:00"), t("12:00:00")],
                "2004-01-01 00:00:00",
            ),
            ("timestamp", &[t("2003-12-31"), t("abc")], "NULL +1292"),
        ]);
    }
}
