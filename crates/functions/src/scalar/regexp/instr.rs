//! REGEXP_INSTR(text, pattern[, position[, occurrence[, return_option[, match_type]]]])

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Patterns};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REGEXP_INSTR()
#[derive(Debug)]
pub(crate) struct RegexpInstr;

impl ScalarKernel for RegexpInstr {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = arguments::text_types(&arguments[..2], context, "regexp_instr")?.arguments;
        for (index, argument) in arguments.iter().enumerate().skip(2) {
            types.push(if index == 5 {
                derive::text_of(argument, context)
            } else {
                SqlType::bigint()
            });
        }
        let nullable = derive::any_nullable(arguments);
        Ok(Signature::new(types, derive::bigint_of_width(21), nullable))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let texts = input::texts(&arguments[0])?;
        let mut patterns = Patterns::new(&arguments[1], arguments.get(5), ty, "regexp_instr")?;
        let positions = arguments.get(2).map(input::ints).transpose()?;
        let occurrences = arguments.get(3).map(input::ints).transpose()?;
        let options = arguments.get(4).map(input::ints).transpose()?;
        let number = |values: Option<input::Ints<'_>>, default: i64, row: usize| match values {
            None => Some(default),
            Some(values) => values.get(row),
        };
        output::ints(row_count, |row| {
            let (Some(pattern), Some(text), Some(position), Some(occurrence), Some(option)) = (
                patterns.get(row)?,
                texts.get(row),
                number(positions, 1, row),
                number(occurrences, 1, row),
                number(options, 0, row),
            ) else {
                return Ok(None);
            };
            let text = arguments::subject(text, ty.collation);
            let from = arguments::offset(&text, position, None)?;
            let occurrence = usize::try_from(occurrence).unwrap_or(1);
            let found = pattern.find(&text, from, occurrence.max(1))?;
            Ok(Some(found.map_or(0, |(start, end)| {
                let place = if option == 0 { start } else { end };
                text.get(..place).unwrap_or_default().chars().count() as i64 + 1
            })))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        let dogs = t("dog cat dog");
        check(&[
            ("regexp_instr", &[dogs, t("dog")], "1"),
            ("regexp_instr", &[dogs, t("dog"), i(2)], "9"),
            ("regexp_instr", &[dogs, t("dog"), i(1), i(2), i(1)], "12"),
            ("regexp_instr", &[t("aa aaa aaaa"), t("a{4}")], "8"),
            ("regexp_instr", &[t("éa"), t("a")], "2"),
            ("regexp_instr", &[t("dog"), t("x")], "0"),
            ("regexp_instr", &[dogs, NULL], "NULL"),
            (
                "regexp_instr",
                &[t("abc"), t("b"), i(5)],
                "ERROR 3686 (HY000): Index out of bounds in regular expression search.",
            ),
        ]);
    }
}
