//! `a / b`: exact for exact operands, with `div_precision_increment` more decimals than the dividend.

use std::sync::Arc;

use arrow_array::types::Decimal128Type;
use arrow_array::{ArrayRef, Decimal128Array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use mayfly_types::decimal::Quotients;
use mayfly_types::decimal::native::max_unscaled_i128;
use mayfly_types::{PhysicalType, Result};

use super::numeric::{self, division_by_zero, division_signature};
use crate::input::{self, Numbers};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Call, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["/"], 2..=2, division_signature, evaluate)
    .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsIntegers(2)])
    .parameters(Parameters::OfOthers(ParameterType::Double))
    .printed(Printed::Infix("/"))];

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    if let PhysicalType::Float64 = call.signature.result.physical() {
        let (left, right) = (call.floats(0)?, call.floats(1)?);
        return output::floats(call.rows, |row| match (left.get(row), right.get(row)) {
            (Some(_), Some(0.0)) => division_by_zero(call.context),
            (Some(a), Some(b)) => call.finite(a / b, || format!("({a} / {b})")),
            _ => Ok(None),
        });
    }
    let result = &call.signature.result;
    let scale = result.decimals;
    let quotients = Quotients::new(call.ty(0).decimals, call.ty(1).decimals, scale);
    if let PhysicalType::Decimal128(_) = result.physical()
        && let Some(left) = input::narrow(call.decimals(0)?)
        && let Some(right) = input::narrow(call.decimals(1)?)
        && let Some(array) = small(call, left, right, quotients)
    {
        return Ok(array);
    }
    numeric::decimal_rows(call, |a, b| match a.divide(b, scale) {
        None => division_by_zero(call.context),
        Some(Ok(quotient)) => Ok(Some(quotient)),
        Some(Err(_)) => Err(call.out_of_range("DECIMAL", || format!("({a} / {b})"))),
    })
}

/// The quotients, if all numbers are small and no divisor is zero.
fn small(
    call: &Call<'_>,
    left: Numbers<'_, Decimal128Type>,
    right: Numbers<'_, Decimal128Type>,
    quotients: Quotients,
) -> Option<ArrayRef> {
    let result = &call.signature.result;
    let most = max_unscaled_i128(u8::try_from(result.length).ok()?);
    let mut values = Vec::with_capacity(call.rows);
    let mut valid = BooleanBufferBuilder::new(call.rows);
    for row in 0..call.rows {
        let pair = left.get(row).zip(right.get(row));
        valid.append(pair.is_some());
        values.push(match pair {
            None => 0,
            Some((a, b)) => quotients
                .small_quotient(a, b)
                .filter(|quotient| quotient.abs() <= most)?,
        });
    }
    let nulls = Some(NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0);
    let array = Decimal128Array::new(values.into(), nulls);
    Some(Arc::new(array.with_data_type(result.physical().arrow())))
}
