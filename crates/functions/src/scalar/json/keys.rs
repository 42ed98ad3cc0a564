//! JSON_KEYS(document[, path]): the keys of an object, as an array.

use arrow_array::ArrayRef;
use mayfly_types::json::text::members;
use mayfly_types::json::{JsonKind, kind_of};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Wildcards};
use super::extract::append_array;
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// JSON_KEYS()
#[derive(Debug)]
pub(crate) struct JsonKeys;

impl ScalarKernel for JsonKeys {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![arguments::document_type(&arguments[0])];
        types.extend(
            arguments
                .get(1)
                .map(|path| arguments::path_type(path, context)),
        );
        Ok(Signature::new(types, SqlType::json(), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, "json_keys")?;
        let mut paths = Paths::all(&arguments[1..], Wildcards::Refused)?;
        output::documents(row_count, "json_keys", context, |row, out| {
            let Some(document) = documents.get(row)? else {
                return Ok(false);
            };
            let object = match paths.first_mut() {
                None => Some(&document[..]),
                Some(path) => match path.get(row)? {
                    Some(path) => path.find_first(&document),
                    None => None,
                },
            };
            match object {
                Some(object) if kind_of(object) == JsonKind::Object => {
                    append_array(out, members(object).map(|(key, _)| key));
                    Ok(true)
                }
                _ => Ok(false),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            (
                "json_keys",
                &[t("{\"a\": 1, \"b\": {\"c\": 30}}")],
                "[\"a\", \"b\"]",
            ),
            (
                "json_keys",
                &[t("{\"a\": 1, \"b\": {\"c\": 30}}"), t("$.b")],
                "[\"c\"]",
            ),
            ("json_keys", &[t("[1]")], "NULL"),
            ("json_keys", &[t("{}")], "[]"),
            (
                "json_keys",
                &[t("{}"), t("$.*")],
                "ERROR 3149 (42000): In this situation, path expressions may not contain the * and ** tokens or an array range.",
            ),
        ]);
    }
}
