//! QUOTE(text): as a string literal.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// QUOTE()
#[derive(Debug)]
pub(crate) struct Quote;

impl ScalarKernel for Quote {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let signature = derive::changed_text_signature(
            arguments,
            context,
            "quote",
            derive::character_length(arguments[0].ty) * 2 + 2,
            false,
        )?;
        Ok(derive::foreseen(signature))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                out.extend_from_slice(b"NULL");
                return Ok(true);
            };
            let is_escaped = |byte: &&u8| matches!(byte, b'\\' | b'\'' | 0 | 0x1A);
            let escapes = text.iter().filter(is_escaped).count();
            let bytes = text.len().saturating_add(escapes).saturating_add(2);
            if !chars::within_packet(bytes, "quote", context)? {
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
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("quote", &[t("Don't!")], "'Don\\'t!'"),
            ("quote", &[NULL], "NULL"),
            ("quote", &[t("'".repeat(40_000_000).leak())], "NULL +1301"),
        ]);
    }
}
