//! JSON_VALUE(document, path [RETURNING type] [response ON EMPTY] [response ON ERROR]).
//!
//! The planner passes the clauses as arguments: a NULL of the type, then for either event a keyword, `null`, `error`
//! or `default`, and a default value.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::convert::{CastContext, array_of_values, array_value, cast_value};
use mayfly_types::error::codes;
use mayfly_types::json::text::unquote;
use mayfly_types::json::{JsonKind, kind_of};
use mayfly_types::{CollationId, Diagnostics, Error, Result, SqlType, TypeKind, Value};

use super::arguments::{self, Documents, Paths, Wildcards};
use crate::input::Texts;
use crate::scalar::Row;
use crate::scalar::facts::{ParameterType, Parameters};
use crate::{Binding, Call, Column, EvaluationContext, Signature, input};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["json_value"], 2..=7, signature, evaluate)
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))];

const NAME: &str = "json_value";

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let document = binding.arguments[0].ty;
    let is_text = document.is_string() || document.kind == TypeKind::Json;
    if !is_text && document.kind != TypeKind::Null {
        return Err(codes::ER_INVALID_TYPE_FOR_JSON.with(&[&1, &NAME]));
    }
    let result = match binding.arguments.get(2) {
        Some(returning) if returning.ty.kind != TypeKind::Null => returning.ty.clone(),
        _ => SqlType::varchar(512, CollationId::UTF8MB4_0900_BIN),
    };
    let mut types = vec![
        arguments::document_type(&binding.arguments[0]),
        binding.text(1),
    ];
    for index in 2..binding.arguments.len() {
        types.push(match index {
            3 | 5 => binding.text(index),
            _ => result.clone(),
        });
    }
    Ok(Signature::new(types, result, true))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = &call.signature.result;
    let documents = Documents::new(call, 0)?;
    let mut paths = Paths::new(&call.arguments[1], Wildcards::Allowed)?;
    let on_empty = Response::new(call.arguments, 3)?;
    let on_error = Response::new(call.arguments, 5)?;
    let mut values = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let value = match (documents.get(row), paths.get(row)?) {
            // A binary string is never a document.
            (Err(error), _) if error.is(&codes::ER_INVALID_JSON_CHARSET) => return Err(error),
            (Err(error), _) => on_error.value(row, || error)?,
            (Ok(Some(document)), Some(path)) => {
                let mut found = Vec::new();
                path.find(&document, &mut found);
                match found.as_slice() {
                    [] => {
                        let missing = || codes::ER_MISSING_JSON_VALUE.with(&[&NAME]);
                        on_empty.value(row, missing)?
                    }
                    [found] => match convert(found, ty, call.context) {
                        Ok(value) => value,
                        Err(error) => on_error.value(row, || error)?,
                    },
                    _ => {
                        let several = || codes::ER_MULTIPLE_JSON_VALUES.with(&[&NAME]);
                        on_error.value(row, several)?
                    }
                }
            }
            _ => Value::Null,
        };
        values.push(value);
    }
    Ok(array_of_values(&values, ty.physical()))
}

/// Response when there is no value, or none of the type.
struct Response<'a> {
    words: Option<Texts<'a>>,
    defaults: Option<&'a Column>,
}

impl<'a> Response<'a> {
    fn new(arguments: &'a [Column], index: usize) -> Result<Self> {
        Ok(Self {
            words: arguments.get(index).map(input::texts).transpose()?,
            defaults: arguments.get(index + 1),
        })
    }

    fn value(&self, row: usize, error: impl FnOnce() -> Error) -> Result<Value> {
        let word = self.words.and_then(|words| words.get(row));
        match word.unwrap_or_default() {
            b"error" => Err(error()),
            b"default" => Ok(match self.defaults {
                Some(Column::Array(array)) => array_value(array, row),
                Some(Column::Constant(value)) => value.clone(),
                None => Value::Null,
            }),
            _ => Ok(Value::Null),
        }
    }
}

/// Converts a value to the type; an error where a cast would warn.
fn convert(found: &[u8], ty: &SqlType, context: &EvaluationContext) -> Result<Value> {
    if ty.kind == TypeKind::Json {
        return Ok(Value::Bytes(found.to_vec()));
    }
    let kind = kind_of(found);
    if kind == JsonKind::Null {
        return Ok(Value::Null);
    }
    let out_of_range = || codes::ER_DATA_OUT_OF_RANGE.with(&[&type_name(ty), &NAME]);
    let (value, from) = match kind {
        JsonKind::String => {
            let text = SqlType::text(TypeKind::LongText, CollationId::UTF8MB4_BIN);
            (Value::Bytes(unquote(found).into_owned()), text)
        }
        JsonKind::Array | JsonKind::Object if !ty.is_string() => return Err(out_of_range()),
        _ => (Value::Bytes(found.to_vec()), SqlType::json()),
    };
    let warnings = Arc::new(Diagnostics::new(1));
    let cast = CastContext {
        diagnostics: &warnings,
        ..context.cast(NAME)
    };
    let value = cast_value(&value, &from, ty, &cast)?;
    if warnings.count() > 0 {
        return Err(out_of_range());
    }
    Ok(value)
}

fn type_name(ty: &SqlType) -> &'static str {
    match ty.kind {
        TypeKind::BigInt if ty.unsigned => "UNSIGNED",
        TypeKind::BigInt => "SIGNED",
        TypeKind::Decimal => "DECIMAL",
        TypeKind::Double => "DOUBLE",
        TypeKind::Float => "FLOAT",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime => "DATETIME",
        TypeKind::Year => "YEAR",
        _ => "CHAR",
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        let person = t("{\"fname\": \"Joe\", \"age\": 41, \"tags\": [1], \"none\": null}");
        check(&[
            ("json_value", &[person, t("$.fname")], "Joe"),
            ("json_value", &[person, t("$.age")], "41"),
            ("json_value", &[person, t("$.tags")], "[1]"),
            ("json_value", &[person, t("$.none")], "NULL"),
            ("json_value", &[person, t("$.x")], "NULL"),
            ("json_value", &[NULL, t("$.x")], "NULL"),
            ("json_value", &[person, t("$.age"), i(0)], "41"),
            ("json_value", &[person, t("$.fname"), i(0)], "NULL"),
            (
                "json_value",
                &[person, t("$.x"), i(0), t("default"), i(9)],
                "9",
            ),
            (
                "json_value",
                &[person, t("$.x"), i(0), t("error"), NULL],
                "ERROR 3966 (22035): No value was found by 'json_value' on the specified path.",
            ),
            (
                "json_value",
                &[
                    person,
                    t("$.fname"),
                    i(0),
                    t("null"),
                    NULL,
                    t("error"),
                    NULL,
                ],
                "ERROR 1690 (22003): SIGNED value is out of range in 'json_value'",
            ),
            (
                "json_value",
                &[
                    person,
                    t("$.fname"),
                    i(0),
                    t("null"),
                    NULL,
                    t("default"),
                    i(5),
                ],
                "5",
            ),
        ]);
    }
}
