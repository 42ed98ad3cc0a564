//! CEILING(x) and FLOOR(x): the nearest integer above and below.

use arrow_array::ArrayRef;
use mayfly_types::decimal::Decimal;
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use super::rounding;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// CEILING() or FLOOR().
#[derive(Debug)]
pub(crate) struct WholeNumber {
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
}

/// CEILING()
pub(crate) static CEILING: WholeNumber = WholeNumber {
    double: f64::ceil,
    decimal: Decimal::ceiling,
};
/// FLOOR()
pub(crate) static FLOOR: WholeNumber = WholeNumber {
    double: f64::floor,
    decimal: Decimal::floor,
};

impl ScalarKernel for WholeNumber {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let (ty, same) = rounding::number(&arguments[0]);
        let result = match same.physical() {
            // A decimal's integer part is a BIGINT while it surely fits one.
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let digits = same.length.saturating_sub(u32::from(scale)) + 1;
                if digits <= 18 {
                    derive::bigint_of_width(21)
                } else {
                    SqlType::decimal(u8::try_from(digits).unwrap_or(u8::MAX), 0)
                }
            }
            PhysicalType::Float64 => SqlType::double(),
            // Integers are whole numbers of the widest type.
            _ => SqlType {
                unsigned: same.unsigned,
                length: 21,
                ..derive::bigint_of_width(21)
            },
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
        let scale = signature.arguments[0].decimals;
        match signature.arguments[0].physical() {
            PhysicalType::Float64 => rounding::doubles(arguments, row_count, self.double),
            PhysicalType::Decimal128(_) | PhysicalType::Decimal256(_) => {
                let values = input::decimals(&arguments[0], scale)?;
                let whole = |row: usize| {
                    values
                        .get(row)
                        .map(|value| (self.decimal)(Decimal::new(value, scale)))
                };
                if signature.result.kind == TypeKind::BigInt {
                    output::ints(row_count, |row| {
                        Ok(
                            whole(row)
                                .map(|value| value.to_i64().unwrap_or_else(|extreme| extreme)),
                        )
                    })
                } else {
                    output::decimals(row_count, &signature.result, |row| {
                        Ok(whole(row).map(|value| value.unscaled))
                    })
                }
            }
            _ => rounding::unchanged(&arguments[0], signature, row_count),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, d, f, i};

    #[test]
    fn values() {
        check(&[
            ("ceiling", &[d("1.23")], "2"),
            ("ceil", &[d("-1.23")], "-1"),
            ("floor", &[d("-1.23")], "-2"),
            ("floor", &[f(1.9)], "1"),
            ("floor", &[i(5)], "5"),
            (
                "floor",
                &[d("123456789012345678901.5")],
                "123456789012345678901",
            ),
        ]);
    }
}
