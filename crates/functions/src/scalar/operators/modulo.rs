//! `a % b`: the remainder, with the sign of the dividend.

use arrow_array::ArrayRef;
use mayfly_types::decimal::DecimalOperation;
use mayfly_types::{PhysicalType, Result};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// `%`
#[derive(Debug)]
pub(crate) struct Modulo;

impl ScalarKernel for Modulo {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut signature = numeric::signature(arguments, DecimalOperation::Remainder, context)?;
        signature.nullable = true;
        if signature.result.is_integer() {
            let digits = arguments.iter().map(numeric::integer_digits).max();
            let unsigned = numeric::is_unsigned(arguments[0].ty);
            // There is room for a sign, whether it may have one or not.
            signature.result = numeric::integer_result(digits.unwrap_or(20) + 1, unsigned);
        }
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        match signature.result.physical() {
            PhysicalType::Float64 => {
                let (left, right) = (input::floats(&arguments[0])?, input::floats(&arguments[1])?);
                output::floats(row_count, |row| match (left.get(row), right.get(row)) {
                    (Some(_), Some(0.0)) => numeric::division_by_zero(context),
                    (Some(a), Some(b)) => Ok(Some(a % b)),
                    _ => Ok(None),
                })
            }
            PhysicalType::Int64 | PhysicalType::UInt64 => {
                let (signed, unsigned) = (|a, b| a % b, |a, b| a % b);
                let fast = numeric::by_positive_constant(
                    arguments, row_count, signature, signed, unsigned,
                )?;
                if let Some(remainders) = fast {
                    return Ok(remainders);
                }
                let (left, right) = (
                    input::any_ints(&arguments[0])?,
                    input::any_ints(&arguments[1])?,
                );
                let remainder = |row: usize| match (left.get(row), right.get(row)) {
                    (Some(_), Some(0)) => numeric::division_by_zero(context),
                    (Some(a), Some(b)) => Ok(Some(a % b)),
                    _ => Ok(None),
                };
                // A remainder lies between 0 and the dividend, so it has the dividend's type.
                if signature.result.unsigned {
                    output::uints(row_count, |row| {
                        Ok(remainder(row)?.map(|value| value as u64))
                    })
                } else {
                    output::ints(row_count, |row| {
                        Ok(remainder(row)?.map(|value| value as i64))
                    })
                }
            }
            _ => numeric::decimal_rows(arguments, row_count, signature, |a, b| {
                match a.remainder(b) {
                    None => numeric::division_by_zero(context),
                    Some(Ok(value)) => Ok(Some(value)),
                    Some(Err(_)) => Err(output::out_of_range(
                        "DECIMAL",
                        Some(&numeric::text(signature, "%", &[&a, &b])),
                    )),
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, f, i, u};

    #[test]
    fn values() {
        check(&[
            ("%", &[i(234), i(10)], "4"),
            ("mod", &[i(-29), i(9)], "-2"),
            ("%", &[d("34.5"), i(3)], "1.5"),
            ("%", &[f(5.5), i(2)], "1.5"),
            ("%", &[i(29), i(0)], "NULL +1365"),
            ("%", &[u(u64::MAX), i(-10)], "5"),
            ("%", &[u(u64::MAX), i(10)], "5"),
            ("%", &[i(i64::MIN), u(10)], "-8"),
        ]);
    }
}
