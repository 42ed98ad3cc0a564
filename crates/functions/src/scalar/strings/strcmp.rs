//! STRCMP(a, b): -1, 0 or 1 by the collation.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, comparison, derive, input,
    output,
};

/// STRCMP()
#[derive(Debug)]
pub(crate) struct Strcmp;

impl ScalarKernel for Strcmp {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let signature = derive::text_signature(
            arguments,
            context,
            "strcmp",
            0,
            derive::any_nullable(arguments),
        )?;
        Ok(Signature::new(
            signature.arguments,
            derive::int_of_width(2),
            signature.nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (left, right) = (input::texts(&arguments[0])?, input::texts(&arguments[1])?);
        let collation = signature.arguments[0].collation;
        output::ints(row_count, |row| {
            Ok(left
                .get(row)
                .zip(right.get(row))
                .map(|(a, b)| comparison::compare_texts(a, b, collation) as i64))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("strcmp", &[t("text"), t("text2")], "-1"),
            ("strcmp", &[t("text2"), t("text")], "1"),
            ("strcmp", &[t("text"), t("text")], "0"),
        ]);
    }
}
