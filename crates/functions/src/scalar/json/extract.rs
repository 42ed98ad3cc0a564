//! JSON_EXTRACT(document, path, …), which `->` is too.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Wildcards};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// JSON_EXTRACT()
#[derive(Debug)]
pub(crate) struct JsonExtract;

impl ScalarKernel for JsonExtract {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![arguments::document_type(&arguments[0])];
        types.extend(
            arguments[1..]
                .iter()
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
        let document = &arguments[0];
        let documents = Documents::new(document, &signature.arguments[0], 1, "json_extract")?;
        let mut paths = Paths::all(&arguments[1..], Wildcards::Allowed)?;
        output::documents(row_count, "json_extract", context, |row, out| {
            let Some(document) = documents.get(row)? else {
                return Ok(false);
            };
            if let [path] = paths.as_mut_slice() {
                let Some(path) = path.get(row)? else {
                    return Ok(false);
                };
                if !path.has_wildcard() {
                    let found = path.find_first(&document);
                    out.extend_from_slice(found.unwrap_or_default());
                    return Ok(found.is_some());
                }
            }
            let mut found = Vec::new();
            for path in &mut paths {
                let Some(path) = path.get(row)? else {
                    return Ok(false);
                };
                path.find(&document, &mut found);
            }
            append_array(out, found.iter().copied());
            Ok(!found.is_empty())
        })
    }
}

/// Appends an array of normalised values.
pub(crate) fn append_array<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = &'a [u8]>) {
    out.push(b'[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
        }
        out.extend_from_slice(value);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("json_extract", &[t("[10, 20, [30, 40]]"), t("$[1]")], "20"),
            (
                "json_extract",
                &[t("[10, 20, [30, 40]]"), t("$[1]"), t("$[0]")],
                "[20, 10]",
            ),
            (
                "json_extract",
                &[t("[10, 20, [30, 40]]"), t("$[2][*]")],
                "[30, 40]",
            ),
            (
                "json_extract",
                &[t("{\"a\": 1}"), t("$.a"), t("$.x")],
                "[1]",
            ),
            ("json_extract", &[t("{\"a\": 1}"), t("$.x")], "NULL"),
            ("json_extract", &[NULL, t("$")], "NULL"),
            ("json_extract", &[t("1"), NULL], "NULL"),
            (
                "json_extract",
                &[t("x"), t("$")],
                "ERROR 3141 (22032): Invalid JSON text in argument 1 to function json_extract: \"Invalid value.\" at position 0.",
            ),
            (
                "json_extract",
                &[i(1), t("$")],
                "ERROR 3146 (22032): Invalid data type for JSON data in argument 1 to function json_extract; a JSON string or JSON type is required.",
            ),
        ]);
    }
}
