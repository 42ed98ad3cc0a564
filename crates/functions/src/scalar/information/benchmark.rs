//! BENCHMARK(count, expression). Arguments are evaluated before a call, so the expression has run
//! once for each row by then, whatever the count.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, choice, derive, input, output,
};

/// BENCHMARK()
#[derive(Debug)]
pub(crate) struct Benchmark;

impl ScalarKernel for Benchmark {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::bigint(), choice::as_value(arguments[1].ty)],
            derive::int_of_width(1),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let counts = input::ints(&arguments[0])?;
        output::ints(row_count, |row| match counts.get(row) {
            Some(count @ ..0) => {
                context.diagnostics.warn_with(|| {
                    codes::ER_WRONG_VALUE_FOR_TYPE.with(&[&"count", &count, &"benchmark"])
                });
                Ok(None)
            }
            count => Ok(count.map(|_| 0)),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i};

    #[test]
    fn values() {
        check(&[
            ("benchmark", &[i(5), i(1)], "0"),
            ("benchmark", &[NULL, i(1)], "NULL"),
            ("benchmark", &[i(-1), i(1)], "NULL +1411"),
        ]);
    }
}
