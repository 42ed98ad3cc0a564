//! JSON_SCHEMA_VALID(schema, document): whether a document satisfies a schema.
//! JSON_SCHEMA_VALIDATION_REPORT(schema, document): the same, and what it does not satisfy.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents};
use super::schema::{Failure, Schema};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// One of the two.
#[derive(Debug)]
pub(crate) struct SchemaFunction {
    names: &'static [&'static str],
    reports: bool,
}

/// JSON_SCHEMA_VALID()
pub(crate) static VALID: SchemaFunction = SchemaFunction {
    names: &["json_schema_valid"],
    reports: false,
};
/// JSON_SCHEMA_VALIDATION_REPORT()
pub(crate) static REPORT: SchemaFunction = SchemaFunction {
    names: &["json_schema_validation_report"],
    reports: true,
};

impl ScalarKernel for SchemaFunction {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments.iter().map(arguments::document_type).collect();
        let result = match self.reports {
            true => SqlType::json(),
            false => derive::predicate_of_width(1),
        };
        Ok(Signature::new(types, result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let name = self.names[0];
        let types = &signature.arguments;
        let schemas = Documents::new(&arguments[0], &types[0], 1, name)?;
        let documents = Documents::new(&arguments[1], &types[1], 2, name)?;
        let mut constant = None;
        let mut failure = |row: usize| -> Result<Option<Option<Failure>>> {
            if constant.is_none() || !matches!(arguments[0], Column::Constant(_)) {
                let Some(schema) = schemas.tree(row)? else {
                    return Ok(None);
                };
                check_schema(&schema, name)?;
                constant = Some(schema);
            }
            let Some(document) = documents.tree(row)? else {
                return Ok(None);
            };
            let Some(schema) = constant.as_ref().map(Schema::new) else {
                return Ok(None);
            };
            let failure = schema.failure(&document);
            if schema.is_too_deep() {
                return Err(codes::ER_JSON_DOCUMENT_TOO_DEEP.error());
            }
            Ok(Some(failure))
        };
        if self.reports {
            return output::texts(row_count, context, |row, out| {
                let found = failure(row)?;
                if let Some(failure) = &found {
                    report(failure.as_ref()).append_to(out);
                }
                Ok(found.is_some())
            });
        }
        output::bools(row_count, |row| {
            Ok(failure(row)?.map(|failure| failure.is_none()))
        })
    }
}

/// Errors 3853 for a schema that is no object, 1235 for one that refers to another document.
fn check_schema(schema: &Json, function: &str) -> Result<()> {
    if !matches!(schema, Json::Object(_)) {
        return Err(codes::ER_INVALID_JSON_TYPE.with(&[&1, &function, &"object"]));
    }
    if Schema::new(schema).has_remote_reference() {
        return Err(codes::ER_NOT_SUPPORTED_YET.with(&[&"references in JSON Schema"]));
    }
    Ok(())
}

fn report(failure: Option<&Failure>) -> Json {
    let text = |text: &str| Json::String(text.to_owned());
    let mut members = vec![("valid".to_owned(), Json::Bool(failure.is_none()))];
    if let Some(Failure {
        schema,
        document,
        keyword,
    }) = failure
    {
        let reason = format!(
            "The JSON document location '{document}' failed requirement '{keyword}' at JSON Schema \
             location '{schema}'"
        );
        members.extend([
            ("reason".to_owned(), text(&reason)),
            ("schema-location".to_owned(), text(schema)),
            ("document-location".to_owned(), text(document)),
            ("schema-failed-keyword".to_owned(), text(keyword)),
        ]);
    }
    Json::Object(JsonObject::of(members))
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            (
                "json_schema_valid",
                &[t(r#"{"type": "integer"}"#), t("1")],
                "1",
            ),
            (
                "json_schema_valid",
                &[t(r#"{"type": "integer"}"#), t("1.0")],
                "0",
            ),
            // A reference to itself ends.
            (
                "json_schema_valid",
                &[t(r##"{"$ref": "#", "allOf": [{"$ref": "#"}]}"##), t("1")],
                "1",
            ),
            (
                "json_schema_valid",
                &[t(r##"{"allOf": [{"$ref": "#"}]}"##), t("1")],
                "1",
            ),
            ("json_schema_valid", &[NULL, t("1")], "NULL"),
            (
                "json_schema_validation_report",
                &[t("{}"), t("1")],
                r#"{"valid": true}"#,
            ),
        ]);
    }
}
