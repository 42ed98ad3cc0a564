//! LOG(x): the natural logarithm; LOG(base, x): that to a base.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// LOG()
#[derive(Debug)]
pub(crate) struct Log;

impl ScalarKernel for Log {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![SqlType::double(); arguments.len()],
            SqlType::double(),
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
        let last = input::floats(&arguments[arguments.len() - 1])?;
        let base = input::floats(&arguments[0])?;
        let invalid = || {
            context
                .diagnostics
                .warn(codes::ER_INVALID_ARGUMENT_FOR_LOGARITHM.error());
            Ok(None)
        };
        output::floats(row_count, |row| {
            let (Some(value), Some(base)) = (last.get(row), base.get(row)) else {
                return Ok(None);
            };
            if value <= 0.0 {
                return invalid();
            }
            if arguments.len() == 1 {
                return Ok(Some(value.ln()));
            }
            if base <= 0.0 || base == 1.0 {
                return invalid();
            }
            Ok(Some(value.ln() / base.ln()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i};

    #[test]
    fn values() {
        check(&[
            ("log", &[i(2)], "0.6931471805599453"),
            ("log", &[i(2), i(65536)], "16"),
            ("log", &[i(10), i(100)], "2"),
            ("log", &[i(1), i(100)], "NULL +3020"),
            ("log", &[i(0)], "NULL +3020"),
        ]);
    }
}
