//! JSON_QUOTE(text): the text as a JSON string. JSON_UNQUOTE(value): the text of a JSON string; any other value is
//! unchanged.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::text::unquote;
use mayfly_types::json::{self, Json, JsonKind};
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use super::arguments;
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_quote"], 1..=1, quote_signature, json_quote),
    Row::new(&["json_unquote"], 1..=1, unquote_signature, json_unquote),
];

fn quote_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    let is_text = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    if !is_text && ty.kind != TypeKind::Null {
        return Err(codes::ER_INCORRECT_TYPE.with(&[&1, &binding.name]));
    }
    arguments::refuse_binary(ty)?;
    let length = derive::character_length(&binding.text(0));
    // A character may need six: \u0001.
    let characters = length.saturating_mul(6).saturating_add(2);
    let result = derive::string_type(characters, CollationId::UTF8MB4_BIN);
    binding.of_texts_or_null(result)
}

fn json_quote(call: &Call<'_>) -> Result<ArrayRef> {
    output::mapped_texts(call, 0, |text, out| {
        json::append_quoted(out, text);
        call.within_packet(out.len())
    })
}

fn unquote_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    let accepted = match ty.kind {
        TypeKind::Json | TypeKind::Null => SqlType::json(),
        _ if ty.is_string() => {
            arguments::refuse_binary(ty)?;
            ty.clone()
        }
        TypeKind::Enum | TypeKind::Set => binding.text(0),
        _ => return Err(codes::ER_INCORRECT_TYPE.with(&[&1, &binding.name])),
    };
    let characters = derive::character_length(&accepted);
    let result = derive::string_type(characters, CollationId::UTF8MB4_BIN);
    Ok(Signature::new(vec![accepted], result, true))
}

fn json_unquote(call: &Call<'_>) -> Result<ArrayRef> {
    let is_json = call.ty(0).kind == TypeKind::Json;
    output::mapped_texts(call, 0, |text, out| {
        let is_quoted = text.len() > 1 && text.starts_with(b"\"") && text.ends_with(b"\"");
        if is_json {
            out.extend_from_slice(&match json::kind_of(text) {
                JsonKind::String => unquote(text),
                _ => json::displayed(text),
            });
        } else if !is_quoted {
            out.extend_from_slice(text);
        } else {
            match json::parse(text).map_err(|error| error.in_argument(1, call.name))? {
                Json::String(text) => out.extend_from_slice(text.as_bytes()),
                other => other.append_to(out),
            }
        }
        Ok(true)
    })
}
