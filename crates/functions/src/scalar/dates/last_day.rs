//! LAST_DAY(date): the last day of its month.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateTime, append_date, calendar};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// LAST_DAY()
#[derive(Debug)]
pub(crate) struct LastDay;

impl ScalarKernel for LastDay {
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
            let Some(date) = dates.get(row) else {
                return Ok(None);
            };
            if date.month == 0 {
                let mut text = Vec::new();
                append_date(&mut text, date.pack());
                arguments::warn_truncated("date", &text, context);
                return Ok(None);
            }
            let day = calendar::days_in_month(date.year, date.month);
            Ok(Some(DateTime::date(date.year, date.month, day).pack()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("last_day", &[t("2003-02-05")], "2003-02-28"),
            ("last_day", &[t("2004-02-05")], "2004-02-29"),
            ("last_day", &[t("2004-01-01 01:01:01")], "2004-01-31"),
            ("last_day", &[t("2024-02-00")], "2024-02-29"),
            ("last_day", &[t("2024-00-01")], "NULL +1292"),
            ("last_day", &[t("2003-03-32")], "NULL +1292"),
        ]);
    }
}
