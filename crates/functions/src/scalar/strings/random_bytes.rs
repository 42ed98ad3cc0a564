//! RANDOM_BYTES(n): n bytes nobody can foresee.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// RANDOM_BYTES()
#[derive(Debug)]
pub(crate) struct RandomBytes;

impl ScalarKernel for RandomBytes {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::bigint()],
            SqlType::varchar(1024, CollationId::BINARY),
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let _ = signature;
        let lengths = input::ints(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(length) = lengths.get(row) else {
                return Ok(false);
            };
            if !(1..=1024).contains(&length) {
                return Err(codes::ER_DATA_OUT_OF_RANGE.with(&[&"length", &"random_bytes"]));
            }
            out.resize(length as usize, 0);
            (context.entropy)(out);
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i};

    #[test]
    fn values() {
        check(&[
            (
                "random_bytes",
                &[i(0)],
                "ERROR 1690 (22003): length value is out of range in 'random_bytes'",
            ),
            ("random_bytes", &[NULL], "NULL"),
        ]);
    }
}
