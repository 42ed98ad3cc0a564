//! `a + b`

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::decimal::{Decimal, DecimalOperation, DecimalOverflow};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext};

/// `+`
#[derive(Debug)]
pub(crate) struct Add;

impl ScalarKernel for Add {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        numeric::signature(arguments, DecimalOperation::Add, context)
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

impl numeric::Arithmetic for Add {
    const SYMBOL: &'static str = "+";
    const ALIGNS_SCALES: bool = true;

    #[inline]
    fn signed(a: i64, b: i64) -> (i64, bool) {
        a.overflowing_add(b)
    }

    #[inline]
    fn unsigned(a: u64, b: u64) -> (u64, bool) {
        a.overflowing_add(b)
    }

    #[inline]
    fn wide(a: i128, b: i128) -> i128 {
        a + b
    }

    #[inline]
    fn double(a: f64, b: f64) -> f64 {
        a + b
    }

    #[inline]
    fn narrow_decimal(a: i128, b: i128) -> i128 {
        a.wrapping_add(b)
    }

    fn decimal(a: Decimal, b: Decimal) -> Result<Decimal, DecimalOverflow> {
        a.add(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, f, i, u};

    #[test]
    fn values() {
        check(&[
            ("+", &[i(1), i(2)], "3"),
            ("+", &[i(-1), u(2)], "1"),
            ("+", &[d("1.5"), i(2)], "3.5"),
            ("+", &[d("1.25"), d("0.5")], "1.75"),
            ("+", &[f(0.5), i(1)], "1.5"),
            ("+", &[NULL, i(1)], "NULL"),
            ("+", &[u(u64::MAX), i(-1)], "18446744073709551614"),
            (
                "+",
                &[i(i64::MAX), i(1)],
                "ERROR 1690 (22003): BIGINT value is out of range in '(9223372036854775807 + 1)'",
            ),
            (
                "+",
                &[u(1), i(-2)],
                "ERROR 1690 (22003): BIGINT UNSIGNED value is out of range in '(1 + -2)'",
            ),
            (
                "+",
                &[f(1.7e308), f(1.7e308)],
                "ERROR 1690 (22003): DOUBLE value is out of range in '(1.7e308 + 1.7e308)'",
            ),
        ]);
    }
}
