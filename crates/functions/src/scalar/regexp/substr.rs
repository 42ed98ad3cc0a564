//! REGEXP_SUBSTR(text, pattern[, position[, occurrence[, match_type]]])

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Patterns};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REGEXP_SUBSTR()
#[derive(Debug)]
pub(crate) struct RegexpSubstr;

impl ScalarKernel for RegexpSubstr {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let texts = arguments::text_types(&arguments[..2], context, "regexp_substr")?;
        let mut types = texts.arguments;
        for (index, argument) in arguments.iter().enumerate().skip(2) {
            types.push(if index == 4 {
                derive::text_of(argument, context)
            } else {
                SqlType::bigint()
            });
        }
        let characters = derive::character_length(&types[0]);
        let result = derive::string_type(characters, types[0].collation);
        Ok(Signature::new(types, result, true).with_coercibility(texts.coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let texts = input::texts(&arguments[0])?;
        let mut patterns = Patterns::new(&arguments[1], arguments.get(4), ty, "regexp_substr")?;
        let positions = arguments.get(2).map(input::ints).transpose()?;
        let occurrences = arguments.get(3).map(input::ints).transpose()?;
        let number = |values: Option<input::Ints<'_>>, row: usize| match values {
            None => Some(1),
            Some(values) => values.get(row),
        };
        output::texts(row_count, context, |row, out| {
            let (Some(pattern), Some(text), Some(position), Some(occurrence)) = (
                patterns.get(row)?,
                texts.get(row),
                number(positions, row),
                number(occurrences, row),
            ) else {
                return Ok(false);
            };
            let text = arguments::subject(text, ty.collation);
            let from = arguments::offset(&text, position, Some("regexp_substr"))?;
            let occurrence = usize::try_from(occurrence).unwrap_or(1);
            let Some((start, end)) = pattern.find(&text, from, occurrence.max(1))? else {
                return Ok(false);
            };
            arguments::append(out, text.get(start..end).unwrap_or_default(), ty.collation);
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        let words = t("abc def ghi");
        check(&[
            ("regexp_substr", &[words, t("[a-z]+")], "abc"),
            ("regexp_substr", &[words, t("[a-z]+"), i(1), i(3)], "ghi"),
            ("regexp_substr", &[words, t("[a-z]+"), i(3)], "c"),
            ("regexp_substr", &[t("abc"), t("x")], "NULL"),
            ("regexp_substr", &[t("abc"), t("b"), i(4)], "NULL"),
        ]);
    }
}
