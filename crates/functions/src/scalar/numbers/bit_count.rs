//! BIT_COUNT(x): the number of set bits of an integer or a binary string.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::Row;
use crate::scalar::facts::{ParameterType, Parameters};
use crate::scalar::operators::numeric;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["bit_count"], 1..=1, signature, evaluate)
    .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)]))];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = match binding.arguments[0].ty {
        ty if ty.is_binary_string() => ty.clone(),
        _ => numeric::bits_argument(&binding.arguments[0]),
    };
    let result = derive::bigint_of_width(21);
    Ok(Signature::new(vec![ty], result, binding.any_nullable()))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    if call.ty(0).is_string() {
        let values = call.texts(0)?;
        let ones = |bytes: &[u8]| bytes.iter().map(|byte| i64::from(byte.count_ones())).sum();
        return output::ints(call.rows, |row| Ok(values.get(row).map(ones)));
    }
    let values = call.any_ints(0)?;
    output::ints(call.rows, |row| {
        Ok(values
            .get(row)
            .map(|value| i64::from((value as u64).count_ones())))
    })
}
