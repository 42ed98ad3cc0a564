//! JSON_SCHEMA_VALID(schema, document): whether a document satisfies a schema. JSON_SCHEMA_VALIDATION_REPORT(schema,
//! document): also the failed requirement.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents};
use super::schema::{Failure, Schema};
use crate::scalar::Row;
use crate::{Binding, Call, Column, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_schema_valid"], 2..=2, valid_signature, valid),
    Row::new(
        &["json_schema_validation_report"],
        2..=2,
        report_signature,
        reports,
    ),
];

fn valid_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_documents(binding, derive::predicate_of_width(1))
}

fn valid(call: &Call<'_>) -> Result<ArrayRef> {
    let mut failures = failures(call)?;
    output::bools(call.rows, |row| {
        Ok(failures(row)?.map(|failure| failure.is_none()))
    })
}

fn report_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_documents(binding, SqlType::json())
}

fn reports(call: &Call<'_>) -> Result<ArrayRef> {
    let mut failures = failures(call)?;
    output::texts(call, |row, out| {
        let failure = failures(row)?;
        if let Some(failure) = &failure {
            report(failure.as_ref()).append_to(out);
        }
        Ok(failure.is_some())
    })
}

/// The failed requirement of each row; `None` when the document or the schema is NULL.
fn failures<'a>(
    call: &Call<'a>,
) -> Result<impl FnMut(usize) -> Result<Option<Option<Failure>>> + use<'a>> {
    let (schemas, documents) = (Documents::new(call, 0)?, Documents::new(call, 1)?);
    let (name, is_constant) = (call.name, matches!(call.arguments[0], Column::Constant(_)));
    let mut known = None;
    Ok(move |row: usize| {
        if known.is_none() || !is_constant {
            let Some(schema) = schemas.tree(row)? else {
                return Ok(None);
            };
            check_schema(&schema, name)?;
            known = Some(schema);
        }
        let (Some(document), Some(schema)) = (documents.tree(row)?, &known) else {
            return Ok(None);
        };
        let schema = Schema::new(schema);
        let failure = schema.failure(&document);
        if schema.is_too_deep() {
            return Err(codes::ER_JSON_DOCUMENT_TOO_DEEP.error());
        }
        Ok(Some(failure))
    })
}

/// Error 3853 for a schema that is no object, 1235 for one that refers to another document.
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
