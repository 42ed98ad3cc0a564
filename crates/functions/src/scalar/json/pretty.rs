//! JSON_PRETTY(document): one value per line, indented by two spaces per level.

use arrow_array::ArrayRef;
use mayfly_types::json::text::{elements, members};
use mayfly_types::json::{JsonKind, displayed, kind_of};
use mayfly_types::{CollationId, Result};

use super::arguments::{self, Documents};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["json_pretty"], 1..=1, signature, evaluate)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_documents(binding, derive::long_text(CollationId::UTF8MB4_BIN))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    output::documents(call, |row, out| {
        let document = documents.get(row)?;
        if let Some(document) = &document {
            append(out, document, 0);
        }
        Ok(document.is_some())
    })
}

/// Appends a value. Recursion is bounded: documents are at most a hundred levels deep.
fn append(out: &mut Vec<u8>, value: &[u8], depth: usize) {
    let new_line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + depth * 2, b' ');
    };
    let kind = kind_of(value);
    let mut is_first = true;
    let mut begin = |out: &mut Vec<u8>, bracket: u8| {
        out.push(if std::mem::take(&mut is_first) {
            bracket
        } else {
            b','
        });
        new_line(out, depth + 1);
    };
    let closing = match kind {
        JsonKind::Array if elements(value).next().is_some() => {
            for element in elements(value) {
                begin(out, b'[');
                append(out, element, depth + 1);
            }
            b']'
        }
        JsonKind::Object if members(value).next().is_some() => {
            for (key, member) in members(value) {
                begin(out, b'{');
                out.extend_from_slice(key);
                out.extend_from_slice(b": ");
                append(out, member, depth + 1);
            }
            b'}'
        }
        _ => {
            out.extend_from_slice(&displayed(value));
            return;
        }
    };
    new_line(out, depth);
    out.push(closing);
}
