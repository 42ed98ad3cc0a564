//! Attributes of documents: JSON_VALID(value), JSON_TYPE(document), JSON_DEPTH(document), JSON_LENGTH(document[,
//! path]), JSON_KEYS(document[, path]).

use arrow_array::ArrayRef;
use mayfly_types::json::text::{length, members, type_name};
use mayfly_types::json::{self, JsonError, JsonKind, kind_of};
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use super::arguments::{self, Documents, Paths, Wildcards};
use super::extract::append_array;
use crate::choice::{as_value, is_null};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_valid"], 1..=1, valid_signature, valid)
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)])),
    Row::new(&["json_type"], 1..=1, type_signature, json_type)
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)])),
    Row::new(&["json_depth"], 1..=1, count_signature, depth)
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)])),
    Row::new(&["json_length"], 1..=2, count_signature, json_length)
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
        .with(&[Fact::StopsAtNull]),
    Row::new(&["json_keys"], 1..=2, keys_signature, keys)
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
        .with(&[Fact::StopsAtNull]),
];

fn valid_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![as_value(binding.arguments[0].ty)];
    Ok(Signature::new(types, derive::predicate_of_width(21), true))
}

fn valid(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = call.ty(0);
    let is_json = ty.kind == TypeKind::Json;
    if ty.kind != TypeKind::Null && !ty.is_string() && !is_json {
        // Numbers and dates are no documents, and neither is a NULL of these types.
        return output::bools(call.rows, |_| Ok(Some(false)));
    }
    if !ty.is_string() || ty.is_binary_string() {
        return output::bools(call.rows, |row| {
            Ok((!is_null(&call.arguments[0], row)).then_some(is_json))
        });
    }
    let texts = call.texts(0)?;
    output::bools(call.rows, |row| {
        let Some(text) = texts.get(row) else {
            return Ok(None);
        };
        match json::parse(text) {
            Err(error @ JsonError::TooDeep) => Err(error.in_argument(1, call.name)),
            parsed => Ok(Some(parsed.is_ok())),
        }
    })
}

fn type_signature(binding: &Binding<'_>) -> Result<Signature> {
    // The longest name is UNSIGNED INTEGER.
    arguments::of_documents(binding, SqlType::varchar(17, CollationId::UTF8MB4_BIN))
}

fn json_type(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    output::borrowed_texts(call, |row| {
        let document = documents.get(row)?;
        Ok(document.map(|document| type_name(&document).as_bytes()))
    })
}

/// The types of a function that counts in a document, or in its part at a path.
pub(super) fn count_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_document_and_texts(binding, derive::bigint_of_width(21))
}

fn depth(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    output::ints(call.rows, |row| {
        Ok(documents.tree(row)?.map(|document| document.depth() as i64))
    })
}

/// Number of elements or members; 1 for a scalar.
fn json_length(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    let mut paths = Paths::all(call, 1, Wildcards::Refused)?;
    output::ints(call.rows, |row| {
        let Some(document) = documents.get(row)? else {
            return Ok(None);
        };
        let part = arguments::part(&document, paths.first_mut(), row)?;
        Ok(part.map(|part| length(part) as i64))
    })
}

fn keys_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_document_and_texts(binding, SqlType::json())
}

/// The keys of an object, as an array.
fn keys(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    let mut paths = Paths::all(call, 1, Wildcards::Refused)?;
    output::documents(call, |row, out| {
        let Some(document) = documents.get(row)? else {
            return Ok(false);
        };
        let object = arguments::part(&document, paths.first_mut(), row)?;
        let object = object.filter(|part| kind_of(part) == JsonKind::Object);
        object.inspect(|object| append_array(out, members(object).map(|(key, _)| key)));
        Ok(object.is_some())
    })
}
