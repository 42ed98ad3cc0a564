//! JSON_UNQUOTE(value): the text of a JSON string, and any other value as it is.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::text::unquote;
use mayfly_types::json::{self, Json, JsonKind};
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use super::arguments;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// JSON_UNQUOTE()
#[derive(Debug)]
pub(crate) struct JsonUnquote;

impl ScalarKernel for JsonUnquote {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments[0].ty;
        let accepted = match ty.kind {
            TypeKind::Json | TypeKind::Null => SqlType::json(),
            _ if ty.is_string() => {
                arguments::refuse_binary(ty)?;
                ty.clone()
            }
            TypeKind::Enum | TypeKind::Set => derive::text_of(&arguments[0], context),
            _ => return Err(codes::ER_INCORRECT_TYPE.with(&[&1, &"json_unquote"])),
        };
        let characters = derive::character_length(&accepted);
        let result = derive::string_type(characters, CollationId::UTF8MB4_BIN);
        Ok(Signature::new(vec![accepted], result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let is_json = signature.arguments[0].kind == TypeKind::Json;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            let is_quoted = text.len() > 1 && text.starts_with(b"\"") && text.ends_with(b"\"");
            if is_json {
                out.extend_from_slice(&match json::kind_of(text) {
                    JsonKind::String => unquote(text),
                    _ => json::displayed(text),
                });
            } else if !is_quoted {
                out.extend_from_slice(text);
            } else {
                let parsed =
                    json::parse(text).map_err(|error| error.in_argument(1, "json_unquote"))?;
                match parsed {
                    Json::String(text) => out.extend_from_slice(text.as_bytes()),
                    other => other.append_to(out),
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
            ("json_unquote", &[t("\"abc\"")], "abc"),
            ("json_unquote", &[t("abc")], "abc"),
            ("json_unquote", &[t("\"\\u0032\"")], "2"),
            ("json_unquote", &[t("\"a")], "\"a"),
            ("json_unquote", &[t("[1,2]")], "[1,2]"),
            ("json_unquote", &[NULL], "NULL"),
            (
                "json_unquote",
                &[i(1)],
                "ERROR 3064 (HY000): Incorrect type for argument 1 in function json_unquote.",
            ),
        ]);
    }
}
