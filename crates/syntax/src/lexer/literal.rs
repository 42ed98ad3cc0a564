//! What literals and quoted names stand for.

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

/// The value of a string in quotes. `\%` and `\_` keep their backslash, because only `LIKE` gives
/// them a meaning.
pub(crate) fn unquote_string(source: &str, no_backslash_escapes: bool) -> Cow<'_, str> {
    let Some(quote) = source.chars().next() else {
        return Cow::Borrowed("");
    };
    let inner = inside(source);
    if !inner.contains(quote) && (no_backslash_escapes || !inner.contains('\\')) {
        return Cow::Borrowed(inner);
    }
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character == quote {
            // The lexer lets a quote stand inside only as the first of a pair.
            characters.next();
            value.push(quote);
        } else if character == '\\' && !no_backslash_escapes {
            match characters.next() {
                Some('0') => value.push('\0'),
                Some('b') => value.push('\u{8}'),
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('Z') => value.push('\u{1a}'),
                Some(wildcard @ ('%' | '_')) => {
                    value.push('\\');
                    value.push(wildcard);
                }
                Some(other) => value.push(other),
                None => {}
            }
        } else {
            value.push(character);
        }
    }
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
