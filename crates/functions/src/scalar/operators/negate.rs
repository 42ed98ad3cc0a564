//! Unary `-`.

use arrow_array::ArrayRef;
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result, SqlType};

use super::numeric;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, Parameters, Printed};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["negate"], 1..=1, signature, evaluate)
    .printed(Printed::Prefix("-"))
    .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsDouble])
    .parameters(Parameters::OfContext)
    .total_where(is_total)];

/// Whether every result fits its type. The least BIGINT has no negation.
fn is_total(signature: &Signature) -> bool {
    let argument = &signature.arguments[0];
    match signature.result.physical() {
        PhysicalType::Int64 => argument.integer_bits().is_some_and(|bits| bits < i64::BITS),
        _ => true,
    }
}

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let argument = &binding.arguments[0];
    let (ty, result) = match numeric::kind_of_argument(argument) {
        _ if argument.ty.is_temporal() => (SqlType::double(), derive::double_of(argument)),
        numeric::Kind::Integer => {
            let ty = numeric::integer_argument(argument.ty);
            // The literal 9223372036854775808 is unsigned; its negation is the smallest BIGINT.
            let width = ty.length + u32::from(ty.unsigned);
            (ty, numeric::integer_result(width, false))
        }
        numeric::Kind::Decimal => {
            let ty = numeric::decimal_argument(argument);
            let mut result = ty.clone();
            result.unsigned = false;
            (ty, result)
        }
        numeric::Kind::Double => (SqlType::double(), derive::double_of(argument)),
    };
    Ok(Signature::new(vec![ty], result, argument.nullable))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let result = &call.signature.result;
    match result.physical() {
        PhysicalType::Float64 => {
            let values = call.floats(0)?;
            output::floats(call.rows, |row| Ok(values.get(row).map(|value| -value)))
        }
        PhysicalType::Int64 => {
            let values = call.any_ints(0)?;
            output::ints(call.rows, |row| match values.get(row) {
                None => Ok(None),
                Some(value) => i64::try_from(-value)
                    .map(Some)
                    .map_err(|_| call.out_of_range("BIGINT", || format!("-({value})"))),
            })
        }
        _ => {
            let values = call.decimals(0)?;
            output::decimals(call.rows, result, |row| {
                Ok(values.get(row).map(i256::wrapping_neg))
            })
        }
    }
}
