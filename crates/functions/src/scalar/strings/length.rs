//! LENGTH(text), BIT_LENGTH(text) and CHAR_LENGTH(text): bytes in the text's own character set, bits, characters.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the three.
#[derive(Debug)]
pub(crate) struct Length {
    width: u32,
    measure: fn(&[u8], CollationId) -> usize,
}

/// LENGTH()
pub(crate) static LENGTH: Length = Length {
    width: 11,
    measure: chars::octets,
};
/// BIT_LENGTH()
pub(crate) static BIT_LENGTH: Length = Length {
    width: 11,
    measure: |text, collation| chars::octets(text, collation) * 8,
};
/// CHAR_LENGTH()
pub(crate) static CHAR_LENGTH: Length = Length {
    width: 11,
    measure: chars::count,
};

impl ScalarKernel for Length {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::int_of_width(self.width),
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
            Ok(texts
                .get(row)
                .map(|text| (self.measure)(text, collation) as i64))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, b, check, t};

    #[test]
    fn values() {
        check(&[
            ("length", &[t("text")], "4"),
            ("length", &[t("é")], "2"),
            ("octet_length", &[b(b"\x00\x01")], "2"),
            ("bit_length", &[t("text")], "32"),
            ("char_length", &[t("é€")], "2"),
            ("char_length", &[b(b"\xC3\xA9")], "2"),
            ("char_length", &[NULL], "NULL"),
        ]);
    }
}
