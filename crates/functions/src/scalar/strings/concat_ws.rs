//! CONCAT_WS(separator, text, …): NULLs are left out; NULL only when the separator is.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// CONCAT_WS()
#[derive(Debug)]
pub(crate) struct ConcatWs;

impl ScalarKernel for ConcatWs {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let separators = (arguments.len() as u64 - 2) * derive::character_length(arguments[0].ty);
        let characters = arguments[1..]
            .iter()
            .map(|argument| derive::character_length(argument.ty))
            .sum::<u64>()
            + separators;
        let signature = derive::text_signature(
            arguments,
            context,
            "concat_ws",
            characters,
            arguments[0].nullable,
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
            let Some(separator) = texts[0].get(row) else {
                return Ok(false);
            };
            for (index, text) in texts[1..]
                .iter()
                .filter_map(|text| text.get(row))
                .enumerate()
            {
                if index > 0 {
                    out.extend_from_slice(separator);
                }
                out.extend_from_slice(text);
            }
            chars::within_packet(out.len(), "concat_ws", context)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            (
                "concat_ws",
                &[t(","), t("First name"), t("Second name"), t("Last Name")],
                "First name,Second name,Last Name",
            ),
            (
                "concat_ws",
                &[t(","), t("First name"), NULL, t("Last Name")],
                "First name,Last Name",
            ),
            ("concat_ws", &[NULL, t("a")], "NULL"),
        ]);
    }
}
