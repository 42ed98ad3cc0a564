//! BIT_COUNT(x): how many bits are set, of an integer or a binary string.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// BIT_COUNT()
#[derive(Debug)]
pub(crate) struct BitCount;

impl ScalarKernel for BitCount {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let argument = &arguments[0];
        let ty = if argument.ty.is_binary_string() {
            argument.ty.clone()
        } else {
            numeric::integer_argument(argument.ty)
        };
        Ok(Signature::new(
            vec![ty],
            derive::bigint_of_width(21),
            argument.nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if signature.arguments[0].is_string() {
            let values = input::texts(&arguments[0])?;
            return output::ints(row_count, |row| {
                Ok(values
                    .get(row)
                    .map(|bytes| bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()))
            });
        }
        let values = input::any_ints(&arguments[0])?;
        output::ints(row_count, |row| {
            Ok(values
                .get(row)
                .map(|value| i64::from((value as u64).count_ones())))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{b, check, i};

    #[test]
    fn values() {
        check(&[
            ("bit_count", &[i(64)], "1"),
            ("bit_count", &[i(-1)], "64"),
            ("bit_count", &[b(b"\xFF\x01")], "9"),
        ]);
    }
}
