//! POW(x, y): x to the power of y.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// POW()
#[derive(Debug)]
pub(crate) struct Pow;

impl ScalarKernel for Pow {
    fn signature(
        &self,
        _arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::double(); 2],
            SqlType::double(),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (base, exponent) = (input::floats(&arguments[0])?, input::floats(&arguments[1])?);
        output::floats(row_count, |row| {
            let (Some(base), Some(exponent)) = (base.get(row), exponent.get(row)) else {
                return Ok(None);
            };
            numeric::finite(base.powf(exponent), || {
                signature
                    .text
                    .as_deref()
                    .map_or_else(|| format!("pow({base},{exponent})"), str::to_owned)
            })
            .map(Some)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i};

    #[test]
    fn values() {
        check(&[
            ("pow", &[i(2), i(2)], "4"),
            ("power", &[i(2), i(-2)], "0.25"),
            (
                "pow",
                &[i(10), i(400)],
                "ERROR 1690 (22003): DOUBLE value is out of range in 'pow(10,400)'",
            ),
        ]);
    }
}
