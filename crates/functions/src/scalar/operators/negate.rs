//! Unary `-`.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result, SqlType};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// Unary `-`
#[derive(Debug)]
pub(crate) struct Negate;

impl ScalarKernel for Negate {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let argument = &arguments[0];
        let (ty, result) = match numeric::kind_of_argument(argument) {
            _ if argument.ty.is_temporal() => (SqlType::double(), derive::double_of(argument)),
            numeric::Kind::Integer => {
                let ty = numeric::integer_argument(argument.ty);
                // The literal 9223372036854775808 is unsigned; its negation is the smallest BIGINT.
                let width = ty.length + u32::from(ty.unsigned);
                let result = numeric::integer_result(width, false);
                (ty, result)
            }
            numeric::Kind::Decimal => {
                let ty = numeric::decimal_argument(argument);
                (
                    ty.clone(),
                    SqlType {
                        unsigned: false,
                        ..ty
                    },
                )
            }
            numeric::Kind::Double => (SqlType::double(), derive::double_of(argument)),
        };
        Ok(Signature::new(vec![ty], result, argument.nullable))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let argument = &arguments[0];
        match signature.result.physical() {
            PhysicalType::Float64 => {
                let values = input::floats(argument)?;
                output::floats(row_count, |row| Ok(values.get(row).map(|value| -value)))
            }
            PhysicalType::Int64 => {
                let values = input::any_ints(argument)?;
                output::ints(row_count, |row| match values.get(row) {
                    None => Ok(None),
                    Some(value) => i64::try_from(-value).map(Some).map_err(|_| {
                        let text = signature
                            .text
                            .as_deref()
                            .map_or_else(|| format!("-({value})"), str::to_owned);
                        output::out_of_range("BIGINT", Some(&text))
                    }),
                })
            }
            _ => {
                let values = input::decimals(argument, signature.arguments[0].decimals)?;
                output::decimals(row_count, &signature.result, |row| {
                    Ok(values.get(row).map(i256::wrapping_neg))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, f, i, u};

    #[test]
    fn values() {
        check(&[
            ("negate", &[i(5)], "-5"),
            ("negate", &[d("-1.50")], "1.50"),
            ("negate", &[f(2.5)], "-2.5"),
            ("negate", &[u(1 << 63)], "-9223372036854775808"),
            (
                "negate",
                &[i(i64::MIN)],
                "ERROR 1690 (22003): BIGINT value is out of range in '-(-9223372036854775808)'",
            ),
        ]);
    }
}
