//! INTERVAL(n, a, b, …): how many of the rising bounds n has reached.

use arrow_array::ArrayRef;
use mayfly_types::common_type::wider_decimal;
use mayfly_types::decimal::decimal_of_numeric;
use mayfly_types::{Result, SqlType, TypeKind};

use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// INTERVAL()
#[derive(Debug)]
pub(crate) struct Interval;

impl ScalarKernel for Interval {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = if arguments
            .iter()
            .all(|argument| numeric::is_integer(argument.ty))
        {
            arguments
                .iter()
                .map(|argument| numeric::integer_argument(argument.ty))
                .collect()
        } else if arguments.iter().all(|argument| is_exact(argument.ty)) {
            let types = arguments
                .iter()
                .map(|argument| decimal_of_numeric(argument.ty));
            let all = types.reduce(|a, b| wider_decimal(&a, &b));
            vec![all.unwrap_or_else(SqlType::double); arguments.len()]
        } else {
            vec![SqlType::double(); arguments.len()]
        };
        Ok(Signature::new(types, derive::int_of_width(2), false))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if signature.arguments[0].physical() == mayfly_types::PhysicalType::Float64 {
            let values: Vec<_> = arguments.iter().map(input::floats).collect::<Result<_>>()?;
            return output::ints(row_count, |row| {
                Ok(Some(place(values.iter().map(|value| value.get(row)))))
            });
        }
        if signature.arguments[0].kind == TypeKind::Decimal {
            let scale = signature.arguments[0].decimals;
            let values: Vec<_> = arguments
                .iter()
                .map(|column| input::decimals(column, scale))
                .collect::<Result<_>>()?;
            return output::ints(row_count, |row| {
                Ok(Some(place(values.iter().map(|value| value.get(row)))))
            });
        }
        let values: Vec<_> = arguments
            .iter()
            .map(input::any_ints)
            .collect::<Result<_>>()?;
        output::ints(row_count, |row| {
            Ok(Some(place(values.iter().map(|value| value.get(row)))))
        })
    }
}

/// Whether a DECIMAL holds all values of a type.
fn is_exact(ty: &SqlType) -> bool {
    numeric::is_integer(ty) || ty.kind == TypeKind::Decimal
}

/// How many bounds stand before the first that is larger; a bound that is NULL counts as reached.
fn place<T: PartialOrd>(mut values: impl Iterator<Item = Option<T>>) -> i64 {
    let Some(Some(wanted)) = values.next() else {
        return -1;
    };
    values
        .take_while(|bound| bound.as_ref().is_none_or(|bound| *bound <= wanted))
        .count() as i64
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, i};

    #[test]
    fn values() {
        check(&[
            (
                "interval",
                &[i(23), i(1), i(15), i(17), i(30), i(44), i(200)],
                "3",
            ),
            ("interval", &[i(10), i(1), i(10), i(100), i(1000)], "2"),
            ("interval", &[i(22), i(23), i(30), i(44), i(200)], "0"),
            ("interval", &[NULL, i(1)], "-1"),
            ("interval", &[i(5), i(1), NULL, i(10)], "2"),
            ("interval", &[d("1.5"), i(1), i(2)], "1"),
            (
                "interval",
                &[i(i64::MAX), i(1), d("9223372036854775807.5")],
                "1",
            ),
        ]);
    }
}
