//! `a DIV b`: the integer part of the quotient.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::numeric;
use crate::scalar::ScalarFunction;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// DIV()
#[derive(Debug)]
pub(crate) struct IntegerDivide;

impl ScalarFunction for IntegerDivide {
    fn names(&self) -> &'static [&'static str] {
        &["div"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let exact_integers = arguments
            .iter()
            .all(|argument| numeric::is_integer(argument.ty));
        let types = arguments
            .iter()
            .map(|argument| {
                if exact_integers {
                    numeric::integer_argument(argument.ty)
                } else {
                    numeric::decimal_argument(argument)
                }
            })
            .collect();
        let unsigned = arguments.iter().any(|argument| argument.ty.unsigned);
        let length = if exact_integers {
            arguments[0].ty.length
        } else {
            arguments[0]
                .ty
                .length
                .saturating_sub(u32::from(arguments[0].ty.decimals))
        };
        Ok(Signature::new(
            types,
            numeric::integer_result(length.max(1), unsigned),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let fail = |row: usize, kind| -> mayfly_types::Error {
            output::out_of_range(
                kind,
                Some(&numeric::text_of_row(signature, "DIV", arguments, row)),
            )
        };
        let exact_integers = signature.arguments.iter().all(numeric::is_integer);
        if exact_integers
            && let Some(quotients) = numeric::by_positive_constant(
                arguments,
                row_count,
                signature,
                |a, b| a / b,
                |a, b| a / b,
            )?
        {
            return Ok(quotients);
        }
        let quotient = |row: usize| -> Result<Option<i128>> {
            if exact_integers {
                let (Some(a), Some(b)) = (
                    input::any_ints(&arguments[0])?.get(row),
                    input::any_ints(&arguments[1])?.get(row),
                ) else {
                    return Ok(None);
                };
                return match b {
                    0 => numeric::division_by_zero(context),
                    _ => Ok(Some(a / b)),
                };
            }
            let Some((a, b)) = numeric::decimal_pair(arguments, signature, row)? else {
                return Ok(None);
            };
            match a.divide_integer(b) {
                None => numeric::division_by_zero(context),
                Some(Ok(value)) => value
                    .unscaled
                    .to_i128()
                    .map(Some)
                    .ok_or_else(|| fail(row, "BIGINT")),
                Some(Err(_)) => Err(fail(row, "BIGINT")),
            }
        };
        if signature.result.unsigned {
            return output::uints(row_count, |row| match quotient(row)? {
                None => Ok(None),
                Some(value) => u64::try_from(value)
                    .map(Some)
                    .map_err(|_| fail(row, "BIGINT UNSIGNED")),
            });
        }
        output::ints(row_count, |row| match quotient(row)? {
            None => Ok(None),
            Some(value) => i64::try_from(value)
                .map(Some)
                .map_err(|_| fail(row, "BIGINT")),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, i};

    #[test]
    fn values() {
        check(&[
            ("div", &[i(5), i(2)], "2"),
            ("div", &[i(-5), i(2)], "-2"),
            ("div", &[d("5.9"), i(2)], "2"),
            ("div", &[d("3.0"), d("0.7")], "4"),
            ("div", &[i(5), i(0)], "NULL +1365"),
            (
                "div",
                &[i(i64::MIN), i(-1)],
                "ERROR 1690 (22003): BIGINT value is out of range in '(-9223372036854775808 DIV -1)'",
            ),
        ]);
    }
}
