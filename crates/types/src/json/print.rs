//! Trees, strings and numbers as normalised text.

use super::{Json, TypeTag};
use crate::convert::float_text;
use crate::decimal::text::{append_i128, append_i256};
use crate::sql_type::DECIMALS_NOT_FIXED;

impl Json {
    /// Appends the normalised text.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Int(value) => append_i128(out, i128::from(*value), 0),
            Self::UInt(value) => {
                append_i128(out, i128::from(*value), 0);
                if i64::try_from(*value).is_ok() {
                    out.push(TypeTag::Unsigned.byte());
                }
            }
            Self::Double(value) => append_double(out, *value),
            Self::Decimal(value) => {
                append_i256(out, value.unscaled, value.scale);
                out.push(TypeTag::Decimal.byte());
            }
            Self::String(text) => append_quoted(out, text.as_bytes()),
            Self::Typed(text, tag) => {
                append_quoted(out, text.as_bytes());
                out.push(tag.byte());
            }
            Self::Array(elements) => {
                out.push(b'[');
                for (place, element) in elements.iter().enumerate() {
                    if place > 0 {
                        out.extend_from_slice(b", ");
                    }
                    element.append_to(out);
                }
                out.push(b']');
            }
            Self::Object(object) => {
                out.push(b'{');
                for (place, (key, value)) in object.members().iter().enumerate() {
                    if place > 0 {
                        out.extend_from_slice(b", ");
                    }
                    append_quoted(out, key.as_bytes());
                    out.extend_from_slice(b": ");
                    value.append_to(out);
                }
                out.push(b'}');
            }
        }
    }
}

/// Appends a string in quotes, escaped where the grammar demands it.
pub fn append_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    append_escaped(out, text);
    out.push(b'"');
}

/// Appends a string escaped, without quotes.
pub(super) fn append_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    loop {
        let plain = rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
            .unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        let Some(byte) = rest.get(plain) else { return };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = &rest[plain + 1..];
    }
}

/// Appends a DOUBLE; one without a fraction gets `.0`, so that it stays a DOUBLE.
pub fn append_double(out: &mut Vec<u8>, value: f64) {
    let start = out.len();
    float_text::append_double(out, value, DECIMALS_NOT_FIXED);
    if !out[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}
