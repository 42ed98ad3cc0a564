//! CHAR(n, …): the bytes of numbers, NULLs left out. CHAR(… USING charset) is CONVERT of this.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// CHAR()
#[derive(Debug)]
pub(crate) struct Char {
    /// How many bytes each number gives at least.
    unit: usize,
}

/// CHAR(n, …)
pub(crate) static CHAR: Char = Char { unit: 1 };
/// CHAR(n, … USING charset), where no character of that has less than two bytes.
pub(crate) static CHAR_OF_TWO_BYTES: Char = Char { unit: 2 };
/// The same of four bytes.
pub(crate) static CHAR_OF_FOUR_BYTES: Char = Char { unit: 4 };

impl ScalarKernel for Char {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments.iter().map(|_| SqlType::bigint()).collect();
        Ok(Signature::new(
            types,
            SqlType::varchar(arguments.len() as u32 * 4, CollationId::BINARY),
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
        let numbers: Vec<_> = arguments
            .iter()
            .map(input::any_ints)
            .collect::<Result<_>>()?;
        output::texts(row_count, context, |row, out| {
            for number in numbers.iter().filter_map(|number| number.get(row)) {
                let bytes = (number as u32).to_be_bytes();
                let first = bytes.iter().position(|byte| *byte != 0);
                let first = first.unwrap_or(bytes.len()).min(bytes.len() - self.unit);
                out.extend_from_slice(&bytes[first..]);
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("char", &[i(77), i(121), i(83), i(81), t("76")], "MySQL"),
            ("char", &[i(77), NULL, i(77)], "MM"),
            ("char", &[i(256)], "0x0100"),
            ("char", &[i(0)], "0x00"),
            ("char of two bytes", &[i(65), i(0x1F600)], "0x004101F600"),
            ("char of four bytes", &[i(0)], "0x00000000"),
        ]);
    }
}
