//! Texts of statements without their passwords, to be stored and shown.

use std::borrow::Cow;

use crate::ParseOptions;
use crate::ast::{Prepare, PrepareSource, Statement};
use crate::keywords::Kw;
use crate::lexer::lex_statement;
use crate::lexer::token::{Kind, Token};
use crate::statements::ParsedStatement;

/// Replacement of a password.
const SECRET: &str = "'<secret>'";

/// The text of a statement without passwords.
pub fn without_passwords<'a>(parsed: &ParsedStatement<'a>, options: &ParseOptions) -> Cow<'a, str> {
    match &parsed.statement {
        Statement::Account(_) => replaced(parsed.text, options, is_behind_password_word),
        Statement::Prepare(Prepare {
            source: PrepareSource::Text(text),
            ..
        }) if may_have_password(text) => replaced(parsed.text, options, |_| true),
        // The text of a prepared statement may be concatenated, and any value may be a password.
        Statement::Prepare(_) | Statement::Execute(_) if may_have_password(parsed.text) => {
            replaced(parsed.text, options, |_| true)
        }
        Statement::SetStatement(_, inner) if matches!(**inner, Statement::Account(_)) => {
            replaced(parsed.text, options, |_| true)
        }
        // Statements on replication and servers have passwords among their options.
        Statement::Unsupported(_) if may_have_password(parsed.text) => {
            replaced(parsed.text, options, |_| true)
        }
        _ => Cow::Borrowed(parsed.text),
    }
}

/// A text that is not a statement, without the strings that would be passwords if it were one.
pub fn text_without_passwords<'a>(text: &'a str, options: &ParseOptions) -> Cow<'a, str> {
    if !may_have_password(text) {
        return Cow::Borrowed(text);
    }
    replaced(text, options, |_| true)
}

fn may_have_password(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |word: &[u8]| {
        let mut windows = bytes.windows(word.len());
        windows.any(|window| window.eq_ignore_ascii_case(word))
    };
    has(b"identified") || has(b"password")
}

/// Whether a string behind this token is a password or its stored form.
fn is_behind_password_word(before: Token) -> bool {
    matches!(before.keyword, Kw::BY | Kw::AS | Kw::REPLACE)
        || matches!(before.kind, Kind::Equal | Kind::Assign)
}

/// The text with strings replaced for which `is_secret` is true of the token before.
fn replaced<'a>(
    text: &'a str,
    options: &ParseOptions,
    is_secret: impl Fn(Token) -> bool,
) -> Cow<'a, str> {
    let mut shown = String::new();
    let mut taken = 0;
    let mut start = 0;
    while start < text.len() {
        let lexed = lex_statement(text, start, options);
        let mut before = None;
        let mut was_secret = false;
        for token in &lexed.tokens {
            let is_text = matches!(
                token.kind,
                Kind::String | Kind::NationalString | Kind::Hex | Kind::QuotedIdent | Kind::Invalid
            );
            // Adjacent strings are one string.
            let is_more = was_secret && is_text;
            was_secret = is_text && (is_more || before.is_some_and(&is_secret));
            before = Some(*token);
            if !was_secret {
                continue;
            }
            let end = match token.kind {
                // An unterminated token may hold anything.
                Kind::Invalid => text.len(),
                _ => token.end as usize,
            };
            shown.push_str(text.get(taken..token.start as usize).unwrap_or(""));
            shown.push_str(SECRET);
            taken = end.max(taken);
        }
        if lexed.next <= start {
            break;
        }
        start = lexed.next.max(taken);
    }
    if taken == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(text.get(taken..).unwrap_or(""));
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let options = ParseOptions::MYSQL_DEFAULT;
        match crate::statements(text, &options).next() {
            Some(Ok(parsed)) => without_passwords(&parsed, &options).into_owned(),
            _ => text_without_passwords(text, &options).into_owned(),
        }
    }

    #[test]
    fn no_password_is_shown() {
        for text in [
            "CREATE USER 'a'@'b' IDENTIFIED BY 'geheim'",
            "CREATE USER a IDENTIFIED BY 'gehe' 'im', b IDENTIFIED WITH x AS 'geheim'",
            "CREATE USER a IDENTIFIED BY \"geheim\" COMMENT 'c'",
            "CREATE USER a IDENTIFIED WITH x AS 0x67656865696D",
            "ALTER USER a IDENTIFIED BY 'geheim' REPLACE 'geheim'",
            "SET PASSWORD FOR a@b = 'geheim' REPLACE 'geheim'",
            "set password='geheim'",
            "CREATE USER a IDENTIFIED BY 'geheim' NONSENSE",
            "CREATE USER a IDENTIFIED BY 'geheim",
            "GRANT ALL ON *.* TO a IDENTIFIED BY 'geheim'",
            "SET PASSWORD = PASSWORD('geheim')",
            "START REPLICA USER = 'u' PASSWORD = 'geheim'",
            "CHANGE MASTER TO MASTER_HOST = 'h', MASTER_PASSWORD = 'geheim'",
            "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'geheim'",
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWORD 'geheim')",
            "CREATE PROCEDURE p() SET PASSWORD = 'geheim'",
            "PREPARE s FROM 'SET PASSWORD = ''geheim'''",
        ] {
            let shown = shown(text).to_lowercase();
            assert!(
                !shown.contains("geheim") && !shown.contains("67656865"),
                "{shown}"
            );
            assert!(shown.contains("'<secret>'"), "{shown}");
        }
    }

    #[test]
    fn nothing_else_is_changed() {
        assert_eq!(
            shown("CREATE USER 'a'@'b' IDENTIFIED BY 'geheim' COMMENT 'c'"),
            "CREATE USER 'a'@'b' IDENTIFIED BY '<secret>' COMMENT 'c'"
        );
        for text in [
            "SELECT 'password' = 'x'",
            "GRANT SELECT ON `a`.* TO 'u'@'h'",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
