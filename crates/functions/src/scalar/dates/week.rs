//! WEEK(date[, mode]) and YEARWEEK(date[, mode]).

use arrow_array::ArrayRef;
use mayfly_types::temporal::calendar::{self, WeekMode};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Week {
    with_year: bool,
}

/// WEEK()
pub(crate) static WEEK: Week = Week { with_year: false };
/// YEARWEEK()
pub(crate) static YEARWEEK: Week = Week { with_year: true };

impl ScalarKernel for Week {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![arguments::datetime_type(&arguments[0], context)];
        types.extend(arguments.get(1).map(|_| SqlType::bigint()));
        let width = if self.with_year { 7 } else { 3 };
        Ok(Signature::new(types, derive::int_of_width(width), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let refused = ZeroParts::Refused;
        let dates = DateTimes::new(&arguments[0], ty, Wanted::Date, refused, context)?;
        let modes = arguments.get(1).map(input::ints).transpose()?;
        let default = if self.with_year {
            0
        } else {
            context.default_week_format
        };
        output::ints(row_count, |row| {
            let Some(date) = dates.get(row) else {
                return Ok(None);
            };
            let mode = match modes {
                None => default,
                Some(modes) => (modes.get(row).unwrap_or(0) & 7) as u8,
            };
            Ok(Some(if self.with_year {
                let (year, week) = calendar::week(date, WeekMode::new(mode | 2));
                i64::from(year) * 100 + i64::from(week)
            } else {
                i64::from(calendar::week(date, WeekMode::new(mode)).1)
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            ("week", &[t("2008-02-20")], "7"),
            ("week", &[t("2008-02-20"), i(0)], "7"),
            ("week", &[t("2008-02-20"), i(1)], "8"),
            ("week", &[t("2008-12-31"), i(1)], "53"),
            ("week", &[t("2000-01-01"), i(0)], "0"),
            ("week", &[t("2000-01-01"), i(2)], "52"),
            ("yearweek", &[t("1987-01-01")], "198652"),
            ("yearweek", &[t("2000-01-01")], "199952"),
        ]);
    }
}
