//! Storing in string and JSON columns.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;

use super::context::StoreContext;
use crate::charset::{Charset, utf8};
use crate::collation::trim_spaces;
use crate::convert::array::{all_within, same_text};
use crate::convert::float_text::append_within;
use crate::convert::shown_bytes;
use crate::convert::source::Datum;
use crate::convert::text::append_text;
use crate::decimal::plain::spaces;
use crate::decimal::text::append_u64;
use crate::error::{Result, codes};
use crate::json;
use crate::sql_type::{SqlType, TypeKind};

/// Whether every value of a string array is stored as it is.
pub(super) fn all_fit(array: &ArrayRef, from: &SqlType, to: &SqlType) -> bool {
    if !from.is_string() || !same_text(from, to) {
        return false;
    }
    let is_binary = to.is_binary_string();
    match to.kind {
        TypeKind::Char if is_binary => {
            from.kind == TypeKind::Char && from.is_binary_string() && from.length == to.length
        }
        TypeKind::Char => {
            let ends_with_space = |value: &[u8]| value.last() == Some(&b' ');
            all_within(array, to.length as usize)
                && array
                    .as_binary_view_opt()
                    .is_some_and(|array| !array.iter().flatten().any(ends_with_space))
        }
        _ => all_within(array, to.length as usize),
    }
}

/// Stores in a string column.
pub(super) fn string(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    let to_charset = to.collation.charset();
    let mut complained = false;
    match datum {
        Datum::Bytes(bytes) => {
            let from_charset = from.collation.charset();
            let bytes = match from.kind {
                TypeKind::Json => json::displayed(bytes),
                _ => Cow::Borrowed(bytes),
            };
            complained = transcode(out, &bytes, from_charset, to_charset, context)?;
        }
        // In a TEXT bits are bytes, elsewhere their number.
        Datum::UInt(bits) if from.kind == TypeKind::Bit && !to.is_blob() => append_u64(out, bits),
        Datum::UInt(_) if from.kind == TypeKind::Bit && !to.is_binary_string() => {
            let mut bits = Vec::new();
            append_text(&mut bits, datum, from);
            complained = transcode(out, &bits, Charset::Binary, to_charset, context)?;
        }
        // A number is stored with its own digits, whatever those of its column; a TEXT has its text.
        Datum::Float(value) if !to.is_blob() => {
            if append_within(out, value, to.length as usize) {
                refuse_length(context)?;
            }
        }
        _ => append_text(out, datum, from),
    }
    limit_length(out, to, complained, context)
}

/// Appends a text in the column's character set; returns whether it warned. Missing characters become `?`; invalid
/// bytes end the text.
fn transcode(
    out: &mut Vec<u8>,
    bytes: &[u8],
    from: Charset,
    to: Charset,
    context: &StoreContext<'_>,
) -> Result<bool> {
    let (text, wrong): (Cow<'_, [u8]>, Option<usize>) = match (from, to) {
        (_, Charset::Binary) => (from.encode_lossy(bytes), None),
        (Charset::Binary, _) => match to.decode(bytes) {
            Ok(text) => (text, None),
            Err(error) => (bytes[..error.position].into(), Some(error.position)),
        },
        _ if from == to || bytes.is_ascii() || to == Charset::Utf8mb4 => (bytes.into(), None),
        _ => {
            let wrong = to.encode(bytes).err().map(|error| error.position);
            (to.restrict(bytes), wrong)
        }
    };
    if let Some(position) = wrong {
        context.incorrect("string", || shown_bytes(&bytes[position..]))?;
    }
    out.extend_from_slice(&text);
    Ok(wrong.is_some())
}

/// 1406, or without strict mode warning 1265.
fn refuse_length(context: &StoreContext<'_>) -> Result<()> {
    let code = if context.is_strict() {
        codes::ER_DATA_TOO_LONG
    } else {
        codes::WARN_DATA_TRUNCATED
    };
    context.reject(|| context.column_error(&code))
}

/// Cuts, trims or pads the value to the column's length. At most one warning per value.
fn limit_length(
    out: &mut Vec<u8>,
    to: &SqlType,
    complained: bool,
    context: &StoreContext<'_>,
) -> Result<()> {
    let charset = to.collation.charset();
    let is_binary = charset == Charset::Binary;
    let limit = to.length as usize;
    if out.len() > limit {
        let end = match to.kind {
            _ if is_binary => limit,
            TypeKind::Char | TypeKind::VarChar => utf8::offset_of_char(out, limit),
            // The TEXT kinds are limited in bytes, but hold whole characters.
            _ if charset.octet_length(out) <= limit => out.len(),
            _ if charset.max_length() == 1 => utf8::offset_of_char(out, limit),
            _ => (0..=limit)
                .rev()
                .find(|at| out[*at] & 0xC0 != 0x80)
                .unwrap_or(0),
        };
        if end < out.len() {
            // Spaces of character sets of two or four bytes are not recognized as white space.
            let knows_spaces = !is_binary && charset.min_length() == 1;
            let only_spaces = knows_spaces && spaces(&out[end..]) == out.len() - end;
            if complained {
                // A worse fault was reported already.
            } else if !only_spaces {
                refuse_length(context)?;
            } else if to.kind != TypeKind::Char {
                context.note_truncated();
            }
            out.truncate(end);
        }
    }
    if to.kind == TypeKind::Char {
        if is_binary {
            out.resize(limit, 0);
        } else {
            out.truncate(trim_spaces(out).len());
        }
    }
    Ok(())
}

/// Stores in a JSON column. Invalid JSON text is an error in every mode.
pub(super) fn json(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    let column = || format!("{}.{}", context.table, context.column);
    match datum {
        Datum::Bytes(bytes) if from.kind == TypeKind::Json => out.extend_from_slice(bytes),
        Datum::Bytes(_) if from.is_binary_string() => {
            return Err(codes::ER_INVALID_JSON_CHARSET.with(&[&"binary"]));
        }
        Datum::Bytes(bytes) => {
            json::append_normalized(out, bytes).map_err(|error| error.in_column(&column()))?;
        }
        _ => {
            return Err(codes::ER_INVALID_JSON_TEXT.with(&[
                &"not a JSON text, may need CAST",
                &0,
                &column(),
            ]));
        }
    }
    Ok(())
}
