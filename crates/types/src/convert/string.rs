//! Casts to strings and JSON.

use std::borrow::Cow;

use super::float_text::{append_short_double, append_short_float};
use super::source::Datum;
use super::text::append_text;
use super::{CastContext, shown, shown_bytes};
use crate::charset::{Charset, utf8};
use crate::common_type::text_length;
use crate::error::{Error, codes};
use crate::geometry::{self, geojson};
use crate::json::{self, TypeTag};
use crate::sql_type::{DECIMAL_PRECISION_MAX, SqlType, TypeKind};

/// The longest value of a string type, in characters (bytes for binary strings); `None` for the engine's limit only.
pub(super) fn length_limit(to: &SqlType) -> Option<usize> {
    match to.kind {
        TypeKind::Char | TypeKind::VarChar => Some(to.length as usize),
        _ => None,
    }
}

/// The bytes of a value of one character set in another, before any length limit; `None` when they are not valid in it.
pub(super) fn transcode<'a>(bytes: &'a [u8], from: Charset, to: Charset) -> Option<Cow<'a, [u8]>> {
    match (from, to) {
        (from, to) if from == to => Some(Cow::Borrowed(bytes)),
        (Charset::Binary, to) => to.decode(bytes).ok(),
        (from, Charset::Binary) => Some(from.encode_lossy(bytes)),
        (_, to) => Some(to.restrict(bytes)),
    }
}

/// CAST(... AS CHAR) and BINARY: appends the value; `None` is NULL, with a warning.
pub(super) fn append_string(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Option<()> {
    let start = out.len();
    let to_charset = to.collation.charset();
    let mut bits = Vec::new();
    let datum = match datum {
        // Bits are bytes in a string context.
        Datum::UInt(_) if from.kind == TypeKind::Bit => {
            append_text(&mut bits, datum, from);
            Datum::Bytes(&bits)
        }
        other => other,
    };
    match datum {
        Datum::Bytes(bytes) => {
            let from_charset = from.collation.charset();
            let bytes = match from.kind {
                TypeKind::Json => json::displayed(bytes),
                _ => Cow::Borrowed(bytes),
            };
            match transcode(&bytes, from_charset, to_charset) {
                Some(text) => out.extend_from_slice(&text),
                None => {
                    let hex: String = bytes.iter().take(6).map(|b| format!("{b:02X}")).collect();
                    context
                        .diagnostics
                        .warn(codes::ER_INVALID_CHARACTER_STRING.with(&[&to_charset.name(), &hex]));
                    if context.sql_mode.is_strict() {
                        return None;
                    }
                    // Without strict mode the text ends where the bytes are none.
                    let valid = match std::str::from_utf8(&bytes) {
                        Ok(_) => 0,
                        Err(error) => error.valid_up_to(),
                    };
                    out.extend_from_slice(&transcode(&bytes[..valid], from_charset, to_charset)?);
                }
            }
        }
        Datum::Float(_) if from.zerofill => append_text(out, datum, from),
        Datum::Float(value) if from.kind == TypeKind::Float => {
            append_short_float(out, value, from.decimals);
        }
        Datum::Float(value) => {
            let width = length_limit(to).unwrap_or(usize::MAX);
            append_short_double(out, value, from.decimals, width);
        }
        _ => append_text(out, datum, from),
    }
    if let Some(limit) = length_limit(to) {
        // A result of arithmetic may have more digits than the 65 of its type (MySQL's values have up to 81), and a
        // text of the type's length holds them all.
        let holds_all = from.kind == TypeKind::Decimal
            && from.length == u32::from(DECIMAL_PRECISION_MAX)
            && limit >= text_length(from) as usize;
        if !holds_all {
            limit_length(out, start, limit, to, context);
        }
    }
    Some(())
}

fn limit_length(
    out: &mut Vec<u8>,
    start: usize,
    limit: usize,
    to: &SqlType,
    context: &CastContext<'_>,
) {
    let is_binary = to.collation.charset() == Charset::Binary;
    let length = out.len() - start;
    if length > limit {
        let end = if is_binary {
            limit
        } else {
            utf8::offset_of_char(&out[start..], limit)
        };
        if end < length {
            let name = if is_binary { "BINARY" } else { "CHAR" };
            let value = if is_binary {
                let bytes = out[start..].iter().take(64);
                bytes.map(|byte| shown_bytes(&[*byte])).collect()
            } else {
                shown(&out[start..])
            };
            let type_name = format!("{name}({limit})");
            context
                .diagnostics
                .warn(codes::ER_TRUNCATED_WRONG_VALUE.with(&[&type_name, &value]));
            out.truncate(start + end);
        }
    }
    if is_binary && to.kind == TypeKind::Char && out.len() - start < limit {
        out.resize(start + limit, 0);
    }
}

/// CAST(... AS JSON): appends the document.
pub(super) fn append_json(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
) -> Result<(), Error> {
    match (from.kind, datum) {
        (TypeKind::Json, Datum::Bytes(bytes)) => out.extend_from_slice(bytes),
        (TypeKind::Boolean, Datum::Int(value)) => {
            out.extend_from_slice(if value != 0 { b"true" } else { b"false" });
        }
        (TypeKind::Geometry(_), Datum::Bytes(value)) => {
            let read = geometry::bytes::read(value, geometry::bytes::Rules::STRUCTURE);
            let (srid, shape) =
                read.map_err(|_| codes::ER_GIS_INVALID_DATA.with(&[&"cast_as_json"]))?;
            let format = geojson::Format {
                system: geojson::SystemName::Always,
                ..geojson::Format::default()
            };
            geojson::to_json(srid, &shape, format).append_to(out);
        }
        (_, Datum::Bytes(bytes)) if from.is_binary_string() => {
            // A binary value has no characters; documents hold it as base64, with its type number of the protocol.
            let number = match from.kind {
                TypeKind::TinyText => 249,
                TypeKind::MediumText => 250,
                TypeKind::LongText if from.length == u32::MAX => 251,
                TypeKind::Text | TypeKind::LongText => 252,
                TypeKind::Char => 254,
                _ => 15,
            };
            let mut text = format!("base64:type{number}:").into_bytes();
            append_base64(&mut text, bytes);
            json::append_quoted(out, &text);
            out.push(TypeTag::Blob.byte());
        }
        (_, Datum::Bytes(bytes)) => json::append_normalized(out, bytes)
            .map_err(|error| error.in_argument(1, "cast_as_json"))?,
        (TypeKind::Float | TypeKind::Double, Datum::Float(value)) => {
            json::append_double(out, value);
        }
        (TypeKind::Enum | TypeKind::Set, _) => {
            let mut text = Vec::new();
            append_text(&mut text, datum, from);
            json::append_quoted(out, &text);
        }
        (TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time, _) => {
            let mut text = Vec::new();
            append_text(&mut text, datum, &SqlType::temporal(from.kind, 6));
            json::append_quoted(out, &text);
            let tag = match from.kind {
                TypeKind::Time => TypeTag::Time,
                TypeKind::Timestamp => TypeTag::Timestamp,
                _ => TypeTag::DateTime,
            };
            out.push(tag.byte());
        }
        (TypeKind::Date, _) => {
            let mut text = Vec::new();
            append_text(&mut text, datum, from);
            json::append_quoted(out, &text);
            out.push(TypeTag::Date.byte());
        }
        (TypeKind::Bit, Datum::UInt(_)) => {
            let mut bytes = Vec::new();
            append_text(&mut bytes, datum, from);
            let mut text = b"base64:type16:".to_vec();
            append_base64(&mut text, &bytes);
            json::append_quoted(out, &text);
            out.push(TypeTag::Bit.byte());
        }
        // A number has no zeros before it.
        (_, Datum::UInt(number)) => json::Json::UInt(number).append_to(out),
        (_, Datum::Decimal(number)) => json::Json::Decimal(number).append_to(out),
        _ => append_text(out, datum, from),
    }
    Ok(())
}

fn append_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            out.push(if place <= chunk.len() {
                DIGITS[(group >> (18 - 6 * place) & 63) as usize]
            } else {
                b'='
            });
        }
    }
}
