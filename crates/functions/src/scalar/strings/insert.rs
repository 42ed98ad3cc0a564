//! INSERT(text, position, length, replacement): characters replaced in the middle.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// INSERT()
#[derive(Debug)]
pub(crate) struct Insert;

impl ScalarKernel for Insert {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters =
            derive::character_length(arguments[0].ty) + derive::character_length(arguments[3].ty);
        let mut signature = derive::changed_text_signature(
            &[arguments[0], arguments[3]],
            context,
            "insert",
            characters,
            derive::any_nullable(arguments),
        )?;
        let counts = arguments[1..3].iter().map(derive::integer_of);
        signature.arguments.splice(1..1, counts);
        Ok(derive::foreseen(signature))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (texts, positions, lengths, parts) = (
            input::texts(&arguments[0])?,
            input::counts(&arguments[1])?,
            input::counts(&arguments[2])?,
            input::texts(&arguments[3])?,
        );
        let collation = signature.result.collation;
        output::texts(row_count, context, |row, out| {
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
            chars::within_packet(out.len(), "insert", context)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            (
                "insert",
                &[t("Quadratic"), i(3), i(4), t("What")],
                "QuWhattic",
            ),
            (
                "insert",
                &[t("Quadratic"), i(-1), i(4), t("What")],
                "Quadratic",
            ),
            (
                "insert",
                &[t("Quadratic"), i(3), i(100), t("What")],
                "QuWhat",
            ),
        ]);
    }
}
