//! REPLACE(text, from, to): every occurrence, by bytes.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REPLACE()
#[derive(Debug)]
pub(crate) struct Replace;

impl ScalarKernel for Replace {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let whole = derive::character_length(arguments[0].ty);
        // What is looked for may be a single character, unless it is known.
        let from = match arguments[1].constant {
            Some(_) => derive::character_length(arguments[1].ty).max(1),
            None => 1,
        };
        let to = derive::character_length(arguments[2].ty);
        // Each replacement may make the text longer.
        let characters = if to > from {
            whole + (whole / from).saturating_mul(to - from)
        } else {
            whole
        };
        let signature = derive::changed_text_signature(
            arguments,
            context,
            "replace",
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
            let (Some(text), Some(from), Some(to)) =
                (texts[0].get(row), texts[1].get(row), texts[2].get(row))
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
            chars::within_packet(out.len(), "replace", context)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            (
                "replace",
                &[t("www.mysql.com"), t("w"), t("Ww")],
                "WwWwWw.mysql.com",
            ),
            ("replace", &[t("aaa"), t("aa"), t("b")], "ba"),
            ("replace", &[t("abc"), t(""), t("x")], "abc"),
        ]);
    }
}
