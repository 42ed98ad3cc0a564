//! JSON_EXTRACT(document, path, …), also written `->`.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Wildcards};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] =
    &[
        Row::new(&["json_extract"], 2..=usize::MAX, signature, evaluate)
            .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
            .with(&[Fact::StopsAtNull]),
    ];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_document_and_texts(binding, SqlType::json())
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    let mut paths = Paths::all(call, 1, Wildcards::Allowed)?;
    output::documents(call, |row, out| {
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

/// Appends an array of normalized values.
pub(super) fn append_array<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = &'a [u8]>) {
    out.push(b'[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
        }
        out.extend_from_slice(value);
    }
    out.push(b']');
}
