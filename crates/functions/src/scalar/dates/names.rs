//! DAYNAME(date) and MONTHNAME(date).

use arrow_array::ArrayRef;
use mayfly_types::temporal::calendar;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Name {
    is_month: bool,
}

/// DAYNAME()
pub(crate) static DAYNAME: Name = Name { is_month: false };
/// MONTHNAME()
pub(crate) static MONTHNAME: Name = Name { is_month: true };

impl ScalarKernel for Name {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![arguments::datetime_type(&arguments[0], context)],
            // The longest name has nine letters.
            SqlType::varchar(9, context.collation_connection),
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
        let zero_parts = if self.is_month {
            ZeroParts::Allowed
        } else {
            ZeroParts::Refused
        };
        let ty = &signature.arguments[0];
        let dates = DateTimes::new(&arguments[0], ty, Wanted::Date, zero_parts, context)?;
        output::borrowed_texts(row_count, context, |row| {
            let Some(date) = dates.get(row) else {
                return Ok(None);
            };
            let name = if self.is_month {
                context.lc_time_names.month(usize::from(date.month))
            } else {
                let weekday = calendar::weekday(calendar::day_number(date));
                context.lc_time_names.day(usize::from(weekday))
            };
            Ok(name.map(str::as_bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("dayname", &[t("2007-02-03")], "Saturday"),
            ("dayname", &[t("2007-02-00")], "NULL +1292"),
            ("monthname", &[t("2008-02-03")], "February"),
            ("monthname", &[t("2008-00-03")], "NULL"),
        ]);
    }
}
