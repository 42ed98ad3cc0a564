//! SIGN(x): -1, 0 or 1.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result};

use super::rounding;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] =
    &[Row::new(&["sign"], 1..=1, signature, evaluate).with(&[Fact::Strict])];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let (ty, _) = rounding::number(&binding.arguments[0]);
    let result = derive::bigint_of_width(21);
    Ok(Signature::new(vec![ty], result, binding.any_nullable()))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    match call.ty(0).physical() {
        PhysicalType::Float64 => {
            let values = call.floats(0)?;
            let sign = |value: f64| i64::from(value > 0.0) - i64::from(value < 0.0);
            output::ints(call.rows, |row| Ok(values.get(row).map(sign)))
        }
        PhysicalType::Decimal128(_) | PhysicalType::Decimal256(_) => {
            let values = call.decimals(0)?;
            let sign = |value: i256| value.cmp(&i256::ZERO) as i64;
            output::ints(call.rows, |row| Ok(values.get(row).map(sign)))
        }
        _ => {
            let values = call.any_ints(0)?;
            output::ints(call.rows, |row| {
                Ok(values.get(row).map(|value| value.signum() as i64))
            })
        }
    }
}
