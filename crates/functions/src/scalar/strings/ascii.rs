//! ASCII(text) and ORD(text): the number of the first byte, and of the first character's bytes.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// ASCII()
#[derive(Debug)]
pub(crate) struct Ascii;

impl ScalarKernel for Ascii {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::int_of_width(4),
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::ints(row_count, |row| {
            Ok(texts
                .get(row)
                .map(|text| i64::from(text.first().copied().unwrap_or(0))))
        })
    }
}

/// ORD()
#[derive(Debug)]
pub(crate) struct Ord;

impl ScalarKernel for Ord {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::bigint_of_width(21),
            arguments[0].nullable,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let collation = signature.arguments[0].collation;
        output::ints(row_count, |row| {
            Ok(texts.get(row).map(|text| {
                let first = &text[..chars::width_at(text, 0, collation)];
                let bytes = chars::in_charset(first, collation);
                bytes
                    .iter()
                    .fold(0, |code, byte| code << 8 | i64::from(*byte))
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            ("ascii", &[t("2")], "50"),
            ("ascii", &[i(2)], "50"),
            ("ascii", &[t("dx")], "100"),
            ("ascii", &[t("")], "0"),
            ("ord", &[t("2")], "50"),
            ("ord", &[t("é")], "50089"),
        ]);
    }
}
