//! IF(condition, value, value)

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, choice, derive, input,
};

/// IF()
#[derive(Debug)]
pub(crate) struct If;

impl ScalarKernel for If {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, coercibility) = choice::choice_type(&arguments[1..], context, "if")?;
        let nullable = derive::any_nullable(&arguments[1..]);
        Ok(Signature::new(
            vec![SqlType::boolean(), ty.clone(), ty.clone()],
            ty,
            nullable,
        )
        .with_coercibility(coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let conditions = input::bools(&arguments[0])?;
        choice::pick(&arguments[1..], &signature.result, row_count, |row| {
            Some(usize::from(conditions.get(row) != Some(true)))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("if", &[i(1), i(2), i(3)], "2"),
            ("if", &[i(0), t("yes"), t("no")], "no"),
            ("if", &[NULL, i(2), t("three")], "three"),
        ]);
    }
}
