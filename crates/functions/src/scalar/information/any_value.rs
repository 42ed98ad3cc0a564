//! ANY_VALUE(value) outside of a grouped query, and NAME_CONST(name, value): the value itself.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, choice};

/// ANY_VALUE()
#[derive(Debug)]
pub(crate) struct AnyValue;

impl ScalarKernel for AnyValue {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = choice::as_value(arguments[0].ty);
        Ok(Signature::new(vec![ty.clone()], ty, arguments[0].nullable)
            .with_coercibility(arguments[0].coercibility))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        choice::pick(arguments, &signature.result, row_count, |_| Some(0))
    }
}

/// NAME_CONST()
#[derive(Debug)]
pub(crate) struct NameConst;

impl ScalarKernel for NameConst {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        if arguments.iter().any(|argument| argument.constant.is_none()) {
            return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"NAME_CONST"]));
        }
        let ty = choice::as_value(arguments[1].ty);
        Ok(
            Signature::new(vec![arguments[0].ty.clone(), ty.clone()], ty, true)
                .with_coercibility(arguments[1].coercibility),
        )
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        choice::pick(&arguments[1..], &signature.result, row_count, |_| Some(0))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("any_value", &[t("x")], "x"),
            ("any_value", &[NULL], "NULL"),
            ("name_const", &[t("answer"), i(42)], "42"),
        ]);
    }
}
