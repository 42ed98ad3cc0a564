//! FIND_IN_SET(text, list): the place in a list of strings separated by commas.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, comparison, derive, input,
    output,
};

/// FIND_IN_SET()
#[derive(Debug)]
pub(crate) struct FindInSet;

impl ScalarKernel for FindInSet {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let signature = derive::text_signature(
            arguments,
            context,
            "find_in_set",
            0,
            derive::any_nullable(arguments),
        )?;
        Ok(Signature::new(
            signature.arguments,
            derive::int_of_width(11),
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
        let (texts, lists) = (input::texts(&arguments[0])?, input::texts(&arguments[1])?);
        let collation = signature.arguments[0].collation;
        output::ints(row_count, |row| {
            let (Some(text), Some(list)) = (texts.get(row), lists.get(row)) else {
                return Ok(None);
            };
            if list.is_empty() || text.contains(&b',') {
                return Ok(Some(0));
            }
            let found = list
                .split(|byte| *byte == b',')
                .position(|member| comparison::text_equals(member, text, collation));
            Ok(Some(found.map_or(0, |index| index as i64 + 1)))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("find_in_set", &[t("b"), t("a,b,c,d")], "2"),
            ("find_in_set", &[t("x"), t("a,b")], "0"),
            ("find_in_set", &[t(""), t("a,,b")], "2"),
            ("find_in_set", &[t(""), t("")], "0"),
        ]);
    }
}
