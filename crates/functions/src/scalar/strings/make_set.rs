//! MAKE_SET(bits, text, …): the texts whose bit is set, separated by commas.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// MAKE_SET()
#[derive(Debug)]
pub(crate) struct MakeSet;

impl ScalarKernel for MakeSet {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = arguments[1..]
            .iter()
            .map(|argument| derive::character_length(argument.ty) + 1)
            .sum::<u64>()
            - 1;
        let mut signature = derive::text_signature(
            &arguments[1..],
            context,
            "make_set",
            characters,
            derive::any_nullable(arguments),
        )?;
        signature.arguments.insert(0, SqlType::bigint());
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let bits = input::any_ints(&arguments[0])?;
        let texts: Vec<_> = arguments[1..]
            .iter()
            .map(input::texts)
            .collect::<Result<_>>()?;
        output::texts(row_count, context, |row, out| {
            let Some(bits) = bits.get(row) else {
                return Ok(false);
            };
            let mut is_first = true;
            for (index, text) in texts.iter().enumerate().take(64) {
                if bits as u64 >> index & 1 == 1
                    && let Some(text) = text.get(row)
                {
                    if !std::mem::take(&mut is_first) {
                        out.push(b',');
                    }
                    out.extend_from_slice(text);
                }
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
            ("make_set", &[i(1), t("a"), t("b"), t("c")], "a"),
            (
                "make_set",
                &[i(5), t("hello"), t("nice"), t("world")],
                "hello,world",
            ),
            (
                "make_set",
                &[i(5), t("hello"), t("nice"), NULL, t("world")],
                "hello",
            ),
            ("make_set", &[i(0), t("a")], ""),
        ]);
    }
}
