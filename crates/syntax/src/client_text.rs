//! Converts a statement in a client's character set to UTF-8, the only encoding inside.
//!
//! Names, comments and strings are in the client's character set, but a string may hold any bytes:
//! a string with an introducer is in another character set, and dumps write BLOBs between quotes as
//! they are. The bytes of such a string become a hexadecimal literal of the same value.

use std::borrow::Cow;
use std::fmt::Write;

use crate::ParseOptions;
use crate::lexer::lex_bytes;
use crate::lexer::literal::unquote_bytes;
use crate::lexer::token::{Kind, Token};

/// The text of statements in a client's character set, which `decode` reads (`None`: bytes that are
/// not valid in it).
///
/// # Errors
/// The first invalid bytes outside of strings and comments.
pub fn client_text<'a>(
    sql: &'a [u8],
    options: &ParseOptions,
    decode: &dyn Fn(&[u8]) -> Option<Cow<'_, str>>,
) -> Result<Cow<'a, str>, Vec<u8>> {
    if sql.is_ascii() {
        return Ok(String::from_utf8_lossy(sql));
    }
    let mut text = String::with_capacity(sql.len() + sql.len() / 2);
    let mut position = 0;
    loop {
        let lexed = lex_bytes(sql, position, options);
        let mut before = None;
        for token in &lexed.tokens {
            let start = token.start as usize;
            // Blanks and comments.
            let between = sql.get(position..start).unwrap_or_default();
            text.push_str(&decode(between).unwrap_or_else(|| String::from_utf8_lossy(between)));
            let source = sql.get(start..token.end as usize).unwrap_or_default();
            push_token(&mut text, token, before, source, options, decode)?;
            before = Some(token.kind);
            position = token.end as usize;
        }
        if lexed.next >= sql.len() {
            return Ok(Cow::Owned(text));
        }
    }
}

fn push_token(
    text: &mut String,
    token: &Token,
    before: Option<Kind>,
    source: &[u8],
    options: &ParseOptions,
    decode: &dyn Fn(&[u8]) -> Option<Cow<'_, str>>,
) -> Result<(), Vec<u8>> {
    let is_string = token.kind == Kind::String;
    let is_introduced = is_string && before == Some(Kind::Introducer);
    match decode(source) {
        Some(decoded) if !is_introduced || source.is_ascii() => text.push_str(&decoded),
        _ if is_string => {
            text.push_str(" x'");
            for byte in unquote_bytes(source, options.no_backslash_escapes).iter() {
                // Writing to a string does not fail.
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\'');
        }
        _ => return Err(source.to_vec()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(bytes: &[u8]) -> Option<Cow<'_, str>> {
        std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
    }

    fn latin1(bytes: &[u8]) -> Option<Cow<'_, str>> {
        Some(bytes.iter().map(|byte| char::from(*byte)).collect())
    }

    fn text(sql: &[u8], decode: &dyn Fn(&[u8]) -> Option<Cow<'_, str>>) -> Result<String, Vec<u8>> {
        client_text(sql, &ParseOptions::MYSQL_DEFAULT, decode).map(Cow::into_owned)
    }

    #[test]
    fn strings_that_are_no_text_become_hexadecimal() {
        let sql =
            b"INSERT INTO t VALUES ('\xff\\0''\\'\\\\',_binary '\xc3\x28',\"\xc3\xa9\") -- \xff\n";
        let expected =
            "INSERT INTO t VALUES ( x'ff0027275c',_binary  x'c328',\"\u{e9}\") -- \u{fffd}\n";
        assert_eq!(text(sql, &utf8), Ok(expected.to_owned()));
    }

    #[test]
    fn every_statement_of_a_text() {
        let sql = b"SELECT '\xff'; SELECT '\xfe';\n";
        assert_eq!(
            text(sql, &utf8),
            Ok("SELECT  x'ff'; SELECT  x'fe';\n".to_owned())
        );
    }

    #[test]
    fn introduced_strings_are_not_in_the_client_s_character_set() {
        let sql = b"SELECT '\xe9', _binary'\xe9', _latin1 'a', `\xe4`";
        let expected = "SELECT '\u{e9}', _binary x'e9', _latin1 'a', `\u{e4}`";
        assert_eq!(text(sql, &latin1), Ok(expected.to_owned()));
    }

    #[test]
    fn names_must_be_text() {
        assert_eq!(text(b"SELECT `\xff`", &utf8), Err(b"`\xff`".to_vec()));
    }
}
