//! Functions of VECTOR values: TO_VECTOR(text), FROM_VECTOR(vector), VECTOR_DIM(vector) (the manual, "Vector
//! Functions").

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::vector::{self, DIMENSIONS_MAX};
use mayfly_types::{Error, Result, SqlType, TypeKind};

use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, derive, output};

/// Characters of an element's text that clients are told of.
const ELEMENT_CHARACTERS: u32 = 16;
/// The width of a number of elements.
const NUMBER_WIDTH: u32 = 10;

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(
        &["to_vector", "string_to_vector"],
        1..=1,
        to_signature,
        to_vector,
    )
    .with(&[Fact::Strict])
    .parameters(Parameters::Typed(&[(ParameterType::Text, 0..1)])),
    Row::new(
        &["from_vector", "vector_to_string"],
        1..=1,
        from_signature,
        from_vector,
    )
    .strict_of_bytes(),
    Row::new(&["vector_dim"], 1..=1, dimensions_signature, dimensions).strict_of_bytes(),
];

/// Error 6138; MySQL shows the text, but no bytes.
fn no_vector(text: &[u8]) -> Error {
    codes::ER_TO_VECTOR_CONVERSION.with(&[&String::from_utf8_lossy(text)])
}

fn wrong_arguments(binding: &Binding<'_>) -> Error {
    codes::ER_WRONG_ARGUMENTS.with(&[&binding.name])
}

fn to_signature(binding: &Binding<'_>) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    let is_text = ty.is_string() && !ty.is_geometry();
    if !is_text && ty.kind != TypeKind::Null {
        return Err(wrong_arguments(binding));
    }
    let result = SqlType::vector(DIMENSIONS_MAX);
    Ok(Signature::new(vec![binding.text(0)], result, true))
}

fn to_vector(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let is_vector = call.ty(0).kind == TypeKind::Vector;
    output::texts(call, |row, out| match texts.get(row) {
        None => Ok(false),
        Some(text) if !is_vector && vector::parse(text, out) => Ok(true),
        Some(_) if is_vector => Err(no_vector(&[])),
        Some(text) => Err(no_vector(text)),
    })
}

/// The signature of a function of a VECTOR: error 1210 for anything but bytes.
fn of_vector(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    let ty = binding.arguments[0].ty;
    if !ty.is_binary_string() && ty.kind != TypeKind::Null {
        return Err(wrong_arguments(binding));
    }
    Ok(Signature::new(vec![binding.text(0)], result, true))
}

fn from_signature(binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        length: DIMENSIONS_MAX * ELEMENT_CHARACTERS,
        ..SqlType::text(TypeKind::LongText, binding.session.collation_connection)
    };
    of_vector(binding, result)
}

fn from_vector(call: &Call<'_>) -> Result<ArrayRef> {
    let values = call.texts(0)?;
    output::texts(call, |row, out| {
        let Some(value) = values.get(row) else {
            return Ok(false);
        };
        vector::dimensions(value).ok_or_else(|| no_vector(&[]))?;
        vector::append_text(out, value);
        Ok(true)
    })
}

fn dimensions_signature(binding: &Binding<'_>) -> Result<Signature> {
    of_vector(binding, derive::int_of_width(NUMBER_WIDTH))
}

fn dimensions(call: &Call<'_>) -> Result<ArrayRef> {
    let values = call.texts(0)?;
    output::ints(call.rows, |row| {
        let Some(value) = values.get(row) else {
            return Ok(None);
        };
        let dimensions = vector::dimensions(value).ok_or_else(|| no_vector(&[]))?;
        Ok(Some(i64::from(dimensions)))
    })
}
