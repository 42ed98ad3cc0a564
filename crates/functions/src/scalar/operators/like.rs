//! `value LIKE pattern [ESCAPE character]`

use arrow_array::ArrayRef;
use mayfly_types::charset::utf8;
use mayfly_types::collation::LikePattern;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlMode, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// LIKE
#[derive(Debug)]
pub(crate) struct Like;

impl ScalarKernel for Like {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let operands = derive::text_signature(&arguments[..2], context, "like", 1, false)?;
        let mut types = operands.arguments;
        types.extend(
            arguments
                .get(2)
                .map(|escape| derive::text_of(escape, context)),
        );
        let nullable = derive::any_nullable(&arguments[..2]);
        Ok(Signature::new(types, SqlType::boolean(), nullable))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let collation = signature.arguments[0].collation;
        let values = input::texts(&arguments[0])?;
        let patterns = input::texts(&arguments[1])?;
        let escapes = arguments.get(2).map(input::texts).transpose()?;
        let escape = |row: usize| match escapes.and_then(|escapes| escapes.get(row)) {
            None if context.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) => Ok(None),
            None => Ok(Some(u32::from('\\'))),
            Some(escape) => escape_of(escape, collation),
        };
        // Patterns are mostly constant, and repeat where they are not.
        let mut compiled: Option<(&[u8], Option<u32>, LikePattern)> = None;
        output::bools(row_count, |row| {
            let (Some(value), Some(pattern)) = (values.get(row), patterns.get(row)) else {
                return Ok(None);
            };
            let escape = escape(row)?;
            let usable = compiled
                .as_ref()
                .filter(|(text, with, _)| *text == pattern && *with == escape);
            let matched = match usable {
                Some((_, _, compiled)) => compiled.matches(value),
                None => {
                    let new = LikePattern::new(collation, pattern, escape);
                    let matched = new.matches(value);
                    compiled = Some((pattern, escape, new));
                    matched
                }
            };
            Ok(Some(matched))
        })
    }
}

/// The escape character; none for an empty string, and error 1210 for more than one character.
fn escape_of(escape: &[u8], collation: CollationId) -> Result<Option<u32>> {
    let first = if collation == CollationId::BINARY {
        escape.first().map(|byte| (u32::from(*byte), 1))
    } else {
        utf8::decode(escape)
    };
    match first {
        None => Ok(None),
        Some((point, length)) if length == escape.len() => Ok(Some(point)),
        Some(_) => Err(codes::ER_WRONG_ARGUMENTS.with(&[&"ESCAPE"])),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, b, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("like", &[t("David!"), t("David_")], "1"),
            ("like", &[t("David!"), t("%D%v%")], "1"),
            ("like", &[t("a"), t("A")], "1"),
            ("like", &[t("a"), t("a ")], "0"),
            ("like", &[b(b"a"), b(b"A")], "0"),
            ("like", &[t("David_"), t("David|_"), t("|")], "1"),
            ("like", &[t("Davids"), t("David\\_")], "0"),
            ("like", &[i(10), t("1%")], "1"),
            ("like", &[t("a"), NULL], "NULL"),
            ("like", &[t("a"), t("a"), t("")], "1"),
            (
                "like",
                &[t("a"), t("a"), t("xx")],
                "ERROR 1210 (HY000): Incorrect arguments to ESCAPE",
            ),
        ]);
    }
}
