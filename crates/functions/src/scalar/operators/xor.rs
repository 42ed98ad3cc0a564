//! `a XOR b`. AND, OR and NOT are expressions of the planner rather than calls, because their operands are evaluated
//! only as far as needed.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::{Fact, Printed};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["xor"], 2..=2, signature, evaluate)
    .printed(Printed::Infix("xor"))
    .with(&[Fact::StopsAtNull])];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![SqlType::boolean(); 2];
    Ok(Signature::new(
        types,
        SqlType::boolean(),
        binding.any_nullable(),
    ))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right) = (call.bools(0)?, call.bools(1)?);
    output::bools(call.rows, |row| {
        Ok(left.get(row).zip(right.get(row)).map(|(a, b)| a != b))
    })
}
