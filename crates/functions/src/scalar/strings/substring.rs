//! SUBSTRING(text, position[, length]): characters from a position, counted from 1 or, negative, from the end.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// SUBSTRING()
#[derive(Debug)]
pub(crate) struct Substring;

impl ScalarKernel for Substring {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let whole = derive::character_length(arguments[0].ty);
        let mut characters = whole;
        if let Some(position) = derive::constant_integer(&arguments[1]) {
            characters = if position < 0 {
                whole.min(position.unsigned_abs())
            } else {
                whole.saturating_sub(position.max(1).cast_unsigned() - 1)
            };
        }
        if let Some(length) = arguments.get(2).and_then(derive::constant_integer) {
            characters = characters.min(length.max(0).cast_unsigned());
        }
        let mut signature = derive::text_signature(
            &arguments[..1],
            context,
            "substr",
            characters,
            derive::any_nullable(arguments),
        )?;
        signature
            .arguments
            .extend(arguments[1..].iter().map(derive::integer_of));
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (texts, positions) = (input::texts(&arguments[0])?, input::counts(&arguments[1])?);
        let lengths = arguments.get(2).map(input::counts).transpose()?;
        let collation = signature.result.collation;
        output::borrowed_texts(row_count, context, |row| {
            let (Some(text), Some(position)) = (texts.get(row), positions.get(row)) else {
                return Ok(None);
            };
            let length = match &lengths {
                None => i64::MAX,
                Some(lengths) => match lengths.get(row) {
                    None => return Ok(None),
                    Some(length) => length,
                },
            };
            Ok(Some(substring(text, position, length, collation)))
        })
    }
}

fn substring(text: &[u8], position: i64, length: i64, collation: CollationId) -> &[u8] {
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

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("substring", &[t("Quadratically"), i(5)], "ratically"),
            ("substr", &[t("Quadratically"), i(5), i(6)], "ratica"),
            ("mid", &[t("Sakila"), i(-3)], "ila"),
            ("substring", &[t("Sakila"), i(-5), i(3)], "aki"),
            ("substring", &[t("Sakila"), i(0)], ""),
            ("substring", &[t("Sakila"), i(-9)], ""),
            ("substring", &[t("aé€b"), i(2), i(2)], "é€"),
            ("substring", &[t("Sakila"), NULL], "NULL"),
        ]);
    }
}
