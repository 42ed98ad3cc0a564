//! Conversions, which crate `types` implements: this module keeps constants constant.

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, new_null_array};
use mayfly_functions::output::TextCharge;
use mayfly_functions::{Column, EvaluationContext};
use mayfly_types::collation::{Coercibility, CollationMix};
use mayfly_types::convert::{CastContext, Room, cast_array, cast_value};
use mayfly_types::error::codes;
use mayfly_types::temporal::DateTime;
use mayfly_types::{CollationId, Diagnostics, Result, SqlType, TypeKind, Value};

/// Converts a column from one type to another, as CAST does.
pub(super) fn cast(
    input: Column,
    from: &SqlType,
    to: &SqlType,
    text: Option<&str>,
    context: &EvaluationContext,
) -> Result<Column> {
    if let Some(name) = text
        && mayfly_plan::LENGTH_CASTS.contains(&name)
        && u64::from(to.length) > context.session.max_allowed_packet
    {
        return Ok(too_long(input, to, name, context));
    }
    let charge = RefCell::new(TextCharge::new(context));
    let count = |bytes| charge.borrow_mut().add(bytes);
    let mut cast_context = cast_context(from, context, &context.diagnostics);
    cast_context.room = Some(Room(&count));
    if let Some(text) = text {
        cast_context.operand = text;
    }
    Ok(match input {
        Column::Constant(value) => {
            let value = cast_value(&value, from, to, &cast_context)?;
            if let Value::Bytes(bytes) = &value {
                count(bytes.len())?;
            }
            Column::Constant(value)
        }
        Column::Array(array) => {
            let array = cast_array(&array, from, to, &cast_context)?;
            Column::Array(charged(array, charge.into_inner()))
        }
    })
}

/// Checks a byte literal: error 3854 if it is not valid in the character set of the type.
pub(super) fn check_text(literal: &Column, to: &SqlType) -> Result<()> {
    let check = |bytes: &[u8]| {
        let mix = CollationMix::new(CollationId::BINARY, Coercibility::Coercible);
        mix.with_constant(bytes).check_text(to.collation.charset())
    };
    match literal {
        Column::Constant(Value::Bytes(bytes)) => check(bytes),
        Column::Constant(_) => Ok(()),
        // An arm of a set operation has made the literal a column.
        Column::Array(array) => match array.as_binary_view_opt() {
            Some(texts) => texts.iter().flatten().try_for_each(check),
            None => Ok(()),
        },
    }
}

fn charged(array: ArrayRef, charge: TextCharge<'_>) -> ArrayRef {
    match array.as_binary_view_opt() {
        Some(texts) if charge.is_charged() => Arc::new(charge.finish(texts.clone())),
        _ => array,
    }
}

/// NULL for a value whose length, as the user gave it, exceeds the maximum of a result.
fn too_long(input: Column, to: &SqlType, name: &str, context: &EvaluationContext) -> Column {
    let warn = |rows: usize| {
        for _ in 0..rows {
            context.diagnostics.warn_with(|| {
                codes::ER_WARN_ALLOWED_PACKET_OVERFLOWED
                    .with(&[&name, &context.session.max_allowed_packet])
            });
        }
    };
    match input {
        Column::Constant(_) => {
            warn(1);
            Column::Constant(Value::Null)
        }
        Column::Array(array) => {
            warn(array.len());
            Column::Array(new_null_array(&to.physical().arrow(), array.len()))
        }
    }
}

/// Context of a conversion from this type.
pub(crate) fn cast_context<'a>(
    from: &SqlType,
    context: &'a EvaluationContext,
    diagnostics: &'a Diagnostics,
) -> CastContext<'a> {
    // Only a TIME, which may be the text that a function returned, needs the current day to become a date or a year.
    let now = match from.kind == TypeKind::Time || from.temporal_text {
        true => context
            .session
            .time_zone
            .local_of_unix(context.now_utc_microseconds)
            .unwrap_or_default(),
        false => DateTime::default(),
    };
    CastContext {
        sql_mode: context.session.sql_mode,
        diagnostics,
        time_zone: &context.session.time_zone,
        now,
        operand: "(null)",
        room: None,
    }
}
