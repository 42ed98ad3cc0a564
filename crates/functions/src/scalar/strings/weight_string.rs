//! WEIGHT_STRING(text): the bytes by which a text is compared and sorted; NULL of a number. The
//! parser makes `AS CHAR(n)` a cast of the argument.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarFunction;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The most bytes that the weights of a character take.
const BYTES_OF_CHARACTER: u64 = 24;

/// WEIGHT_STRING()
#[derive(Debug)]
pub(crate) struct WeightString;

impl ScalarFunction for WeightString {
    fn names(&self) -> &'static [&'static str] {
        &["weight_string"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        1..=1
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments[0].ty;
        let characters = if ty.is_string() {
            derive::character_length(ty).saturating_mul(BYTES_OF_CHARACTER)
        } else {
            0
        };
        Ok(Signature::new(
            vec![ty.clone()],
            derive::string_type(characters, CollationId::BINARY),
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
        let ty = &signature.arguments[0];
        if !ty.is_string() {
            return Ok(output::nulls(&signature.result, row_count));
        }
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let text = texts.get(row);
            if let Some(text) = text {
                ty.collation.append_sort_key(text, out);
            }
            Ok(text.is_some() && chars::within_packet(out.len(), "weight_string", context)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, b, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("weight_string", &[t("aB")], "0x1C471C60"),
            ("weight_string", &[b(b"aB")], "aB"),
            ("weight_string", &[i(5)], "NULL"),
            ("weight_string", &[NULL], "NULL"),
        ]);
    }
}
