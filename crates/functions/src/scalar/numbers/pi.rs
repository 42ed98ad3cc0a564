//! PI()

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType, Value};

use crate::scalar::ScalarFunction;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// PI()
#[derive(Debug)]
pub(crate) struct Pi;

impl ScalarFunction for Pi {
    fn names(&self) -> &'static [&'static str] {
        &["pi"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        0..=0
    }

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
