//! REPLACE(text, from, to): every occurrence, by bytes. INSERT(text, position, length, replacement):
//! characters replaced in the middle. QUOTE(text): as a string literal.

use arrow_array::ArrayRef;
use mayfly_types::{Result, TypeKind};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["replace"], 3..=3, replace_signature, replace)
        .with(&[Fact::StopsAtNull, Fact::Strict]),
    Row::new(&["insert"], 4..=4, insert_signature, insert)
        .with(&[Fact::StopsAtNullIn(&[0, 3, 1, 2])]),
    Row::new(&["quote"], 1..=1, quote_signature, quote),
];

fn replace_signature(binding: &Binding<'_>) -> Result<Signature> {
    let whole = binding.characters(0);
    // A non-constant search text may be a single character.
    let from = match binding.arguments[1].constant {
        Some(_) => binding.characters(1).max(1),
        None => 1,
    };
    let to = binding.characters(2);
    // Each replacement may make the text longer.
    let more = (whole / from).saturating_mul(to.saturating_sub(from));
    let signature = binding.changed_text(whole + more, binding.any_nullable())?;
    Ok(derive::with_length_limit(signature))
}

fn replace(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, from, to) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    output::texts(call, |row, out| {
        let (Some(text), Some(from), Some(to)) = (texts.get(row), from.get(row), to.get(row))
        else {
            return Ok(false);
        };
        let mut rest = text;
        while !from.is_empty()
            && let Some(found) = chars::find(rest, from)
        {
            out.extend_from_slice(&rest[..found]);
            out.extend_from_slice(to);
            rest = &rest[found + from.len()..];
        }
        out.extend_from_slice(rest);
        call.within_packet(out.len())
    })
}

fn insert_signature(binding: &Binding<'_>) -> Result<Signature> {
    let texts = Binding {
        arguments: &[binding.arguments[0], binding.arguments[3]],
        ..*binding
    };
    let characters = binding.characters(0) + binding.characters(3);
    let mut signature = texts.changed_text(characters, binding.any_nullable())?;
    let counts = binding.part(1..3).each(derive::integer_of);
    signature.arguments.splice(1..1, counts);
    Ok(derive::with_length_limit(signature))
}

fn insert(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, parts) = (call.texts(0)?, call.texts(3)?);
    let (positions, lengths) = (call.counts(1)?, call.counts(2)?);
    let collation = call.signature.result.collation;
    output::texts(call, |row, out| {
        let (Some(text), Some(position), Some(length), Some(part)) = (
            texts.get(row),
            positions.get(row),
            lengths.get(row),
            parts.get(row),
        ) else {
            return Ok(false);
        };
        let own = chars::count(text, collation);
        match usize::try_from(position.saturating_sub(1)) {
            Ok(skipped) if position >= 1 && skipped < own => {
                let start = chars::offset_of(text, skipped, collation);
                let rest = &text[start..];
                // A negative length reaches to the end.
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                out.extend_from_slice(&text[..start]);
                out.extend_from_slice(part);
                out.extend_from_slice(&rest[chars::offset_of(rest, length, collation)..]);
            }
            _ => out.extend_from_slice(text),
        }
        call.within_packet(out.len())
    })
}

fn quote_signature(binding: &Binding<'_>) -> Result<Signature> {
    // NULL becomes the word NULL.
    let characters = (binding.characters(0) * 2 + 2).max("NULL".len() as u64);
    if binding.arguments[0].ty.kind == TypeKind::Null {
        return binding.of_texts(binding.string(characters));
    }
    let signature = binding.changed_text(characters, false)?;
    Ok(derive::with_length_limit(signature))
}

fn quote(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    output::texts(call, |row, out| {
        let Some(text) = texts.get(row) else {
            out.extend_from_slice(b"NULL");
            return Ok(true);
        };
        let is_escaped = |byte: &&u8| matches!(byte, b'\\' | b'\'' | 0 | 0x1A);
        let escapes = text.iter().filter(is_escaped).count();
        let bytes = text.len().saturating_add(escapes).saturating_add(2);
        if !call.within_packet(bytes)? {
            return Ok(false);
        }
        out.push(b'\'');
        for byte in text {
            match byte {
                b'\\' | b'\'' => out.extend_from_slice(&[b'\\', *byte]),
                0 => out.extend_from_slice(b"\\0"),
                0x1A => out.extend_from_slice(b"\\Z"),
                _ => out.push(*byte),
            }
        }
        out.push(b'\'');
        Ok(true)
    })
}
