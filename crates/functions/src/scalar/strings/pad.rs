//! LPAD(text, n, filling) and RPAD(text, n, filling): exactly n characters.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Pad {
    names: &'static [&'static str],
    is_left: bool,
}

/// LPAD()
pub(crate) static LPAD: Pad = Pad {
    names: &["lpad"],
    is_left: true,
};
/// RPAD()
pub(crate) static RPAD: Pad = Pad {
    names: &["rpad"],
    is_left: false,
};

impl ScalarKernel for Pad {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = derive::constant_integer(&arguments[1])
            .map_or(derive::FORESEEN_MAX, |n| n.max(0).cast_unsigned());
        let mut signature = derive::changed_text_signature(
            &[arguments[0], arguments[2]],
            context,
            self.names[0],
            characters,
            true,
        )?;
        signature
            .arguments
            .insert(1, derive::integer_of(&arguments[1]));
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (texts, lengths, fillings) = (
            input::texts(&arguments[0])?,
            input::counts(&arguments[1])?,
            input::texts(&arguments[2])?,
        );
        let collation = signature.result.collation;
        output::texts(row_count, context, |row, out| {
            let (Some(text), Some(length), Some(filling)) =
                (texts.get(row), lengths.get(row), fillings.get(row))
            else {
                return Ok(false);
            };
            let Ok(length) = usize::try_from(length) else {
                return Ok(false);
            };
            let own = chars::count(text, collation);
            if own >= length {
                out.extend_from_slice(&text[..chars::offset_of(text, length, collation)]);
                return Ok(true);
            }
            let bytes = (length as u64).saturating_mul(derive::bytes_per_character(collation));
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            if !chars::within_packet(bytes, self.names[0], context)? {
                return Ok(false);
            }
            let step = chars::count(filling, collation);
            if step == 0 {
                return Ok(true);
            }
            if !self.is_left {
                out.extend_from_slice(text);
            }
            let missing = length - own;
            for _ in 0..missing / step {
                out.extend_from_slice(filling);
            }
            out.extend_from_slice(&filling[..chars::offset_of(filling, missing % step, collation)]);
            if self.is_left {
                out.extend_from_slice(text);
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            ("lpad", &[t("hi"), i(4), t("??")], "??hi"),
            ("lpad", &[t("hi"), i(1), t("??")], "h"),
            ("rpad", &[t("hi"), i(5), t("?!")], "hi?!?"),
            ("rpad", &[t("hi"), i(5), t("")], ""),
            ("rpad", &[t("hi"), i(-1), t("?")], "NULL"),
            ("lpad", &[t("a"), i(30_000_000), t("b")], "NULL +1301"),
            ("rpad", &[t("hi"), i(1000000000), t("?")], "NULL +1301"),
        ]);
    }
}
