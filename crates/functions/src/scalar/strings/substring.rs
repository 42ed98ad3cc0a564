//! Parts of a text, in characters: SUBSTRING(text, position[, length]), LEFT(text, n), RIGHT(text, n),
//! SUBSTRING_INDEX(text, delimiter, n).

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::input::{self, Counts};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(
        &["substring", "substr", "mid"],
        2..=3,
        substring_signature,
        |call| {
            let lengths = call.optional(2, input::counts)?;
            substring(call, lengths)
        },
    )
    .with(&[
        Fact::StopsAtNull,
        Fact::Strict,
        Fact::TypedByConstants(&[1, 2]),
    ]),
    Row::new(&["left"], 2..=2, side_signature, side::<true>).with(&[
        Fact::StopsAtNull,
        Fact::Strict,
        Fact::TypedByConstants(&[1]),
    ]),
    Row::new(&["right"], 2..=2, side_signature, side::<false>).with(&[
        Fact::StopsAtNull,
        Fact::Strict,
        Fact::TypedByConstants(&[1]),
    ]),
    Row::new(
        &["substring_index"],
        3..=3,
        index_signature,
        substring_index,
    )
    .with(&[Fact::StopsAtNullIn(&[0, 2, 1])]),
];

/// The types of a part of at most `characters`, given by numbers.
fn part_signature(binding: &Binding<'_>, characters: u64) -> Result<Signature> {
    let text = binding.part(..1);
    let mut signature = text.collated_text(characters, binding.any_nullable())?;
    let numbers = binding.part(1..).each(derive::integer_of);
    signature.arguments.extend(numbers);
    Ok(signature)
}

fn substring_signature(binding: &Binding<'_>) -> Result<Signature> {
    let whole = binding.characters(0);
    let mut characters = whole;
    if let Some(position) = derive::constant_integer(&binding.arguments[1]) {
        characters = if position < 0 {
            whole.min(position.unsigned_abs())
        } else {
            whole.saturating_sub(position.max(1).cast_unsigned() - 1)
        };
    }
    let length = binding.arguments.get(2).and_then(derive::constant_integer);
    if let Some(length) = length {
        characters = characters.min(length.max(0).cast_unsigned());
    }
    part_signature(&binding.named("substr"), characters)
}

fn substring(call: &Call<'_>, lengths: Option<Counts<'_>>) -> Result<ArrayRef> {
    let (texts, positions) = (call.texts(0)?, call.counts(1)?);
    let collation = call.signature.result.collation;
    output::borrowed_texts(call, |row| {
        let length = lengths.map_or(Some(i64::MAX), |lengths| lengths.get(row));
        let (Some(text), Some(position), Some(length)) =
            (texts.get(row), positions.get(row), length)
        else {
            return Ok(None);
        };
        Ok(Some(part(text, position, length, collation)))
    })
}

/// A part from a position, counted from 1 or, if negative, from the end.
fn part(text: &[u8], position: i64, length: i64, collation: CollationId) -> &[u8] {
    let Ok(length) = usize::try_from(length) else {
        return b"";
    };
    let skipped = match position {
        0 => return b"",
        1.. => usize::try_from(position - 1).unwrap_or(usize::MAX),
        _ => {
            let from_end = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
            match chars::count(text, collation).checked_sub(from_end) {
                Some(skipped) => skipped,
                None => return b"",
            }
        }
    };
    let rest = &text[chars::offset_of(text, skipped, collation)..];
    &rest[..chars::offset_of(rest, length, collation)]
}

fn side_signature(binding: &Binding<'_>) -> Result<Signature> {
    let whole = binding.characters(0);
    let count = derive::constant_integer(&binding.arguments[1]);
    let characters = count.map_or(whole, |n| whole.min(n.max(0).cast_unsigned()));
    part_signature(binding, characters)
}

/// LEFT() or RIGHT().
fn side<const LEFT: bool>(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, counts) = (call.texts(0)?, call.counts(1)?);
    let collation = call.signature.result.collation;
    output::borrowed_texts(call, |row| {
        let (Some(text), Some(wanted)) = (texts.get(row), counts.get(row)) else {
            return Ok(None);
        };
        let wanted = usize::try_from(wanted).unwrap_or(0);
        Ok(Some(if LEFT {
            &text[..chars::offset_of(text, wanted, collation)]
        } else {
            let skipped = chars::count(text, collation).saturating_sub(wanted);
            &text[chars::offset_of(text, skipped, collation)..]
        }))
    })
}

fn index_signature(binding: &Binding<'_>) -> Result<Signature> {
    let texts = binding.part(..2);
    let mut signature = texts.changed_text(binding.characters(0), binding.any_nullable())?;
    let count = derive::integer_of(&binding.arguments[2]);
    signature.arguments.push(count);
    Ok(signature)
}

fn substring_index(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, delimiters, counts) = (call.texts(0)?, call.texts(1)?, call.counts(2)?);
    output::borrowed_texts(call, |row| {
        let (Some(text), Some(delimiter), Some(count)) =
            (texts.get(row), delimiters.get(row), counts.get(row))
        else {
            return Ok(None);
        };
        Ok(Some(delimited(text, delimiter, count)))
    })
}

/// The part before the n-th delimiter or, if negative, after the n-th from the end.
fn delimited<'a>(text: &'a [u8], delimiter: &[u8], count: i64) -> &'a [u8] {
    if delimiter.is_empty() || count == 0 {
        return b"";
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) - 1;
    if count > 0 {
        let mut start = 0;
        for _ in 0..wanted {
            match chars::find(&text[start..], delimiter) {
                Some(found) => start += found + delimiter.len(),
                None => return text,
            }
        }
        return match chars::find(&text[start..], delimiter) {
            Some(found) => &text[..start + found],
            None => text,
        };
    }
    let mut end = text.len();
    for turn in 0.. {
        match chars::find_last(&text[..end], delimiter) {
            Some(found) if turn == wanted => return &text[found + delimiter.len()..],
            Some(found) => end = found,
            None => break,
        }
    }
    text
}
