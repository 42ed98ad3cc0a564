//! ATAN(x), ATAN(y, x) and ATAN2(y, x).

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// ATAN()
#[derive(Debug)]
pub(crate) struct Atan;

impl ScalarKernel for Atan {
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
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let first = input::floats(&arguments[0])?;
        match arguments.get(1) {
            None => output::floats(row_count, |row| Ok(first.get(row).map(f64::atan))),
            Some(second) => {
                let second = input::floats(second)?;
                output::floats(row_count, |row| {
                    Ok(first.get(row).zip(second.get(row)).map(|(y, x)| y.atan2(x)))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, f, i};

    #[test]
    fn values() {
        check(&[
            ("atan", &[i(2)], "1.1071487177940904"),
            ("atan", &[i(-2), i(2)], "-0.7853981633974483"),
            (
                "atan2",
                &[f(std::f64::consts::PI), i(0)],
                "1.5707963267948966",
            ),
        ]);
    }
}
