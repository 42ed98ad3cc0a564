//! ADDTIME(value, time) and SUBTIME(value, time).

use arrow_array::ArrayRef;
use mayfly_types::temporal::{TIME_MAX_MICROS, append_datetime, append_time};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, FRACTION_MAX, Moment, Moments};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// One of the two.
#[derive(Debug)]
pub(crate) struct AddTime {
    sign: i64,
}

/// ADDTIME()
pub(crate) static ADDTIME: AddTime = AddTime { sign: 1 };
/// SUBTIME()
pub(crate) static SUBTIME: AddTime = AddTime { sign: -1 };

impl ScalarKernel for AddTime {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let digits = arguments::decimals_of_all(arguments);
        let result = match arguments[0].ty.kind {
            TypeKind::Time => SqlType::temporal(TypeKind::Time, digits),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
                SqlType::temporal(TypeKind::DateTime, digits)
            }
            // Text with a date gives a date, text without one a time.
            _ => SqlType::varchar(29, context.collation_connection),
        };
        let types = arguments
            .iter()
            .map(|argument| arguments::time_type(argument, context));
        Ok(Signature::new(types.collect(), result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let values = Moments::new(&arguments[0], &signature.arguments[0], context)?;
        let times = Moments::new(&arguments[1], &signature.arguments[1], context)?;
        let sum = |row: usize| -> Option<Moment> {
            let value = values.get(row)?;
            let added = match times.get(row)? {
                Moment::Time(added) => added,
                // A date in text is no time.
                Moment::At(added) if !signature.arguments[1].is_string() => added.time_of_day(),
                Moment::At(_) => return None,
            };
            let added = added * self.sign;
            match value {
                Moment::At(date) => match date.add_micros(added) {
                    Some(sum) => Some(Moment::At(sum)),
                    None => arguments::overflow("datetime", context),
                },
                other => {
                    let sum = other.micros() + added;
                    Some(Moment::Time(match signature.result.kind {
                        TypeKind::Time => sum,
                        // A text is cut down to the largest time.
                        _ => arguments::time_result(sum.into(), FRACTION_MAX, context),
                    }))
                }
            }
        };
        let digits = signature.result.decimals;
        match signature.result.kind {
            TypeKind::Time => output::ints(row_count, |row| {
                Ok(sum(row).and_then(|sum| {
                    let time = sum.micros();
                    match time.abs() <= TIME_MAX_MICROS {
                        true => Some(arguments::time_result(time.into(), digits, context)),
                        false => arguments::overflow("time", context),
                    }
                }))
            }),
            TypeKind::DateTime => output::ints(row_count, |row| {
                Ok(match sum(row) {
                    Some(Moment::At(sum)) => arguments::datetime_result(sum, digits, context),
                    _ => None,
                })
            }),
            _ => output::texts(row_count, context, |row, out| {
                let digits = |micros: i64| {
                    if micros % 1_000_000 == 0 {
                        0
                    } else {
                        FRACTION_MAX
                    }
                };
                match sum(row) {
                    None => return Ok(false),
                    Some(Moment::At(sum)) => {
                        append_datetime(out, sum.pack(), digits(sum.time_of_day()));
                    }
                    Some(Moment::Time(micros)) => append_time(out, micros, digits(micros)),
                }
                Ok(true)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, datetime, t, time};

    #[test]
    fn values() {
        check(&[
            (
                "addtime",
                &[t("2007-12-31 23:59:59.999999"), t("1 1:1:1.000002")],
                "2008-01-02 01:01:01.000001",
            ),
            (
                "addtime",
                &[t("01:00:00.999999"), t("02:00:00.999998")],
                "03:00:01.999997",
            ),
            ("addtime", &[t("01:59:59"), t("00:00:01")], "02:00:00"),
            ("addtime", &[time("10:00:00"), t("1")], "10:00:01"),
            (
                "addtime",
                &[datetime("2024-01-01 00:00:00"), t("-1")],
                "2023-12-31 23:59:59",
            ),
            ("addtime", &[t("abc"), t("1")], "NULL +1292"),
            ("addtime", &[t("10:00"), t("2024-01-01 10:00:00")], "NULL"),
            ("subtime", &[t("10:00"), t("11:00")], "-01:00:00"),
            (
                "subtime",
                &[t("2007-12-31 23:59:59.999999"), t("1 1:1:1.000002")],
                "2007-12-30 22:58:58.999997",
            ),
        ]);
    }
}
