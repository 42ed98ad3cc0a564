//! ISNULL(value)

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, choice, output};

/// ISNULL()
#[derive(Debug)]
pub(crate) struct IsNull;

impl ScalarKernel for IsNull {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![arguments[0].ty.clone()],
            SqlType::boolean(),
            false,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        output::bools(row_count, |row| {
            Ok(Some(choice::is_null(&arguments[0], row)))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i};

    #[test]
    fn values() {
        check(&[("isnull", &[NULL], "1"), ("isnull", &[i(0)], "0")]);
    }
}
