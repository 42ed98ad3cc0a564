//! GET_FORMAT(type, standard): format strings of several standards. The parser passes the type as a keyword.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::arguments;
use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["get_format"], 2..=2, signature, evaluate)];

/// The standard and its formats of DATE, TIME and DATETIME (the manual, GET_FORMAT).
const FORMATS: &[(&str, [&str; 3])] = &[
    ("USA", ["%m.%d.%Y", "%h:%i:%s %p", "%Y-%m-%d %H.%i.%s"]),
    ("JIS", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
    ("ISO", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
    ("EUR", ["%d.%m.%Y", "%H.%i.%s", "%Y-%m-%d %H.%i.%s"]),
    ("INTERNAL", ["%Y%m%d", "%H%i%s", "%Y%m%d%H%i%s"]),
];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(binding.string(17))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let kind = match arguments::word(call, 0)? {
        word if word.eq_ignore_ascii_case(b"date") => 0,
        word if word.eq_ignore_ascii_case(b"time") => 1,
        _ => 2,
    };
    let standards = call.texts(1)?;
    output::borrowed_texts(call, |row| {
        let standard = standards.get(row).and_then(|wanted| {
            FORMATS
                .iter()
                .find(|(name, _)| wanted.eq_ignore_ascii_case(name.as_bytes()))
        });
        Ok(standard.map(|(_, formats)| formats[kind].as_bytes()))
    })
}
