//! `a / b`: exact for exact operands, with `div_precision_increment` more decimals than the dividend.

use arrow_array::ArrayRef;
use mayfly_types::{PhysicalType, Result};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// `/`
#[derive(Debug)]
pub(crate) struct Divide;

impl ScalarKernel for Divide {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut signature = numeric::division_signature(arguments, context);
        signature.nullable = true;
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if let PhysicalType::Float64 = signature.result.physical() {
            let (left, right) = (input::floats(&arguments[0])?, input::floats(&arguments[1])?);
            return output::floats(row_count, |row| {
                let (Some(a), Some(b)) = (left.get(row), right.get(row)) else {
                    return Ok(None);
                };
                if b == 0.0 {
                    return numeric::division_by_zero(context);
                }
                numeric::finite(a / b, || numeric::text(signature, "/", &[&a, &b])).map(Some)
            });
        }
        let scale = signature.result.decimals;
        numeric::decimal_rows(arguments, row_count, signature, |a, b| {
            match a.divide(b, scale) {
                None => numeric::division_by_zero(context),
                Some(Ok(quotient)) => Ok(Some(quotient)),
                Some(Err(_)) => Err(output::out_of_range(
                    "DECIMAL",
                    Some(&numeric::text(signature, "/", &[&a, &b])),
                )),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, f, i};

    #[test]
    fn values() {
        check(&[
            ("/", &[i(10), i(4)], "2.5000"),
            ("/", &[i(2), i(3)], "0.6667"),
            ("/", &[i(-2), i(3)], "-0.6667"),
            ("/", &[d("1.00"), d("3.0")], "0.333333"),
            ("/", &[f(1.0), i(4)], "0.25"),
            ("/", &[i(1), i(0)], "NULL +1365"),
            ("/", &[f(1.0), f(0.0)], "NULL +1365"),
            ("/", &[NULL, i(0)], "NULL"),
        ]);
    }
}
