//! BENCHMARK(count, expression). Arguments are evaluated before a call, so the expression is evaluated once per row,
//! whatever the count.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, choice, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["benchmark"], 2..=2, signature, evaluate)
    .with(&[Fact::NotInDefinitions])
    .volatile()];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![SqlType::bigint(), choice::as_value(binding.arguments[1].ty)];
    Ok(Signature::new(types, derive::int_of_width(1), true))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let counts = call.ints(0)?;
    output::ints(call.rows, |row| match counts.get(row) {
        Some(count @ ..0) => {
            call.context.diagnostics.warn_with(|| {
                codes::ER_WRONG_VALUE_FOR_TYPE.with(&[&"count", &count, &"benchmark"])
            });
            Ok(None)
        }
        count => Ok(count.map(|_| 0)),
    })
}
