//! REVERSE(text): characters from last to first.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REVERSE()
#[derive(Debug)]
pub(crate) struct Reverse;

impl ScalarKernel for Reverse {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        derive::text_signature(
            arguments,
            context,
            "reverse",
            derive::character_length(arguments[0].ty),
            arguments[0].nullable,
        )
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let collation = signature.result.collation;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            out.extend(text.iter().rev());
            if collation != CollationId::BINARY && !text.is_ascii() {
                // The bytes of each character are turned back.
                let mut start = 0;
                for index in 0..out.len() {
                    if out[index] & 0xC0 != 0x80 {
                        out[start..=index].reverse();
                        start = index + 1;
                    }
                }
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("reverse", &[t("abc")], "cba"),
            ("reverse", &[t("aé€")], "€éa"),
        ]);
    }
}
