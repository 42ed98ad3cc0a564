//! RANDOM_BYTES(n): n cryptographically random bytes.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["random_bytes"], 1..=1, signature, evaluate)
    .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
    .volatile()];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let (types, result) = (
        vec![SqlType::bigint()],
        SqlType::varchar(1024, CollationId::BINARY),
    );
    Ok(Signature::new(types, result, binding.any_nullable()))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let lengths = call.ints(0)?;
    output::texts(call, |row, out| {
        let Some(length) = lengths.get(row) else {
            return Ok(false);
        };
        if !(1..=1024).contains(&length) {
            return Err(codes::ER_DATA_OUT_OF_RANGE.with(&[&"length", &"random_bytes"]));
        }
        out.resize(length as usize, 0);
        (call.context.entropy)(out);
        Ok(true)
    })
}
