//! JSON_TYPE(document)

use arrow_array::ArrayRef;
use mayfly_types::json::text::type_name;
use mayfly_types::{CollationId, Result, SqlType};

use super::arguments::{self, Documents};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// JSON_TYPE()
#[derive(Debug)]
pub(crate) struct JsonType;

impl ScalarKernel for JsonType {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments::document_type(&arguments[0]);
        // The longest name is UNSIGNED INTEGER.
        Ok(Signature::new(
            vec![ty],
            SqlType::varchar(17, CollationId::UTF8MB4_BIN),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, "json_type")?;
        output::borrowed_texts(row_count, context, |row| {
            Ok(documents
                .get(row)?
                .map(|document| type_name(&document).as_bytes()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("json_type", &[t("{}")], "OBJECT"),
            ("json_type", &[t("[1]")], "ARRAY"),
            ("json_type", &[t("\"a\"")], "STRING"),
            ("json_type", &[t("1")], "INTEGER"),
            ("json_type", &[t("1.5")], "DOUBLE"),
            ("json_type", &[t("true")], "BOOLEAN"),
            ("json_type", &[t("null")], "NULL"),
            (
                "json_type",
                &[t("18446744073709551615")],
                "UNSIGNED INTEGER",
            ),
            ("json_type", &[NULL], "NULL"),
        ]);
    }
}
