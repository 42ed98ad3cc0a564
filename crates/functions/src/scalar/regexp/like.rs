//! REGEXP_LIKE(text, pattern[, match_type]), which REGEXP and RLIKE are too.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Patterns};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// REGEXP_LIKE()
#[derive(Debug)]
pub(crate) struct RegexpLike;

impl ScalarKernel for RegexpLike {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = arguments::text_types(&arguments[..2], context, "regexp_like")?.arguments;
        types.extend(
            arguments
                .get(2)
                .map(|match_type| derive::text_of(match_type, context)),
        );
        let nullable = derive::any_nullable(arguments);
        Ok(Signature::new(types, SqlType::boolean(), nullable))
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
        let mut patterns = Patterns::new(&arguments[1], arguments.get(2), ty, "regexp_like")?;
        output::bools(row_count, |row| {
            let Some(pattern) = patterns.get(row)? else {
                return Ok(None);
            };
            let Some(text) = texts.get(row) else {
                return Ok(None);
            };
            let text = arguments::subject(text, ty.collation);
            Ok(Some(pattern.is_match(&text)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, b, check, t};

    #[test]
    fn values() {
        check(&[
            ("regexp_like", &[t("CamelCase"), t("CAMELCASE")], "1"),
            ("regexp_like", &[t("abc"), t("ABC"), t("c")], "0"),
            ("regexp_like", &[b(b"abc"), b(b"ABC")], "0"),
            ("regexp_like", &[t("new*\n*line"), t("new\\*.\\*line")], "0"),
            (
                "regexp_like",
                &[t("new*\n*line"), t("new\\*.\\*line"), t("n")],
                "1",
            ),
            ("regexp_like", &[t("fo\no"), t("^fo$")], "0"),
            ("regexp_like", &[t("fo\no"), t("^fo$"), t("m")], "1"),
            ("regexp_like", &[NULL, t("a")], "NULL"),
            ("regexp_like", &[t("a"), t("a"), NULL], "NULL"),
            (
                "regexp_like",
                &[t("a"), t("a"), t("z")],
                "ERROR 1210 (HY000): Incorrect arguments to regexp_like",
            ),
            (
                "regexp_like",
                &[t("a"), t("*")],
                "ERROR 3688 (HY000): Syntax error in regular expression on line 1, character 1.",
            ),
            (
                "regexp_like",
                &[b(b"a"), t("a")],
                "ERROR 3995 (HY000): Character set 'binary' cannot be used in conjunction with 'utf8mb4_0900_ai_ci' in call to regexp_like.",
            ),
        ]);
    }
}
