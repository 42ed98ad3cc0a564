//! Common parts of the four functions: types, subject texts, and compiled patterns.

use std::borrow::Cow;

use mayfly_types::error::codes;
use mayfly_types::{CollationId, Error, Result, SqlType};

use super::pattern::{Flags, Pattern};
use crate::input::{self, Ints, Texts};
use crate::{Argument, Binding, Call, Signature};

/// The types of the call: texts under their aggregate collation, then numbers, and at the position of the match type
/// another text. Binary strings cannot be mixed with others (error 3995).
pub(crate) fn types(
    binding: &Binding<'_>,
    text_count: usize,
    match_type: usize,
) -> Result<Signature> {
    let mut signature = text_types(&binding.part(..text_count))?;
    for index in text_count..binding.arguments.len() {
        signature.arguments.push(if index == match_type {
            binding.text(index)
        } else {
            SqlType::bigint()
        });
    }
    Ok(signature)
}

fn text_types(binding: &Binding<'_>) -> Result<Signature> {
    let texts = binding.arguments;
    let is_binary = |argument: &&Argument<'_>| argument.ty.is_binary_string();
    let binary = texts.iter().find(is_binary);
    let character = texts
        .iter()
        .find(|argument| argument.ty.is_string() && !argument.ty.is_binary_string());
    if let (Some(binary), Some(character)) = (binary, character) {
        // The error names the first of the two kinds first.
        let first_is_binary = texts[0].ty.is_binary_string();
        let (first, second) = if first_is_binary {
            (binary, character)
        } else {
            (character, binary)
        };
        return Err(codes::ER_CHARACTER_SET_MISMATCH.with(&[
            &first.ty.collation.name(),
            &second.ty.collation.name(),
            &binding.name,
        ]));
    }
    binding.collated_text(1, false)
}

/// A text as a regular expression reads it: each byte of a binary string is a character.
pub(crate) fn subject(text: &[u8], collation: CollationId) -> Cow<'_, str> {
    if collation == CollationId::BINARY {
        return Cow::Owned(text.iter().map(|byte| char::from(*byte)).collect());
    }
    String::from_utf8_lossy(text)
}

/// Appends a text, the inverse of [`subject`].
pub(crate) fn append(out: &mut Vec<u8>, text: &str, collation: CollationId) {
    if collation == CollationId::BINARY {
        out.extend(text.chars().map(|character| u32::from(character) as u8));
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// The byte offset of a position in characters, from 1. Error 3686 beyond the position after the text; before the
/// text some functions raise error 1583, which names them.
pub(crate) fn offset(text: &str, position: i64, function: Option<&str>) -> Result<usize> {
    let index = position
        .checked_sub(1)
        .and_then(|index| usize::try_from(index).ok())
        .ok_or_else(|| match function {
            Some(function) => codes::ER_WRONG_PARAMETERS_TO_NATIVE_FCT.with(&[&function]),
            None => out_of_bounds(),
        })?;
    let ends = std::iter::once(text.len());
    text.char_indices()
        .map(|(offset, _)| offset)
        .chain(ends)
        .nth(index)
        .ok_or_else(out_of_bounds)
}

/// Error 3686
pub(crate) fn out_of_bounds() -> Error {
    codes::ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR.error()
}

/// The numbers of an optional argument.
pub(crate) fn numbers<'a>(call: &Call<'a>, index: usize, default: i64) -> Result<Ints<'a>> {
    let numbers = call.optional(index, input::ints)?;
    Ok(numbers.unwrap_or(Ints::Constant(Some(default))))
}

/// Patterns with their match types, compiled when they change.
pub(crate) struct Patterns<'a> {
    patterns: Texts<'a>,
    match_types: Option<Texts<'a>>,
    collation: CollationId,
    name: &'static str,
    compiled: Option<(&'a [u8], &'a [u8], Pattern)>,
}

impl<'a> Patterns<'a> {
    /// Reads the second argument, and the match type at a position if there is one.
    pub(crate) fn new(call: &Call<'a>, match_type: usize) -> Result<Self> {
        Ok(Self {
            patterns: call.texts(1)?,
            match_types: call.optional(match_type, input::texts)?,
            collation: call.collation(0),
            name: call.name,
            compiled: None,
        })
    }

    /// The pattern of a row; `None` when it or its match type is NULL.
    pub(crate) fn get(&mut self, row: usize) -> Result<Option<&Pattern>> {
        let Some(text) = self.patterns.get(row) else {
            return Ok(None);
        };
        let match_type = match self.match_types {
            None => &[][..],
            Some(match_types) => match match_types.get(row) {
                Some(match_type) => match_type,
                None => return Ok(None),
            },
        };
        let is_known = self
            .compiled
            .as_ref()
            .is_some_and(|(known, known_type, _)| *known == text && *known_type == match_type);
        if !is_known {
            let ignores_case = self.collation.name().ends_with("_ci");
            let flags = Flags::parse(match_type, ignores_case)
                .ok_or_else(|| codes::ER_WRONG_ARGUMENTS.with(&[&self.name]))?;
            let pattern = Pattern::new(&subject(text, self.collation), flags)?;
            self.compiled = Some((text, match_type, pattern));
        }
        Ok(self.compiled.as_ref().map(|(_, _, pattern)| pattern))
    }
}
