//! Conversion of text for a comparison with a date. Not a function that users call.
//!
//! Invalid text is the zero date here, with warning 1292, where CAST returns NULL: so `date_column > text_column` is
//! true for it and `NOT IN` is not unknown. Two more arguments are the type and the name of the compared column, for
//! the warning about a constant. An offset at the end of the text converts it to the session's time zone.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{DateRules, DateTime, parse_datetime};
use mayfly_types::{Result, SqlMode, SqlType, TypeKind};

use super::arguments::{self, FRACTION_MAX};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["comparable date"], 1..=3, date_signature, |call| {
        evaluate(call, "date", DateTime::at_midnight)
    })
    .with(&[Fact::ComparedConstant]),
    Row::new(
        &["comparable datetime"],
        1..=3,
        datetime_signature,
        |call| evaluate(call, "datetime", |value| value),
    )
    .with(&[Fact::ComparedConstant]),
];

fn signature(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    let nullable = binding.arguments[0].nullable;
    Ok(Signature::new(binding.texts(), result, nullable))
}

fn date_signature(binding: &Binding<'_>) -> Result<Signature> {
    signature(binding, SqlType::temporal(TypeKind::Date, 0))
}

fn datetime_signature(binding: &Binding<'_>) -> Result<Signature> {
    signature(binding, SqlType::temporal(TypeKind::DateTime, FRACTION_MAX))
}

fn evaluate(
    call: &Call<'_>,
    kind: &str,
    convert: impl Fn(DateTime) -> DateTime,
) -> Result<ArrayRef> {
    let (texts, context) = (call.texts(0)?, call.context);
    let rules = DateRules::of(context.session.sql_mode);
    let truncate = context
        .session
        .sql_mode
        .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let kind_and_column = match (
        call.optional(1, input::texts)?,
        call.optional(2, input::texts)?,
    ) {
        (Some(kind), Some(column)) => kind.constant().flatten().zip(column.constant().flatten()),
        _ => None,
    };
    let warn = |text: &[u8]| match kind_and_column {
        Some((kind, column)) => arguments::warn_column(kind, text, column, context),
        None => arguments::warn_truncated(kind, text, context),
    };
    output::ints(call.rows, |row| {
        let Some(text) = texts.get(row) else {
            return Ok(None);
        };
        let parsed = parse_datetime(text, rules, truncate).ok();
        if parsed.as_ref().is_some_and(|parsed| parsed.truncated) {
            warn(text);
        }
        let local = parsed.and_then(|it| arguments::local_of(it.value, it.offset, context));
        if local.is_none() {
            warn(text);
        }
        Ok(Some(local.map_or_else(DateTime::default, &convert).pack()))
    })
}
