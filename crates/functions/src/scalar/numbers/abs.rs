//! ABS(x): the absolute value.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result, SqlType};

use super::rounding;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["abs"], 1..=1, signature, evaluate)
    .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsDouble])
    .parameters(Parameters::OfContext)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let argument = &binding.arguments[0];
    let (ty, result) = rounding::number(argument);
    let result = SqlType {
        unsigned: result.unsigned || argument.ty.unsigned,
        ..result
    };
    Ok(Signature::new(vec![ty], result, argument.nullable))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    match call.signature.result.physical() {
        PhysicalType::Float64 => rounding::doubles(call, f64::abs),
        PhysicalType::Int64 => {
            let values = call.ints(0)?;
            let fail = |value| call.out_of_range("BIGINT", || format!("abs({value})"));
            output::ints(call.rows, |row| match values.get(row) {
                None => Ok(None),
                Some(value) => value.checked_abs().map(Some).ok_or_else(|| fail(value)),
            })
        }
        PhysicalType::UInt64 => Ok(call.unchanged(0)),
        _ => {
            let values = call.decimals(0)?;
            output::decimals(call.rows, &call.signature.result, |row| {
                Ok(values.get(row).map(i256::wrapping_abs))
            })
        }
    }
}
