//! CONCAT(text, …): NULL when any is.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// CONCAT()
#[derive(Debug)]
pub(crate) struct Concat;

impl ScalarKernel for Concat {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = arguments
            .iter()
            .map(|argument| derive::character_length(argument.ty))
            .sum();
        let signature = derive::text_signature(
            arguments,
            context,
            "concat",
            characters,
            derive::any_nullable(arguments),
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
        let texts: Vec<_> = arguments.iter().map(input::texts).collect::<Result<_>>()?;
        output::texts(row_count, context, |row, out| {
            let mut bytes = 0_usize;
            for text in &texts {
                let Some(text) = text.get(row) else {
                    return Ok(false);
                };
                bytes = bytes.saturating_add(text.len());
            }
            if !chars::within_packet(bytes, "concat", context)? {
                return Ok(false);
            }
            out.reserve(bytes);
            for text in texts.iter().filter_map(|text| text.get(row)) {
                out.extend_from_slice(text);
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, t};

    #[test]
    fn values() {
        check(&[
            ("concat", &[t("My"), t("S"), t("QL")], "MySQL"),
            ("concat", &[t("My"), NULL, t("QL")], "NULL"),
            ("concat", &[d("14.3")], "14.3"),
        ]);
    }
}
