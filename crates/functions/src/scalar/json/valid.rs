//! JSON_VALID(value): whether it is JSON.

use arrow_array::ArrayRef;
use mayfly_types::json::JsonError;
use mayfly_types::{Result, TypeKind, json};

use crate::choice;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// JSON_VALID()
#[derive(Debug)]
pub(crate) struct JsonValid;

impl ScalarKernel for JsonValid {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = choice::as_value(arguments[0].ty);
        Ok(Signature::new(
            vec![ty],
            derive::predicate_of_width(21),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let is_json = ty.kind == TypeKind::Json;
        if ty.kind != TypeKind::Null && !ty.is_string() && !is_json {
            // No number and no date is a document, nor is NULL in their place.
            return output::bools(row_count, |_| Ok(Some(false)));
        }
        if !ty.is_string() || ty.is_binary_string() {
            return output::bools(row_count, |row| {
                Ok((!choice::is_null(&arguments[0], row)).then_some(is_json))
            });
        }
        let texts = input::texts(&arguments[0])?;
        output::bools(row_count, |row| {
            let Some(text) = texts.get(row) else {
                return Ok(None);
            };
            match json::parse(text) {
                Err(error @ JsonError::TooDeep) => Err(error.in_argument(1, "json_valid")),
                parsed => Ok(Some(parsed.is_ok())),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("json_valid", &[t("{\"a\": 1}")], "1"),
            ("json_valid", &[t("hello")], "0"),
            ("json_valid", &[t("\"hello\"")], "1"),
            ("json_valid", &[i(1)], "0"),
            ("json_valid", &[NULL], "NULL"),
        ]);
    }
}
