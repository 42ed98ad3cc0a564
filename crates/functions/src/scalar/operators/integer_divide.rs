//! `a DIV b`: the integer part of the quotient.

use arrow_array::ArrayRef;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMALS_NOT_FIXED};
use mayfly_types::{Result, SqlType, Value};

use super::numeric::{self, division_by_zero};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Argument, Binding, Call, Signature, derive};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["div"], 2..=2, signature, evaluate)
    .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsIntegers(2)])
    .parameters(Parameters::OfOthers(ParameterType::Double))
    .printed(Printed::Infix("DIV"))];

/// Maximum number of digits reported for a result.
const DIGITS_MAX: u32 = 21;

/// The decimals of an operand without fixed ones, a text or a FLOAT: enough for every FLOAT.
const INEXACT_SCALE: u8 = 26;

/// Integer digits of an operand, as MySQL counts them.
fn whole_digits(operand: &Argument<'_>) -> u32 {
    match numeric::kind_of(operand.ty) {
        _ if matches!(operand.constant, Some(Value::Null)) => 0,
        _ if operand.ty.is_temporal() => numeric::integer_digits(operand),
        numeric::Kind::Integer => numeric::integer_digits(operand),
        numeric::Kind::Decimal => operand.ty.length.saturating_sub(operand.ty.decimals.into()),
        numeric::Kind::Double => {
            u32::try_from(derive::character_length(operand.ty)).unwrap_or(DIGITS_MAX)
        }
    }
}

fn decimals(operand: &Argument<'_>) -> u32 {
    match numeric::kind_of(operand.ty) {
        numeric::Kind::Integer => 0,
        numeric::Kind::Decimal => operand.ty.decimals.into(),
        numeric::Kind::Double if operand.ty.is_numeric() => operand.ty.decimals.into(),
        numeric::Kind::Double => DECIMALS_NOT_FIXED.into(),
    }
}

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut operands = binding.arguments.iter();
    let types = if operands.all(|operand| numeric::is_integer(operand.ty)) {
        binding.each(|operand| numeric::integer_argument(operand.ty))
    } else {
        binding.each(|operand| match numeric::kind_of(operand.ty) {
            numeric::Kind::Double => SqlType::decimal(DECIMAL_PRECISION_MAX, INEXACT_SCALE),
            _ => numeric::decimal_argument(operand),
        })
    };
    let mut operands = binding.arguments.iter();
    let unsigned = operands.any(|argument| argument.ty.unsigned);
    // A divisor less than 1 adds as many digits as it has decimals.
    let digits = whole_digits(&binding.arguments[0]) + decimals(&binding.arguments[1]);
    let length = digits.min(DIGITS_MAX) + u32::from(!unsigned);
    let result = numeric::integer_result(length, unsigned);
    Ok(Signature::new(types, result, true))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let fail = |row, kind: &str| call.out_of_range(kind, || numeric::text_of_row(call, "DIV", row));
    if !call.signature.arguments.iter().all(numeric::is_integer) {
        let left = numeric::decimal_values(call, 0)?;
        let right = numeric::decimal_values(call, 1)?;
        let quotient = |row| {
            let (Some(a), Some(b)) = (left(row), right(row)) else {
                return Ok(None);
            };
            let Some(quotient) = a.divide_integer(b) else {
                return division_by_zero(call.context);
            };
            let quotient = quotient.ok().and_then(|value| value.unscaled.to_i128());
            quotient.map(Some).ok_or_else(|| fail(row, "BIGINT"))
        };
        return numeric::integers_of_type(call, quotient, fail);
    }
    if let Some(quotients) = numeric::by_positive_constant(call, |a, b| a / b, |a, b| a / b)? {
        return Ok(quotients);
    }
    let (left, right) = (call.any_ints(0)?, call.any_ints(1)?);
    let quotient = |row| match (left.get(row), right.get(row)) {
        (Some(_), Some(0)) => division_by_zero(call.context),
        (Some(a), Some(b)) => Ok(Some(a / b)),
        _ => Ok(None),
    };
    numeric::integers_of_type(call, quotient, fail)
}
