//! TRIM, LTRIM and RTRIM: spaces or copies of another string taken from the ends. The parser's
//! TRIM(LEADING x FROM y) is "trim leading"(y, x), and so on.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of them.
#[derive(Debug)]
pub(crate) struct Trim {
    /// What errors call it.
    operation: &'static str,
    leading: bool,
    trailing: bool,
}

/// LTRIM()
pub(crate) static LTRIM: Trim = Trim {
    operation: "ltrim",
    leading: true,
    trailing: false,
};
/// TRIM(LEADING … FROM …)
pub(crate) static TRIM_LEADING: Trim = Trim {
    operation: "ltrim",
    leading: true,
    trailing: false,
};
/// RTRIM()
pub(crate) static RTRIM: Trim = Trim {
    operation: "rtrim",
    leading: false,
    trailing: true,
};
/// TRIM(TRAILING … FROM …)
pub(crate) static TRIM_TRAILING: Trim = Trim {
    operation: "rtrim",
    leading: false,
    trailing: true,
};
/// TRIM()
pub(crate) static TRIM: Trim = Trim {
    operation: "trim",
    leading: true,
    trailing: true,
};

impl ScalarKernel for Trim {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let characters = derive::character_length(arguments[0].ty);
        derive::changed_text_signature(
            arguments,
            context,
            self.operation,
            characters,
            derive::any_nullable(arguments),
        )
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let removed = match arguments.get(1) {
            Some(removed) => input::texts(removed)?,
            None => input::Texts::Constant(Some(b" ")),
        };
        output::borrowed_texts(row_count, context, |row| {
            let (Some(mut text), Some(removed)) = (texts.get(row), removed.get(row)) else {
                return Ok(None);
            };
            if removed.is_empty() {
                return Ok(Some(text));
            }
            while self.leading
                && let Some(rest) = text.strip_prefix(removed)
            {
                text = rest;
            }
            while self.trailing
                && let Some(rest) = text.strip_suffix(removed)
            {
                text = rest;
            }
            Ok(Some(text))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("ltrim", &[t("  barbar")], "barbar"),
            ("rtrim", &[t("barbar   ")], "barbar"),
            ("trim", &[t("  bar   ")], "bar"),
            ("trim leading", &[t("xxxbarxxx"), t("x")], "barxxx"),
            ("trim both", &[t("xxxbarxxx"), t("x")], "bar"),
            ("trim trailing", &[t("barxxyz"), t("xyz")], "barx"),
            ("trim", &[NULL], "NULL"),
        ]);
    }
}
