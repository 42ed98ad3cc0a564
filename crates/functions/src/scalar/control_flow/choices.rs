//! IF(condition, value, value), COALESCE(value, …), IFNULL(value, value), NULLIF(value, value) and
//! ISNULL(value).

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use mayfly_types::{Result, SqlType};

use crate::choice::{choice_type, is_null, pick};
use crate::comparison::{Operator, compare};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["if"], 3..=3, if_signature, if_else),
    Row::new(&["coalesce"], 1..=usize::MAX, coalesce_signature, coalesce)
        .with(&[Fact::GivesArgument, Fact::Choice])
        .parameters(Parameters::OfOthers(ParameterType::Text))
        .lazy(all_null),
    Row::new(&["ifnull"], 2..=2, coalesce_signature, coalesce)
        .with(&[Fact::GivesArgument, Fact::Choice])
        .parameters(Parameters::OfOthers(ParameterType::Text))
        .lazy(all_null),
    Row::new(&["nullif"], 2..=2, nullif_signature, nullif).with(&[Fact::GivesArgument]),
    Row::new(&["isnull"], 1..=1, isnull_signature, isnull),
];

fn if_signature(binding: &Binding<'_>) -> Result<Signature> {
    let values = binding.part(1..);
    let (ty, coercibility) = choice_type(&values)?;
    let types = vec![SqlType::boolean(), ty.clone(), ty.clone()];
    Ok(Signature::new(types, ty, values.any_nullable()).with_coercibility(coercibility))
}

fn if_else(call: &Call<'_>) -> Result<ArrayRef> {
    let conditions = call.bools(0)?;
    pick(call, 1, |row| {
        Some(usize::from(conditions.get(row) != Some(true)))
    })
}

fn coalesce_signature(binding: &Binding<'_>) -> Result<Signature> {
    let (ty, coercibility) = choice_type(binding)?;
    let types = vec![ty.clone(); binding.arguments.len()];
    let nullable = binding.arguments.iter().all(|argument| argument.nullable);
    Ok(Signature::new(types, ty, nullable).with_coercibility(coercibility))
}

/// The first value that is not NULL.
fn coalesce(call: &Call<'_>) -> Result<ArrayRef> {
    pick(call, 0, |row| {
        let mut arguments = call.arguments.iter();
        arguments.position(|argument| !is_null(argument, row))
    })
}

/// The rows in which all arguments are NULL.
fn all_null(call: &Call<'_>) -> Result<BooleanBuffer> {
    Ok(BooleanBuffer::collect_bool(call.rows, |row| {
        call.arguments.iter().all(|argument| is_null(argument, row))
    }))
}

fn nullif_signature(binding: &Binding<'_>) -> Result<Signature> {
    let (ty, coercibility) = choice_type(&binding.part(..1))?;
    // Compared with the first value's type: unlike for `=`, the value must not change.
    Ok(Signature::new(vec![ty.clone(); 2], ty, true).with_coercibility(coercibility))
}

/// NULL when both are equal, else the first.
fn nullif(call: &Call<'_>) -> Result<ArrayRef> {
    let (first, second) = (&call.arguments[0], &call.arguments[1]);
    let operator = Operator::NullSafeEqual;
    let equal = compare(operator, first, second, call.rows, call.ty(0))?;
    pick(call, 0, |row| (!equal.value(row)).then_some(0))
}

fn isnull_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![binding.arguments[0].ty.clone()];
    Ok(Signature::new(types, SqlType::boolean(), false))
}

fn isnull(call: &Call<'_>) -> Result<ArrayRef> {
    output::bools(call.rows, |row| Ok(Some(is_null(&call.arguments[0], row))))
}
