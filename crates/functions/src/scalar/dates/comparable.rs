//! The text that a date is compared with, as a date. Not a function that users call.
//!
//! Text that is no date is the zero date here, with warning 1292, where CAST makes NULL of it: so
//! `date_column > text_column` is true for it and `NOT IN` does not become unknown. Two more arguments
//! are the kind and the name of the column that is compared, for the warning about a constant.
//! An offset at the end of the text is taken back into the session's time zone.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateRules, DateTime, TimeZone, parse_datetime};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// Text as a DATE or as a DATETIME.
#[derive(Debug)]
pub(crate) struct Comparable {
    kind: TypeKind,
}

/// What a DATE is compared with.
pub(crate) const COMPARABLE_DATE: Comparable = Comparable {
    kind: TypeKind::Date,
};
/// What a DATETIME or a TIMESTAMP is compared with.
pub(crate) const COMPARABLE_DATETIME: Comparable = Comparable {
    kind: TypeKind::DateTime,
};

impl ScalarKernel for Comparable {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let fraction = if self.kind == TypeKind::Date { 0 } else { 6 };
        let texts = arguments.iter();
        Ok(Signature::new(
            texts.map(|text| derive::text_of(text, context)).collect(),
            SqlType::temporal(self.kind, fraction),
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let rules = DateRules::of(context.sql_mode);
        let is_date = self.kind == TypeKind::Date;
        let word = |place: usize| -> Result<Option<&[u8]>> {
            let Some(argument) = arguments.get(place) else {
                return Ok(None);
            };
            Ok(input::texts(argument)?.constant().flatten())
        };
        let column = word(1)?.zip(word(2)?);
        let warn = |text: &[u8]| match column {
            Some((kind, column)) => arguments::warn_column(kind, text, column, context),
            None => {
                let kind = if is_date { "date" } else { "datetime" };
                arguments::warn_truncated(kind, text, context);
            }
        };
        output::ints(row_count, |row| {
            let Some(text) = texts.get(row) else {
                return Ok(None);
            };
            let Ok(parsed) = parse_datetime(text, rules, false) else {
                warn(text);
                return Ok(Some(DateTime::default().pack()));
            };
            if parsed.truncated {
                warn(text);
            }
            let local = match parsed.offset {
                None => Some(parsed.value),
                Some(offset) => TimeZone::Offset(offset)
                    .unix_of_local(parsed.value)
                    .and_then(|unix| context.time_zone.local_of_unix(unix)),
            };
            let Some(value) = local else {
                warn(text);
                return Ok(Some(DateTime::default().pack()));
            };
            let value = match is_date {
                true => DateTime::date(value.year, value.month, value.day),
                false => value,
            };
            Ok(Some(value.pack()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("comparable date", &[t("2024-01-31 10:00:00")], "2024-01-31"),
            ("comparable date", &[t("240131")], "2024-01-31"),
            ("comparable date", &[t("2024-01-31x")], "2024-01-31 +1292"),
            ("comparable date", &[t("x")], "0000-00-00 +1292"),
            ("comparable date", &[t("")], "0000-00-00 +1292"),
            ("comparable date", &[NULL], "NULL"),
            (
                "comparable date",
                &[t("x"), t("date"), t("d")],
                "0000-00-00 +1292",
            ),
            (
                "comparable datetime",
                &[t("2024-01-31 10:00:00.5")],
                "2024-01-31 10:00:00.500000",
            ),
            (
                "comparable datetime",
                &[t("x")],
                "0000-00-00 00:00:00.000000 +1292",
            ),
        ]);
    }
}
