//! LEFT(text, n) and RIGHT(text, n): characters at one end.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of the two.
#[derive(Debug)]
pub(crate) struct Side {
    names: &'static [&'static str],
    is_left: bool,
}

/// LEFT()
pub(crate) static LEFT: Side = Side {
    names: &["left"],
    is_left: true,
};
/// RIGHT()
pub(crate) static RIGHT: Side = Side {
    names: &["right"],
    is_left: false,
};

impl ScalarKernel for Side {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let whole = derive::character_length(arguments[0].ty);
        let characters = derive::constant_integer(&arguments[1])
            .map_or(whole, |n| whole.min(n.max(0).cast_unsigned()));
        let mut signature = derive::text_signature(
            &arguments[..1],
            context,
            self.names[0],
            characters,
            derive::any_nullable(arguments),
        )?;
        signature.arguments.push(derive::integer_of(&arguments[1]));
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let (texts, counts) = (input::texts(&arguments[0])?, input::counts(&arguments[1])?);
        let collation = signature.result.collation;
        output::borrowed_texts(row_count, context, |row| {
            let (Some(text), Some(wanted)) = (texts.get(row), counts.get(row)) else {
                return Ok(None);
            };
            let wanted = usize::try_from(wanted).unwrap_or(0);
            Ok(Some(if self.is_left {
                &text[..chars::offset_of(text, wanted, collation)]
            } else {
                let skipped = chars::count(text, collation).saturating_sub(wanted);
                &text[chars::offset_of(text, skipped, collation)..]
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
            ("left", &[t("foobarbar"), i(5)], "fooba"),
            ("right", &[t("foobarbar"), i(4)], "rbar"),
            ("left", &[t("é€x"), i(2)], "é€"),
            ("right", &[t("é€x"), i(2)], "€x"),
            ("left", &[t("abc"), i(-1)], ""),
        ]);
    }
}
