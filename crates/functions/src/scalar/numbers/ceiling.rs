//! CEILING(x) and FLOOR(x): the nearest integer above and below.

use arrow_array::ArrayRef;
use mayfly_types::decimal::Decimal;
use mayfly_types::{PhysicalType, Result, SqlType, TypeKind};

use super::rounding;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, Parameters};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["ceiling", "ceil"], 1..=1, signature, |call| {
        evaluate(call, f64::ceil, Decimal::ceiling)
    })
    .with(&[Fact::Strict, Fact::ReadsDouble])
    .parameters(Parameters::OfContext),
    Row::new(&["floor"], 1..=1, signature, |call| {
        evaluate(call, f64::floor, Decimal::floor)
    })
    .with(&[Fact::Strict, Fact::ReadsDouble])
    .parameters(Parameters::OfContext),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let (ty, same) = rounding::number(&binding.arguments[0]);
    let result = match same.physical() {
        // A decimal's integer part is a BIGINT if it always fits one.
        PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
            match same.length.saturating_sub(u32::from(scale)) + 1 {
                ..=18 => derive::bigint_of_width(21),
                digits => SqlType::decimal(u8::try_from(digits).unwrap_or(u8::MAX), 0),
            }
        }
        PhysicalType::Float64 => SqlType::double(),
        // Integers are whole numbers of the widest type.
        _ => SqlType {
            unsigned: same.unsigned,
            ..derive::bigint_of_width(21)
        },
    };
    Ok(Signature::new(vec![ty], result, binding.any_nullable()))
}

/// CEILING() or FLOOR(), of a DOUBLE and of a DECIMAL.
fn evaluate(
    call: &Call<'_>,
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
) -> Result<ArrayRef> {
    match call.ty(0).physical() {
        PhysicalType::Float64 => rounding::doubles(call, double),
        PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
            let values = call.decimals(0)?;
            let whole = |row: usize| {
                values
                    .get(row)
                    .map(|value| decimal(Decimal::new(value, scale)))
            };
            if call.signature.result.kind == TypeKind::BigInt {
                output::ints(call.rows, |row| {
                    Ok(whole(row).map(|value| value.to_i64().unwrap_or_else(|extreme| extreme)))
                })
            } else {
                output::decimals(call.rows, &call.signature.result, |row| {
                    Ok(whole(row).map(|value| value.unscaled))
                })
            }
        }
        _ => Ok(call.unchanged(0)),
    }
}
