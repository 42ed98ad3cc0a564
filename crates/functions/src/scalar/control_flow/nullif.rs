//! NULLIF(a, b): NULL when both are equal, the first otherwise.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::comparison::{Operator, compare};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, choice};

/// NULLIF()
#[derive(Debug)]
pub(crate) struct NullIf;

impl ScalarKernel for NullIf {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, coercibility) = choice::choice_type(&arguments[..1], context, "nullif")?;
        // Compared as the first: unlike for `=`, its value must stay what it is.
        Ok(Signature::new(vec![ty.clone(), ty.clone()], ty, true).with_coercibility(coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let equal = compare(
            Operator::NullSafeEqual,
            &arguments[0],
            &arguments[1],
            row_count,
            &signature.result,
        )?;
        choice::pick(&arguments[..1], &signature.result, row_count, |row| {
            (!equal.value(row)).then_some(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("nullif", &[i(1), i(1)], "NULL"),
            ("nullif", &[i(1), i(2)], "1"),
            ("nullif", &[t("a"), t("A")], "NULL"),
            ("nullif", &[i(1), NULL], "1"),
            ("nullif", &[NULL, i(1)], "NULL"),
        ]);
    }
}
