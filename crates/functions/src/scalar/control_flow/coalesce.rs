//! COALESCE(value, …) and IFNULL(value, value): the first that is not NULL.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, choice};

/// One of the two, which differ in how many arguments they take.
#[derive(Debug)]
pub(crate) struct Coalesce {
    names: &'static [&'static str],
}

/// COALESCE()
pub(crate) static COALESCE: Coalesce = Coalesce {
    names: &["coalesce"],
};
/// IFNULL()
pub(crate) static IFNULL: Coalesce = Coalesce { names: &["ifnull"] };

impl ScalarKernel for Coalesce {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, coercibility) = choice::choice_type(arguments, context, self.names[0])?;
        let nullable = arguments.iter().all(|argument| argument.nullable);
        Ok(
            Signature::new(vec![ty.clone(); arguments.len()], ty, nullable)
                .with_coercibility(coercibility),
        )
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        choice::pick(arguments, &signature.result, row_count, |row| {
            arguments
                .iter()
                .position(|argument| !choice::is_null(argument, row))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, i, t, u};

    #[test]
    fn values() {
        check(&[
            ("coalesce", &[NULL, i(1)], "1"),
            ("coalesce", &[NULL, NULL, NULL], "NULL"),
            ("coalesce", &[NULL, d("3.5"), t("x")], "3.5"),
            ("coalesce", &[i(1), d("3.5")], "1.0"),
            (
                "coalesce",
                &[NULL, u(u64::MAX), i(-1)],
                "18446744073709551615",
            ),
            ("ifnull", &[i(1), i(0)], "1"),
            ("ifnull", &[NULL, t("yes")], "yes"),
        ]);
    }
}
