//! JSON_ARRAY(value, …) and JSON_OBJECT(key, value, …).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Values};
use crate::input::{self, Texts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// JSON_ARRAY()
#[derive(Debug)]
pub(crate) struct JsonArray;

impl ScalarKernel for JsonArray {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments.iter().map(arguments::value_type);
        Ok(Signature::new(types.collect(), SqlType::json(), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let values: Vec<_> = arguments
            .iter()
            .zip(&signature.arguments)
            .map(|(column, ty)| Values::new(column, ty))
            .collect::<Result<_>>()?;
        output::documents(row_count, "json_array", context, |row, out| {
            out.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(b", ");
                }
                value.append(row, out);
            }
            out.push(b']');
            Ok(true)
        })
    }
}

/// JSON_OBJECT()
#[derive(Debug)]
pub(crate) struct JsonObjectOf;

impl ScalarKernel for JsonObjectOf {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        if !arguments.len().is_multiple_of(2) {
            return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&"json_object"]));
        }
        let types = arguments.iter().enumerate().map(|(index, argument)| {
            if index % 2 == 0 {
                derive::text_of(argument, context)
            } else {
                arguments::value_type(argument)
            }
        });
        Ok(Signature::new(types.collect(), SqlType::json(), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let mut members: Vec<(Texts<'_>, Values<'_>)> = Vec::with_capacity(arguments.len() / 2);
        let types = signature.arguments.chunks_exact(2);
        for (pair, types) in arguments.chunks_exact(2).zip(types) {
            members.push((input::texts(&pair[0])?, Values::new(&pair[1], &types[1])?));
        }
        output::documents(row_count, "json_object", context, |row, out| {
            let mut object = Vec::with_capacity(members.len());
            for (keys, values) in &members {
                let key = keys
                    .get(row)
                    .ok_or_else(|| codes::ER_JSON_DOCUMENT_NULL_KEY.error())?;
                object.push((String::from_utf8_lossy(key).into_owned(), values.tree(row)));
            }
            Json::Object(JsonObject::of(object)).append_to(out);
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, d, date, i, t, u};

    #[test]
    fn values() {
        check(&[
            ("json_array", &[], "[]"),
            (
                "json_array",
                &[i(1), t("a\"b"), NULL, d("1.50")],
                "[1, \"a\\\"b\", null, 1.50]",
            ),
            ("json_object", &[], "{}"),
            (
                "json_object",
                &[t("id"), i(87), t("name"), t("carrot")],
                "{\"id\": 87, \"name\": \"carrot\"}",
            ),
            ("json_object", &[t("a"), i(1), t("a"), i(2)], "{\"a\": 2}"),
            (
                "json_object",
                &[i(1), u(u64::MAX)],
                "{\"1\": 18446744073709551615}",
            ),
            (
                "json_object",
                &[t("g"), date("2024-01-02")],
                "{\"g\": \"2024-01-02\"}",
            ),
            (
                "json_object",
                &[NULL, i(1)],
                "ERROR 3158 (22032): JSON documents may not contain NULL member names.",
            ),
            (
                "json_object",
                &[t("a")],
                "ERROR 1582 (42000): Incorrect parameter count in the call to native function 'json_object'",
            ),
        ]);
    }
}
