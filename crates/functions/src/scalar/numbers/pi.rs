//! PI()

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType, Value};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// PI()
#[derive(Debug)]
pub(crate) struct Pi;

impl ScalarKernel for Pi {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let _ = arguments;
        Ok(Signature::new(
            Vec::new(),
            SqlType {
                length: 8,
                decimals: 6,
                ..SqlType::double()
            },
            false,
        ))
    }

    fn evaluate(
        &self,
        _arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        Ok(output::repeat(
            &Value::Float(std::f64::consts::PI),
            &signature.result,
            row_count,
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;

    #[test]
    fn values() {
        check(&[("pi", &[], "3.141592653589793")]);
    }
}
