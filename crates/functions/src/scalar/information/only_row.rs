//! Check that a scalar subquery has at most one row: error 1242 for more. The function has no SQL name; a subquery
//! that became a join calls it with the row count of each group that is used as a value.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["only row"], 1..=1, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let nullable = binding.arguments[0].nullable;
    Ok(Signature::new(
        vec![SqlType::bigint()],
        SqlType::bigint(),
        nullable,
    ))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let counts = call.ints(0)?;
    output::ints(call.rows, |row| match counts.get(row) {
        Some(count) if count > 1 => Err(codes::ER_SUBQUERY_NO_1_ROW.error()),
        count => Ok(count),
    })
}
