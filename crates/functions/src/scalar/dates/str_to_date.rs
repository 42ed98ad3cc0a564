//! STR_TO_DATE(text, format): the inverse of DATE_FORMAT.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::temporal::DateRules;
use mayfly_types::temporal::pattern::{str_to_date, time_of};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use super::arguments::{self, FRACTION_MAX};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["str_to_date"], 2..=2, signature, evaluate)
    .with(&[Fact::StopsAtNull, Fact::TypedByConstants(&[1])])];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(match binding.arguments[1].constant {
        Some(Value::Bytes(format)) if binding.arguments[1].ty.is_string() => type_of_format(format),
        // Neither has the text of a number or of a date, anything to be read.
        Some(value) if !value.is_null() => type_of_format(b""),
        _ => SqlType::temporal(TypeKind::DateTime, FRACTION_MAX),
    })
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, formats, context) = (call.texts(0)?, call.texts(1)?, call.context);
    let kind = call.signature.result.kind;
    let name = match kind {
        TypeKind::Time => "time",
        TypeKind::Date => "date",
        _ => "datetime",
    };
    let rules = DateRules::of(context.session.sql_mode);
    output::ints(call.rows, |row| {
        let (Some(text), Some(format)) = (texts.get(row), formats.get(row)) else {
            return Ok(None);
        };
        let read = str_to_date(text, format)
            .filter(|read| kind == TypeKind::Time || read.value.check(rules).is_ok());
        let Some(read) = read else {
            let text = String::from_utf8_lossy(text);
            let wrong = &codes::ER_WRONG_VALUE_FOR_TYPE;
            context.warn(wrong.with(&[&"datetime", &text, &call.name]));
            return Ok(None);
        };
        if read.truncated {
            arguments::warn_truncated(name, text, context);
        }
        Ok(Some(match kind {
            TypeKind::Time => time_of(read.value),
            TypeKind::Date => read.value.at_midnight().pack(),
            _ => read.value.pack(),
        }))
    })
}

/// The result type of a format; a day without month and year makes no date of a time.
fn type_of_format(format: &[u8]) -> SqlType {
    let (mut date, mut time, mut fraction) = (false, false, 0);
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            continue;
        }
        match bytes.next() {
            Some(b'f') => (time, fraction) = (true, FRACTION_MAX),
            Some(b'H' | b'I' | b'S' | b'T' | b'h' | b'i' | b'k' | b'l' | b'r' | b's') => {
                time = true;
            }
            Some(
                b'M' | b'V' | b'U' | b'X' | b'Y' | b'W' | b'a' | b'b' | b'c' | b'j' | b'm' | b'v'
                | b'u' | b'x' | b'y' | b'w',
            ) => date = true,
            _ => {}
        }
    }
    match (date, time) {
        (true, true) => SqlType::temporal(TypeKind::DateTime, fraction),
        (false, true) => SqlType::temporal(TypeKind::Time, fraction),
        _ => SqlType::temporal(TypeKind::Date, 0),
    }
}
