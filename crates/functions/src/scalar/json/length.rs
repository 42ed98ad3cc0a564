//! JSON_LENGTH(document[, path]): how many elements or members it has; 1 for a scalar.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::json::text::length;

use super::arguments::{self, Documents, Paths, Wildcards};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// JSON_LENGTH()
#[derive(Debug)]
pub(crate) struct JsonLength;

impl ScalarKernel for JsonLength {
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
        Ok(Signature::new(types, derive::bigint_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, "json_length")?;
        let mut paths = Paths::all(&arguments[1..], Wildcards::Refused)?;
        output::ints(row_count, |row| {
            let Some(document) = documents.get(row)? else {
                return Ok(None);
            };
            let value = match paths.first_mut() {
                None => Some(&document[..]),
                Some(path) => match path.get(row)? {
                    Some(path) => path.find_first(&document),
                    None => None,
                },
            };
            Ok(value.map(|value| length(value) as i64))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            ("json_length", &[t("[1, 2, {\"a\": 3}]")], "3"),
            ("json_length", &[t("{\"a\": 1, \"b\": {\"c\": 30}}")], "2"),
            (
                "json_length",
                &[t("{\"a\": 1, \"b\": {\"c\": 30}}"), t("$.b")],
                "1",
            ),
            ("json_length", &[t("1")], "1"),
            ("json_length", &[t("[]"), t("$.x")], "NULL"),
        ]);
    }
}
