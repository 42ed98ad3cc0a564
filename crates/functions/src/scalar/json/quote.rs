//! JSON_QUOTE(text): the text as a JSON string.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, TypeKind, json};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// JSON_QUOTE()
#[derive(Debug)]
pub(crate) struct JsonQuote;

impl ScalarKernel for JsonQuote {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments[0].ty;
        let is_text = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
        if !is_text && ty.kind != TypeKind::Null {
            return Err(codes::ER_INCORRECT_TYPE.with(&[&1, &"json_quote"]));
        }
        arguments::refuse_binary(ty)?;
        let text = derive::text_of(&arguments[0], context);
        // A character may need six: \u0001.
        let characters = derive::character_length(&text)
            .saturating_mul(6)
            .saturating_add(2);
        let result = derive::string_type(characters, CollationId::UTF8MB4_BIN);
        Ok(Signature::new(vec![text], result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let text = texts.get(row);
            if let Some(text) = text {
                json::append_quoted(out, text);
            }
            Ok(text.is_some())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("json_quote", &[t("null")], "\"null\""),
            ("json_quote", &[t("\"null\"")], "\"\\\"null\\\"\""),
            ("json_quote", &[t("[1, 2]")], "\"[1, 2]\""),
            ("json_quote", &[NULL], "NULL"),
        ]);
    }
}
