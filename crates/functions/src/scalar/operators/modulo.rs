//! `a % b`: the remainder, with the sign of the dividend.

use arrow_array::ArrayRef;
use mayfly_types::decimal::DecimalOperation;
use mayfly_types::{PhysicalType, Result};

use super::numeric::{self, division_by_zero};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["%", "mod"], 2..=2, signature, evaluate)
    .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsIntegers(2)])
    .parameters(Parameters::OfOthers(ParameterType::Double))
    .printed(Printed::Infix("%"))];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = numeric::signature(binding, DecimalOperation::Remainder);
    signature.nullable = true;
    if signature.result.is_integer() {
        let digits = binding.arguments.iter().map(numeric::integer_digits).max();
        let dividend = &binding.arguments[0];
        let unsigned = numeric::is_unsigned(dividend.ty) || derive::is_hexadecimal(dividend);
        // The width includes a sign, even for an unsigned result.
        signature.result = numeric::integer_result(digits.unwrap_or(20) + 1, unsigned);
    }
    Ok(signature)
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    match call.signature.result.physical() {
        PhysicalType::Float64 => {
            let (left, right) = (call.floats(0)?, call.floats(1)?);
            output::floats(call.rows, |row| match (left.get(row), right.get(row)) {
                (Some(_), Some(0.0)) => division_by_zero(call.context),
                (Some(a), Some(b)) => Ok(Some(a % b)),
                _ => Ok(None),
            })
        }
        PhysicalType::Int64 | PhysicalType::UInt64 => {
            let fast = numeric::by_positive_constant(call, |a, b| a % b, |a, b| a % b)?;
            if let Some(remainders) = fast {
                return Ok(remainders);
            }
            let (left, right) = (call.any_ints(0)?, call.any_ints(1)?);
            let remainder = |row| match (left.get(row), right.get(row)) {
                (Some(_), Some(0)) => division_by_zero(call.context),
                (Some(a), Some(b)) => Ok(Some(a % b)),
                _ => Ok(None),
            };
            // A remainder lies between 0 and the dividend, so it fits the dividend's type.
            numeric::integers_of_type(call, remainder, |row, kind| {
                call.out_of_range(kind, || numeric::text_of_row(call, "%", row))
            })
        }
        _ => numeric::decimal_rows(call, |a, b| match a.remainder(b) {
            None => division_by_zero(call.context),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(_)) => Err(call.out_of_range("DECIMAL", || format!("({a} % {b})"))),
        }),
    }
}
