//! `value LIKE pattern [ESCAPE character]`

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use mayfly_types::charset::utf8;
use mayfly_types::collation::LikePattern;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlMode, SqlType};

use crate::input::Texts;
use crate::repeated::passing_texts;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, Printed};
use crate::{Binding, Call, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["like"], 2..=3, signature, evaluate)
    .with(&[Fact::StopsAtNull, Fact::Strict, Fact::Like])
    .printed(Printed::Infix("like"))];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = binding.part(..2).compared_texts(SqlType::boolean())?;
    signature.arguments.extend(binding.part(2..).texts());
    Ok(signature)
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let collation = call.collation(0);
    let values = call.texts(0)?;
    let patterns = call.texts(1)?;
    let escapes = call.optional(2, input::texts)?;
    let escape = |row: usize| match escapes.and_then(|escapes| escapes.get(row)) {
        None if call
            .context
            .session
            .sql_mode
            .has(SqlMode::NO_BACKSLASH_ESCAPES) =>
        {
            Ok(None)
        }
        None => Ok(Some(u32::from('\\'))),
        Some(escape) => escape_of(escape, collation),
    };
    if let (Texts::Array(array), Some(Some(pattern)), true) = (
        values,
        patterns.constant(),
        escapes.is_none_or(|it| it.constant().is_some()),
    ) && array.null_count() < array.len()
    {
        let compiled = LikePattern::new(collation, pattern, escape(0)?);
        let matched = passing_texts(array, |value| compiled.matches(value));
        return Ok(Arc::new(BooleanArray::new(matched, array.nulls().cloned())));
    }
    // Patterns mostly repeat from row to row.
    let mut compiled: Option<(&[u8], Option<u32>, LikePattern)> = None;
    output::bools(call.rows, |row| {
        let (Some(value), Some(pattern)) = (values.get(row), patterns.get(row)) else {
            return Ok(None);
        };
        let escape = escape(row)?;
        let usable = compiled
            .as_ref()
            .filter(|(text, with, _)| *text == pattern && *with == escape);
        let matched = match usable {
            Some((_, _, compiled)) => compiled.matches(value),
            None => {
                let new = LikePattern::new(collation, pattern, escape);
                let matched = new.matches(value);
                compiled = Some((pattern, escape, new));
                matched
            }
        };
        Ok(Some(matched))
    })
}

/// The escape character; `None` for an empty string, and error 1210 for more than one character.
fn escape_of(escape: &[u8], collation: CollationId) -> Result<Option<u32>> {
    let first = if collation == CollationId::BINARY {
        escape.first().map(|byte| (u32::from(*byte), 1))
    } else {
        utf8::decode(escape)
    };
    match first {
        None => Ok(None),
        Some((point, length)) if length == escape.len() => Ok(Some(point)),
        Some(_) => Err(codes::ER_WRONG_ARGUMENTS.with(&[&"ESCAPE"])),
    }
}
