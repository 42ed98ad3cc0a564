//! ABS(x): the absolute value.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result, SqlType};

use super::rounding;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// ABS()
#[derive(Debug)]
pub(crate) struct Abs;

impl ScalarKernel for Abs {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, result) = rounding::number(&arguments[0]);
        let result = SqlType {
            unsigned: result.unsigned || arguments[0].ty.unsigned,
            ..result
        };
        Ok(Signature::new(vec![ty], result, arguments[0].nullable))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        match signature.result.physical() {
            PhysicalType::Float64 => rounding::doubles(arguments, row_count, f64::abs),
            PhysicalType::Int64 => {
                let values = input::ints(&arguments[0])?;
                output::ints(row_count, |row| match values.get(row) {
                    None => Ok(None),
                    Some(value) => value.checked_abs().map(Some).ok_or_else(|| {
                        output::out_of_range(
                            "BIGINT",
                            Some(
                                signature
                                    .text
                                    .as_deref()
                                    .unwrap_or(&format!("abs({value})")),
                            ),
                        )
                    }),
                })
            }
            PhysicalType::UInt64 => rounding::unchanged(&arguments[0], signature, row_count),
            _ => {
                let values = input::decimals(&arguments[0], signature.arguments[0].decimals)?;
                output::decimals(row_count, &signature.result, |row| {
                    Ok(values.get(row).map(i256::wrapping_abs))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, f, i, u};

    #[test]
    fn values() {
        check(&[
            ("abs", &[i(-32)], "32"),
            ("abs", &[d("-1.50")], "1.50"),
            ("abs", &[f(-2.5)], "2.5"),
            ("abs", &[u(7)], "7"),
            ("abs", &[NULL], "NULL"),
            (
                "abs",
                &[i(i64::MIN)],
                "ERROR 1690 (22003): BIGINT value is out of range in 'abs(-9223372036854775808)'",
            ),
        ]);
    }
}
