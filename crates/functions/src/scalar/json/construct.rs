//! JSON_ARRAY(value, …) and JSON_OBJECT(key, value, …).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Values};
use crate::input::Texts;
use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_array"], 0..=usize::MAX, array_signature, array),
    Row::new(&["json_object"], 0..=usize::MAX, object_signature, object),
];

fn array_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(arguments::value_type);
    Ok(Signature::new(types, SqlType::json(), true))
}

fn array(call: &Call<'_>) -> Result<ArrayRef> {
    let indexes = 0..call.arguments.len();
    let values: Vec<_> = indexes
        .map(|index| Values::new(call, index))
        .collect::<Result<_>>()?;
    output::documents(call, |row, out| {
        out.push(b'[');
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b", ");
            }
            value.append(row, out);
        }
        out.push(b']');
        Ok(true)
    })
}

fn object_signature(binding: &Binding<'_>) -> Result<Signature> {
    if !binding.arguments.len().is_multiple_of(2) {
        return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&binding.name]));
    }
    let mut types = Vec::with_capacity(binding.arguments.len());
    for (index, argument) in binding.arguments.iter().enumerate() {
        types.push(match index % 2 {
            0 => binding.text(index),
            _ => arguments::value_type(argument),
        });
    }
    Ok(Signature::new(types, SqlType::json(), true))
}

fn object(call: &Call<'_>) -> Result<ArrayRef> {
    let mut members: Vec<(Texts<'_>, Values<'_>)> = Vec::with_capacity(call.arguments.len() / 2);
    for key in (0..call.arguments.len()).step_by(2) {
        members.push((call.texts(key)?, Values::new(call, key + 1)?));
    }
    output::documents(call, |row, out| {
        let mut object = Vec::with_capacity(members.len());
        for (keys, values) in &members {
            let key = keys.get(row);
            let key = key.ok_or_else(|| codes::ER_JSON_DOCUMENT_NULL_KEY.error())?;
            object.push((String::from_utf8_lossy(key).into_owned(), values.tree(row)));
        }
        Json::Object(JsonObject::of(object)).append_to(out);
        Ok(true)
    })
}
