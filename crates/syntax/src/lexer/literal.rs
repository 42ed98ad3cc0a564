//! Values of literals and quoted names.

use std::borrow::Cow;

/// MySQL 8.4's character sets: `_name` before a string is an introducer only for these.
static CHARSETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
    "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8",
    "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7",
    "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
    "utf8", "utf8mb3", "utf8mb4",
];

/// Whether a character set has this name.
pub(crate) fn is_charset(name: &[u8]) -> bool {
    CHARSETS
        .iter()
        .any(|charset| name.eq_ignore_ascii_case(charset.as_bytes()))
}

/// The text of a quoted name: the quotes gone, doubled quotes inside made single.
pub(crate) fn unquote_identifier(source: &str) -> String {
    let Some(quote) = source.chars().next() else {
        return String::new();
    };
    let inner = inside(source);
    if !inner.contains(quote) {
        return inner.to_owned();
    }
    let mut doubled = [0; 8];
    let quote: &str = quote.encode_utf8(&mut doubled);
    inner.replace(&quote.repeat(2), quote)
}

/// A quoted text without its first and last byte, which are the quotes.
fn inside(source: &str) -> &str {
    source.get(1..source.len().saturating_sub(1)).unwrap_or("")
}

/// The text of a hint comment.
pub(crate) fn inside_hint(source: &str) -> &str {
    let text = source.strip_prefix("/*+");
    text.and_then(|text| text.strip_suffix("*/")).unwrap_or("")
}

/// The value of a string in quotes. `\%` and `\_` keep their backslash, because only `LIKE` gives
/// them a meaning.
pub(crate) fn unquote_string(source: &str, no_backslash_escapes: bool) -> Cow<'_, str> {
    match unquote_bytes(source.as_bytes(), no_backslash_escapes) {
        Cow::Borrowed(_) => Cow::Borrowed(inside(source)),
        // Only ASCII is removed and inserted, so that the rest stays valid UTF-8.
        Cow::Owned(value) => match String::from_utf8(value) {
            Ok(value) => Cow::Owned(value),
            Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        },
    }
}

/// [`unquote_string`] for bytes that need not be valid text.
pub(crate) fn unquote_bytes(source: &[u8], no_backslash_escapes: bool) -> Cow<'_, [u8]> {
    let (Some(&quote), Some(inner)) = (
        source.first(),
        source.get(1..source.len().saturating_sub(1)),
    ) else {
        return Cow::Borrowed(&[]);
    };
    let escape = if no_backslash_escapes { quote } else { b'\\' };
    let mut rest = inner;
    let mut value = Vec::new();
    while let Some(at) = memchr::memchr2(quote, escape, rest) {
        if value.is_empty() {
            value.reserve(inner.len());
        }
        value.extend_from_slice(&rest[..at]);
        let escaped = rest.get(at + 1).copied();
        match (rest[at], escaped) {
            // The lexer lets a quote stand inside only as the first of a pair.
            (byte, _) if byte == quote => value.push(quote),
            (_, Some(b'0')) => value.push(0),
            (_, Some(b'b')) => value.push(8),
            (_, Some(b'n')) => value.push(b'\n'),
            (_, Some(b'r')) => value.push(b'\r'),
            (_, Some(b't')) => value.push(b'\t'),
            (_, Some(b'Z')) => value.push(0x1a),
            (_, Some(wildcard @ (b'%' | b'_'))) => value.extend_from_slice(&[b'\\', wildcard]),
            (_, Some(other)) => value.push(other),
            (_, None) => {}
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    if rest.len() == inner.len() {
        return Cow::Borrowed(inner);
    }
    value.extend_from_slice(rest);
    Cow::Owned(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        let check = |source: &str, value: &str| assert_eq!(unquote_string(source, false), value);
        check("'abc'", "abc");
        check("''", "");
        check("'it''s'", "it's");
        check("\"a\"\"b'\"", "a\"b'");
        check(r"'\0\'\b\n\r\t\Z\\\q'", "\0'\u{8}\n\r\t\u{1a}\\q");
        check(r"'\%\_'", r"\%\_");
        check("'é\\é'", "éé");
        assert_eq!(unquote_string(r"'a\'", true), "a\\");
        assert_eq!(unquote_string(r"'a\n''b'", true), "a\\n'b");
    }

    #[test]
    fn identifiers() {
        assert_eq!(unquote_identifier("`a b`"), "a b");
        assert_eq!(unquote_identifier("`a``b`"), "a`b");
        assert_eq!(unquote_identifier("\"a\"\"`\""), "a\"`");
    }
}
