//! `a * b`

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::decimal::{Decimal, DecimalOperation, DecimalOverflow};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext};

/// `*`
#[derive(Debug)]
pub(crate) struct Multiply;

impl ScalarKernel for Multiply {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        numeric::signature(arguments, DecimalOperation::Multiply, context)
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

impl numeric::Arithmetic for Multiply {
    const SYMBOL: &'static str = "*";
    const ALIGNS_SCALES: bool = false;

    #[inline]
    fn signed(a: i64, b: i64) -> (i64, bool) {
        a.overflowing_mul(b)
    }

    #[inline]
    fn unsigned(a: u64, b: u64) -> (u64, bool) {
        a.overflowing_mul(b)
    }

    #[inline]
    fn wide(a: i128, b: i128) -> i128 {
        a * b
    }

    #[inline]
    fn double(a: f64, b: f64) -> f64 {
        a * b
    }

    #[inline]
    fn narrow_decimal(a: i128, b: i128) -> i128 {
        a.wrapping_mul(b)
    }

    fn decimal(a: Decimal, b: Decimal) -> Result<Decimal, DecimalOverflow> {
        a.multiply(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, f, i, u};

    #[test]
    fn values() {
        check(&[
            ("*", &[i(3), i(-5)], "-15"),
            ("*", &[d("1.5"), d("2.25")], "3.375"),
            ("*", &[f(1.5), d("2.0")], "3"),
            (
                "*",
                &[u(u64::MAX), i(2)],
                "ERROR 1690 (22003): BIGINT UNSIGNED value is out of range in '(18446744073709551615 * 2)'",
            ),
        ]);
    }
}
