//! ANY_VALUE(value) outside of a grouped query, and NAME_CONST(name, value): the value itself.

use mayfly_types::Result;
use mayfly_types::error::codes;

use crate::choice::as_value;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Signature};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["any_value"], 1..=1, any_value_signature, |call| {
        Ok(call.unchanged(0))
    })
    .with(&[Fact::GivesArgument]),
    Row::new(&["name_const"], 2..=2, name_const_signature, |call| {
        Ok(call.unchanged(1))
    })
    .with(&[Fact::NamedConstant, Fact::GivesArgument]),
];

fn any_value_signature(binding: &Binding<'_>) -> Result<Signature> {
    let value = &binding.arguments[0];
    let ty = as_value(value.ty);
    let signature = Signature::new(vec![ty.clone()], ty, value.nullable);
    Ok(signature.with_coercibility(value.coercibility))
}

fn name_const_signature(binding: &Binding<'_>) -> Result<Signature> {
    let (name, value) = (&binding.arguments[0], &binding.arguments[1]);
    if name.constant.is_none() || value.constant.is_none() {
        return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"NAME_CONST"]));
    }
    let ty = as_value(value.ty);
    let signature = Signature::new(vec![name.ty.clone(), ty.clone()], ty, true);
    Ok(signature.with_coercibility(value.coercibility))
}
