//! `a - b`

use arrow_array::ArrayRef;
use mayfly_types::decimal::{Decimal, DecimalOperation, DecimalOverflow};
use mayfly_types::{Result, SqlMode};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext};

/// `-`
#[derive(Debug)]
pub(crate) struct Subtract;

impl ScalarKernel for Subtract {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut signature = numeric::signature(arguments, DecimalOperation::Subtract, context)?;
        if context.sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION) {
            signature.result.unsigned = false;
        }
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        numeric::evaluate::<Self>(arguments, row_count, signature)
    }
}

impl numeric::Arithmetic for Subtract {
    const SYMBOL: &'static str = "-";
    const ALIGNS_SCALES: bool = true;

    #[inline]
    fn signed(a: i64, b: i64) -> (i64, bool) {
        a.overflowing_sub(b)
    }

    #[inline]
    fn unsigned(a: u64, b: u64) -> (u64, bool) {
        a.overflowing_sub(b)
    }

    #[inline]
    fn wide(a: i128, b: i128) -> i128 {
        a - b
    }

    #[inline]
    fn double(a: f64, b: f64) -> f64 {
        a - b
    }

    #[inline]
    fn narrow_decimal(a: i128, b: i128) -> i128 {
        a.wrapping_sub(b)
    }

    fn decimal(a: Decimal, b: Decimal) -> Result<Decimal, DecimalOverflow> {
        a.subtract(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, i, u};

    #[test]
    fn values() {
        check(&[
            ("-", &[i(1), i(2)], "-1"),
            ("-", &[d("1.0"), d("0.25")], "0.75"),
            (
                "-",
                &[u(1), i(2)],
                "ERROR 1690 (22003): BIGINT UNSIGNED value is out of range in '(1 - 2)'",
            ),
            (
                "-",
                &[i(i64::MIN), i(1)],
                "ERROR 1690 (22003): BIGINT value is out of range in '(-9223372036854775808 - 1)'",
            ),
        ]);
    }
}
