//! `a / b`: exact for exact operands, with `div_precision_increment` more decimals than the dividend.

use arrow_array::ArrayRef;
use mayfly_types::{PhysicalType, Result};

use super::numeric::{self, division_by_zero, division_signature};
use crate::scalar::Row;
use crate::{Call, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["/"], 2..=2, division_signature, evaluate)];

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    if let PhysicalType::Float64 = call.signature.result.physical() {
        let (left, right) = (call.floats(0)?, call.floats(1)?);
        return output::floats(call.rows, |row| match (left.get(row), right.get(row)) {
            (Some(_), Some(0.0)) => division_by_zero(call.context),
            (Some(a), Some(b)) => call.finite(a / b, || format!("({a} / {b})")),
            _ => Ok(None),
        });
    }
    let scale = call.signature.result.decimals;
    numeric::decimal_rows(call, |a, b| match a.divide(b, scale) {
        None => division_by_zero(call.context),
        Some(Ok(quotient)) => Ok(Some(quotient)),
        Some(Err(_)) => Err(call.out_of_range("DECIMAL", || format!("({a} / {b})"))),
    })
}
