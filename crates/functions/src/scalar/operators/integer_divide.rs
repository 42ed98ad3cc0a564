//! `a DIV b`: the integer part of the quotient.

use arrow_array::ArrayRef;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMALS_NOT_FIXED};
use mayfly_types::{Result, SqlType, Value};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The most digits that a result is said to have.
const DIGITS_MAX: u32 = 21;

/// The decimals of an operand that says nothing of them, a text or a FLOAT: with room for each FLOAT.
const INEXACT_SCALE: u8 = 26;

/// The digits of an operand before the point, as MySQL counts them.
fn whole_digits(operand: &Argument<'_>) -> u32 {
    match numeric::kind_of(operand.ty) {
        _ if matches!(operand.constant, Some(Value::Null)) => 0,
        _ if operand.ty.is_temporal() => numeric::integer_digits(operand),
        numeric::Kind::Integer => numeric::integer_digits(operand),
        numeric::Kind::Decimal => operand.ty.length.saturating_sub(operand.ty.decimals.into()),
        numeric::Kind::Double => {
            u32::try_from(derive::character_length(operand.ty)).unwrap_or(DIGITS_MAX)
        }
    }
}

fn decimals(operand: &Argument<'_>) -> u32 {
    match numeric::kind_of(operand.ty) {
        numeric::Kind::Integer => 0,
        numeric::Kind::Decimal => operand.ty.decimals.into(),
        numeric::Kind::Double if operand.ty.is_numeric() => operand.ty.decimals.into(),
        numeric::Kind::Double => DECIMALS_NOT_FIXED.into(),
    }
}

/// DIV()
#[derive(Debug)]
pub(crate) struct IntegerDivide;

impl ScalarKernel for IntegerDivide {
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
                } else if numeric::kind_of(argument.ty) == numeric::Kind::Double {
                    SqlType::decimal(DECIMAL_PRECISION_MAX, INEXACT_SCALE)
                } else {
                    numeric::decimal_argument(argument)
                }
            })
            .collect();
        let mut operands = arguments.iter();
        let unsigned = operands.any(|argument| argument.ty.unsigned);
        // A divisor less than 1 makes as many digits more as it has decimals.
        let digits = whole_digits(&arguments[0]) + decimals(&arguments[1]);
        let length = digits.min(DIGITS_MAX) + u32::from(!unsigned);
        let result = numeric::integer_result(length, unsigned);
        Ok(Signature::new(types, result, true))
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
