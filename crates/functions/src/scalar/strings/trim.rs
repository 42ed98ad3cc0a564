//! TRIM, LTRIM and RTRIM: spaces or copies of another string taken from the ends. The parser's
//! TRIM(LEADING x FROM y) is "trim leading"(y, x), and so on.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::scalar::ScalarFunction;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// One of them.
#[derive(Debug)]
pub(crate) struct Trim {
    names: &'static [&'static str],
    /// What errors call it.
    operation: &'static str,
    arity: RangeInclusive<usize>,
    leading: bool,
    trailing: bool,
}

/// LTRIM()
pub(crate) static LTRIM: Trim = Trim {
    names: &["ltrim"],
    operation: "ltrim",
    arity: 1..=1,
    leading: true,
    trailing: false,
};
/// TRIM(LEADING … FROM …)
pub(crate) static TRIM_LEADING: Trim = Trim {
    names: &["trim leading"],
    operation: "ltrim",
    arity: 2..=2,
    leading: true,
    trailing: false,
};
/// RTRIM()
pub(crate) static RTRIM: Trim = Trim {
    names: &["rtrim"],
    operation: "rtrim",
    arity: 1..=1,
    leading: false,
    trailing: true,
};
/// TRIM(TRAILING … FROM …)
pub(crate) static TRIM_TRAILING: Trim = Trim {
    names: &["trim trailing"],
    operation: "rtrim",
    arity: 2..=2,
    leading: false,
    trailing: true,
};
/// TRIM()
pub(crate) static TRIM: Trim = Trim {
    names: &["trim", "trim both"],
    operation: "trim",
    arity: 1..=2,
    leading: true,
    trailing: true,
};

impl ScalarFunction for Trim {
    fn names(&self) -> &'static [&'static str] {
        self.names
    }

    fn arity(&self) -> RangeInclusive<usize> {
        self.arity.clone()
    }

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
