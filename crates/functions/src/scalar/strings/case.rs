//! LOWER(text) and UPPER(text). Binary strings have no letters and stay as they are.

use arrow_array::ArrayRef;
use mayfly_types::charset::case;
use mayfly_types::{CollationId, Result};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Case {
    names: &'static [&'static str],
    is_upper: bool,
}

/// LOWER()
pub(crate) static LOWER: Case = Case {
    names: &["lower", "lcase"],
    is_upper: false,
};
/// UPPER()
pub(crate) static UPPER: Case = Case {
    names: &["upper", "ucase"],
    is_upper: true,
};

impl ScalarKernel for Case {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        derive::text_signature(
            arguments,
            context,
            self.names[0],
            derive::character_length(arguments[0].ty),
            arguments[0].nullable,
        )
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        if signature.result.collation == CollationId::BINARY {
            return output::borrowed_texts(row_count, context, |row| Ok(texts.get(row)));
        }
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            if self.is_upper {
                case::append_upper(text, out);
            } else {
                case::append_lower(text, out);
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{b, check, t};

    #[test]
    fn values() {
        check(&[
            ("lower", &[t("QUADRATICALLY")], "quadratically"),
            ("ucase", &[t("Hej é ß")], "HEJ É ß"),
            ("upper", &[b(b"abc")], "abc"),
        ]);
    }
}
