//! Conversions, which are `types`' work: here only constants are kept constant.

use mayfly_functions::{Column, EvaluationContext};
use mayfly_types::convert::{CastContext, cast_array, cast_value};
use mayfly_types::temporal::DateTime;
use mayfly_types::{Diagnostics, Result, SqlType, TypeKind};

/// Converts a column from one type to another, as CAST does.
pub(super) fn cast(
    input: Column,
    from: &SqlType,
    to: &SqlType,
    text: Option<&str>,
    context: &EvaluationContext,
) -> Result<Column> {
    let mut context = cast_context(from, context, &context.diagnostics);
    if let Some(text) = text {
        context.operand = text;
    }
    Ok(match input {
        Column::Constant(value) => Column::Constant(cast_value(&value, from, to, &context)?),
        Column::Array(array) => Column::Array(cast_array(&array, from, to, &context)?),
    })
}

/// What a conversion from this type needs to know of the statement.
pub(crate) fn cast_context<'a>(
    from: &SqlType,
    context: &'a EvaluationContext,
    diagnostics: &'a Diagnostics,
) -> CastContext<'a> {
    // Only a TIME needs a day to become a date, or a year.
    let current_date = match from.kind {
        TypeKind::Time => context
            .time_zone
            .local_of_unix(context.now_utc_microseconds)
            .unwrap_or_default(),
        _ => DateTime::default(),
    };
    CastContext {
        sql_mode: context.sql_mode,
        diagnostics,
        time_zone: &context.time_zone,
        current_date,
        operand: "(null)",
    }
}
