//! SIGN(x): -1, 0 or 1.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result};

use super::rounding;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// SIGN()
#[derive(Debug)]
pub(crate) struct Sign;

impl ScalarKernel for Sign {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, _) = rounding::number(&arguments[0]);
        Ok(Signature::new(
            vec![ty],
            derive::bigint_of_width(21),
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let argument = &arguments[0];
        let ty = &signature.arguments[0];
        match ty.physical() {
            PhysicalType::Float64 => {
                let values = input::floats(argument)?;
                output::ints(row_count, |row| {
                    Ok(values
                        .get(row)
                        .map(|value| i64::from(value > 0.0) - i64::from(value < 0.0)))
                })
            }
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let values = input::decimals(argument, scale)?;
                output::ints(row_count, |row| {
                    Ok(values.get(row).map(|value| value.cmp(&i256::ZERO) as i64))
                })
            }
            _ => {
                let values = input::any_ints(argument)?;
                output::ints(row_count, |row| {
                    Ok(values.get(row).map(|value| value.signum() as i64))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, f, i};

    #[test]
    fn values() {
        check(&[
            ("sign", &[i(-32)], "-1"),
            ("sign", &[d("0.00")], "0"),
            ("sign", &[f(234.0)], "1"),
        ]);
    }
}
