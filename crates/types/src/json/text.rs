//! Reading normalised text in place: what a value is, its elements and members, its scalar.
//!
//! Everything here trusts that the text was normalised. Of other text it may make nonsense, but
//! never panics.

use std::borrow::Cow;

use super::tag::untagged;
use super::{Json, TypeTag, print};
use crate::decimal::{Decimal, parse_decimal};

/// Kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// Any number
    Number,
    /// `"..."`
    String,
    /// `[...]`
    Array,
    /// `{...}`
    Object,
}

/// Kind of a normalised value.
pub fn kind_of(text: &[u8]) -> JsonKind {
    match text.first() {
        Some(b'{') => JsonKind::Object,
        Some(b'[') => JsonKind::Array,
        Some(b'"') => JsonKind::String,
        Some(b't' | b'f') => JsonKind::Bool,
        Some(b'n') | None => JsonKind::Null,
        Some(_) => JsonKind::Number,
    }
}

/// A JSON scalar; arrays and objects are only named.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonScalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// See [`Json::Int`]
    Int(i64),
    /// See [`Json::UInt`]
    UInt(u64),
    /// See [`Json::Double`]
    Double(f64),
    /// See [`Json::Decimal`]
    Decimal(Decimal),
    /// The string without quotes and escapes
    String(Cow<'a, [u8]>),
    /// `[...]`
    Array,
    /// `{...}`
    Object,
}

/// The scalar that a normalised value is.
pub fn scalar_of(text: &[u8]) -> JsonScalar<'_> {
    match kind_of(text) {
        JsonKind::Null => JsonScalar::Null,
        JsonKind::Bool => JsonScalar::Bool(text.first() == Some(&b't')),
        JsonKind::String => JsonScalar::String(unquote(text)),
        JsonKind::Array => JsonScalar::Array,
        JsonKind::Object => JsonScalar::Object,
        JsonKind::Number => match classify_number(text) {
            Json::Int(value) => JsonScalar::Int(value),
            Json::UInt(value) => JsonScalar::UInt(value),
            Json::Decimal(value) => JsonScalar::Decimal(value),
            Json::Double(value) => JsonScalar::Double(value),
            _ => JsonScalar::Null,
        },
    }
}

/// The number of a normalised text. Without a tag it is a DECIMAL unless a DOUBLE prints the same way.
pub(super) fn classify_number(number: &[u8]) -> Json {
    let (digits, tag) = untagged(number);
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match tag {
        Some(TypeTag::Decimal) => return Json::Decimal(parse_decimal(digits).value),
        Some(TypeTag::Unsigned) => return Json::UInt(text.parse().unwrap_or_default()),
        _ => {}
    }
    if !digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        if let Ok(value) = text.parse() {
            return Json::Int(value);
        }
        if let Ok(value) = text.parse() {
            return Json::UInt(value);
        }
        return Json::Decimal(parse_decimal(digits).value);
    }
    let value: f64 = text.parse().unwrap_or(0.0);
    let mut printed = Vec::with_capacity(24);
    print::append_double(&mut printed, value);
    if printed == digits || digits.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        return Json::Double(value);
    }
    Json::Decimal(parse_decimal(digits).value)
}

/// The name of a normalised value's type, as `JSON_TYPE` gives it.
pub fn type_name(text: &[u8]) -> &'static str {
    if let (_, Some(tag)) = untagged(text) {
        return tag.name();
    }
    match scalar_of(text) {
        JsonScalar::Null => "NULL",
        JsonScalar::Bool(_) => "BOOLEAN",
        JsonScalar::Int(_) => "INTEGER",
        JsonScalar::UInt(_) => "UNSIGNED INTEGER",
        JsonScalar::Double(_) => "DOUBLE",
        JsonScalar::Decimal(_) => "DECIMAL",
        JsonScalar::String(_) => "STRING",
        JsonScalar::Array => "ARRAY",
        JsonScalar::Object => "OBJECT",
    }
}

/// The characters of a normalised string value (`"a\nb"`).
pub fn unquote(text: &[u8]) -> Cow<'_, [u8]> {
    let (text, _) = untagged(text);
    let inner = text.strip_prefix(b"\"").unwrap_or(text);
    let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
    if !inner.contains(&b'\\') {
        return Cow::Borrowed(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let Some(escaped) = rest.get(at + 1) else {
            rest = &[];
            break;
        };
        let mut length = 2;
        match escaped {
            b'b' => out.push(0x08),
            b'f' => out.push(0x0C),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                // Normalised text has this form only for control characters.
                let digits = rest.get(at + 2..at + 6).unwrap_or_default();
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                let point = u32::from_str_radix(digits, 16).unwrap_or(0);
                crate::charset::utf8::encode(point, &mut out);
                length = 6;
            }
            other => out.push(*other),
        }
        rest = rest.get(at + length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// The length of the value at the start of a text, which must not be empty.
fn value_length(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => {
            let length = string_length(text);
            let tag = text.get(length).copied().and_then(TypeTag::of);
            length + usize::from(tag.is_some())
        }
        Some(b'{' | b'[') => {
            let mut depth = 0_usize;
            let mut at = 0;
            while let Some(byte) = text.get(at) {
                match byte {
                    b'"' => {
                        at += string_length(&text[at..]);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            text.len()
        }
        _ => text
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']'))
            .unwrap_or(text.len()),
    }
}

/// The length of the string at the start of a text, with its quotes.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Iterator over the elements of a normalised array, in order; empty for any other value.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

/// The elements of a normalised array.
pub fn elements(text: &[u8]) -> Elements<'_> {
    let inner = text
        .strip_prefix(b"[")
        .and_then(|text| text.strip_suffix(b"]"));
    Elements {
        rest: inner.unwrap_or_default(),
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (value, rest) = self.rest.split_at(value_length(self.rest));
        self.rest = rest.strip_prefix(b", ").unwrap_or_default();
        Some(value)
    }
}

/// Iterator over the members of a normalised object, in order; empty for any other value.
#[derive(Debug, Clone)]
pub struct Members<'a> {
    rest: &'a [u8],
}

/// The members of a normalised object.
pub fn members(text: &[u8]) -> Members<'_> {
    let inner = text
        .strip_prefix(b"{")
        .and_then(|text| text.strip_suffix(b"}"));
    Members {
        rest: inner.unwrap_or_default(),
    }
}

impl<'a> Iterator for Members<'a> {
    /// The key as written, in quotes and escaped (see [`unquote`]), and the value.
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (key, rest) = self
            .rest
            .split_at(string_length(self.rest).min(self.rest.len()));
        let rest = rest.strip_prefix(b": ").unwrap_or_default();
        let (value, rest) = rest.split_at(value_length(rest));
        self.rest = rest.strip_prefix(b", ").unwrap_or_default();
        Some((key, value))
    }
}

/// Number of elements of an array, or of members of an object; 1 for a scalar (`JSON_LENGTH`).
pub fn length(text: &[u8]) -> usize {
    match kind_of(text) {
        JsonKind::Array => elements(text).count(),
        JsonKind::Object => members(text).count(),
        _ => 1,
    }
}
