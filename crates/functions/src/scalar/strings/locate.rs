//! LOCATE(part, text[, position]), POSITION and INSTR(text, part): the position of a part, in characters from 1, by
//! the collation.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::input::{self, Texts};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["locate", "position"], 2..=3, signature, |call| {
        locate(call, call.texts(1)?, call.texts(0)?)
    })
    .with(&[Fact::StopsAtNullIn(&[1, 0, 2])]),
    Row::new(&["instr"], 2..=2, signature, |call| {
        locate(call, call.texts(0)?, call.texts(1)?)
    })
    .with(&[Fact::StopsAtNull]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let texts = binding.part(..2).named("locate");
    let mut types = texts.searched_texts()?;
    types.resize(binding.arguments.len(), SqlType::bigint());
    let nullable = binding.any_nullable();
    Ok(Signature::new(types, derive::int_of_width(11), nullable))
}

fn locate(call: &Call<'_>, texts: Texts<'_>, parts: Texts<'_>) -> Result<ArrayRef> {
    let starts = call.optional(2, input::ints)?;
    let starts = starts.unwrap_or(input::Ints::Constant(Some(1)));
    let collation = call.collation(0);
    output::ints(call.rows, |row| {
        let (Some(text), Some(part), Some(start)) =
            (texts.get(row), parts.get(row), starts.get(row))
        else {
            return Ok(None);
        };
        let Ok(skipped) = usize::try_from(start.saturating_sub(1)) else {
            return Ok(Some(0));
        };
        if start < 1 || skipped > chars::count(text, collation) {
            return Ok(Some(0));
        }
        let offset = chars::offset_of(text, skipped, collation);
        let found = chars::find_collated(&text[offset..], part, collation);
        Ok(Some(found.map_or(0, |found| {
            chars::count(&text[..offset + found], collation) as i64 + 1
        })))
    })
}
