//! `a XOR b`. AND, OR and NOT are no calls: the planner has expressions for them, because their
//! operands are evaluated only as far as is needed.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// XOR
#[derive(Debug)]
pub(crate) struct Xor;

impl ScalarKernel for Xor {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::boolean(), SqlType::boolean()],
            SqlType::boolean(),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let left = input::bools(&arguments[0])?;
        let right = input::bools(&arguments[1])?;
        output::bools(row_count, |row| {
            Ok(left.get(row).zip(right.get(row)).map(|(a, b)| a != b))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i};

    #[test]
    fn values() {
        check(&[
            ("xor", &[i(1), i(1)], "0"),
            ("xor", &[i(1), i(0)], "1"),
            ("xor", &[i(1), NULL], "NULL"),
        ]);
    }
}
