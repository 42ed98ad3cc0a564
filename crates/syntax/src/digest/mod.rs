//! Statement digests: statements that differ only in their literals get the same text and hash
//! (manual section "Performance Schema Statement Digests and Sampling").
//!
//! The text is that of MySQL's `STATEMENT_DIGEST_TEXT()`: tokens separated by single spaces, keywords
//! in capitals and one spelling for synonyms, names in backticks, `?` for a literal, `?, ...` for
//! several, `(...)` for a row of literals and `(...) /* , ... */` for several rows. It is made from the
//! tokens alone, in one pass: a new literal or a closing parenthesis joins what stands directly before
//! it. The hash is SHA-256 of the text; MySQL hashes its token numbers, which are its own.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::ParseOptions;
use crate::keywords::Kw;
use crate::lexer::literal::{inside_hint, unquote_identifier};
use crate::lexer::token::{Kind, Token};
use crate::lexer::{is_identifier_byte, lex_statement};

/// Synonyms that MySQL's lexer does not distinguish, with the spelling in digests.
static SYNONYMS: &[(Kw, &str)] = &[
    (Kw::ANY, "SOME"),
    (Kw::BIGINT, "INT8"),
    (Kw::CHAR, "CHARACTER"),
    (Kw::COLUMNS, "FIELDS"),
    (Kw::CURRENT_DATE, "CURDATE"),
    (Kw::CURRENT_TIME, "CURTIME"),
    (Kw::CURRENT_TIMESTAMP, "NOW"),
    (Kw::DATABASE, "SCHEMA"),
    (Kw::DATABASES, "SCHEMAS"),
    (Kw::DAY, "SQL_TSI_DAY"),
    (Kw::DEC, "DECIMAL"),
    (Kw::DESCRIBE, "EXPLAIN"),
    (Kw::DISTINCT, "DISTINCTROW"),
    (Kw::DOUBLE, "FLOAT8"),
    (Kw::FLOAT, "FLOAT4"),
    (Kw::GEOMCOLLECTION, "GEOMETRYCOLLECTION"),
    (Kw::HOUR, "SQL_TSI_HOUR"),
    (Kw::INT, "INTEGER"),
    (Kw::INT1, "TINYINT"),
    (Kw::INT2, "SMALLINT"),
    (Kw::INT3, "MIDDLEINT"),
    (Kw::INT4, "INTEGER"),
    (Kw::IO_THREAD, "RELAY_THREAD"),
    (Kw::LOCALTIME, "NOW"),
    (Kw::LOCALTIMESTAMP, "NOW"),
    (Kw::MEDIUMINT, "MIDDLEINT"),
    (Kw::MID, "SUBSTRING"),
    (Kw::MINUTE, "SQL_TSI_MINUTE"),
    (Kw::MONTH, "SQL_TSI_MONTH"),
    (Kw::QUARTER, "SQL_TSI_QUARTER"),
    (Kw::REGEXP, "RLIKE"),
    (Kw::SECOND, "SQL_TSI_SECOND"),
    (Kw::SESSION_USER, "SYSTEM_USER"),
    (Kw::SQL_TSI_WEEK, "WEEK"),
    (Kw::SQL_TSI_YEAR, "YEAR"),
    (Kw::STD, "STDDEV_POP"),
    (Kw::STDDEV, "STDDEV_POP"),
    (Kw::SUBSTR, "SUBSTRING"),
    (Kw::USER, "SYSTEM_USER"),
    (Kw::VARCHAR, "VARCHARACTER"),
    (Kw::VARIANCE, "VAR_POP"),
];

/// A part of the text: a token, or several literals joined.
#[derive(Debug, Clone, PartialEq)]
enum Part<'a> {
    Keyword(Kw),
    Name(Cow<'a, str>),
    /// An operator, or a text that is copied.
    Other(Cow<'a, str>),
    Comma,
    LeftParen,
    RightParen,
    /// `+` or `-`.
    Sign(&'static str),
    /// `@@`, to which the next part is attached.
    AtAt,
    /// `?`
    Value,
    /// `?, ...`
    Values,
    /// `(?)`
    Row,
    /// `(?) /* , ... */`
    Rows,
    /// `(...)`
    WideRow,
    /// `(...) /* , ... */`
    WideRows,
    /// `(...)` behind `IN`
    Members,
}

/// The digest text of a text's first statement under the default `sql_mode`, and its hash as 64
/// hexadecimal digits.
pub fn digest(sql: &str) -> (String, String) {
    digest_with_options(sql, &ParseOptions::MYSQL_DEFAULT)
}

/// [`digest`] of a statement read under given options.
pub fn digest_with_options(sql: &str, options: &ParseOptions) -> (String, String) {
    let text = digest_text(sql, options);
    let hash = digest_hash(&text);
    (text, hash)
}

/// The hash of a digest text, as 64 hexadecimal digits.
pub fn digest_hash(text: &str) -> String {
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        write!(hash, "{byte:02x}").expect("a String takes every write");
    }
    hash
}

/// The digest text of a text's first statement.
pub fn digest_text(sql: &str, options: &ParseOptions) -> String {
    let sql = crate::statements::readable(sql);
    let mut start = 0;
    let mut lexed = lex_statement(sql, start, options);
    while lexed.tokens.len() == 1 && lexed.next > start && lexed.next < sql.len() {
        start = lexed.next;
        lexed = lex_statement(sql, start, options);
    }
    let mut parts = Vec::with_capacity(lexed.tokens.len());
    for token in &lexed.tokens {
        if token.kind != Kind::End {
            push(&mut parts, sql, *token);
        }
    }
    print(&parts)
}

fn push<'a>(parts: &mut Vec<Part<'a>>, sql: &'a str, token: Token) {
    let text = token.text(sql);
    let part = match token.kind {
        Kind::Word if token.keyword == Kw::NULL && is_null_value(parts) => Part::Value,
        Kind::Word if token.keyword != Kw::OTHER => Part::Keyword(token.keyword),
        Kind::Word | Kind::PlainWord => Part::Name(text.into()),
        Kind::QuotedIdent => Part::Name(unquote_identifier(text).into()),
        Kind::String
        | Kind::NationalString
        | Kind::Hex
        | Kind::Bits
        | Kind::Integer
        | Kind::Decimal
        | Kind::Parameter => Part::Value,
        Kind::Introducer => Part::Other("(_charset)".into()),
        Kind::UserVariable => Part::Other(variable(text)),
        Kind::AtAt => Part::AtAt,
        Kind::Hint => Part::Other(hint(text).into()),
        Kind::Comma => Part::Comma,
        Kind::LeftParen => Part::LeftParen,
        Kind::RightParen => Part::RightParen,
        Kind::Plus => Part::Sign("+"),
        Kind::Minus => Part::Sign("-"),
        Kind::NotEqual => Part::Other("!=".into()),
        _ => Part::Other(text.into()),
    };
    match part {
        Part::Value => push_value(parts),
        Part::RightParen => push_right_paren(parts),
        part => parts.push(part),
    }
}

/// Whether NULL is a literal here, and not a word of `IS NULL` or of a column's definition.
fn is_null_value(parts: &[Part<'_>]) -> bool {
    let defines = matches!(parts.first(), Some(Part::Keyword(Kw::CREATE | Kw::ALTER)));
    match parts.last() {
        Some(Part::Keyword(Kw::DEFAULT)) => true,
        Some(Part::Keyword(Kw::IS | Kw::NOT)) | None => false,
        Some(Part::Comma | Part::LeftParen | Part::Sign(_) | Part::Other(_)) => true,
        Some(Part::Keyword(_)) => !defines,
        Some(_) => false,
    }
}

/// Appends a literal, which absorbs the signs before it and joins the literals before it.
fn push_value(parts: &mut Vec<Part<'_>>) {
    while let [.., before, Part::Sign(_)] = parts.as_slice()
        && !ends_operand(before)
    {
        parts.pop();
    }
    if let [.., Part::Value | Part::Values, Part::Comma] = parts.as_slice() {
        parts.truncate(parts.len() - 2);
        parts.push(Part::Values);
    } else {
        parts.push(Part::Value);
    }
}

/// Whether a sign behind a part is an operator between two operands.
fn ends_operand(part: &Part<'_>) -> bool {
    match part {
        Part::Keyword(keyword) => matches!(
            keyword,
            Kw::NULL
                | Kw::TRUE
                | Kw::FALSE
                | Kw::END
                | Kw::CURRENT_DATE
                | Kw::CURRENT_TIME
                | Kw::CURRENT_TIMESTAMP
        ),
        Part::Name(_)
        | Part::RightParen
        | Part::Value
        | Part::Values
        | Part::Row
        | Part::Rows
        | Part::WideRow
        | Part::WideRows
        | Part::Members => true,
        Part::Other(text) => text.starts_with('@'),
        Part::Comma | Part::LeftParen | Part::Sign(_) | Part::AtAt => false,
    }
}

/// Appends a closing parenthesis, which makes a row of the literals before it and joins the rows before those.
fn push_right_paren(parts: &mut Vec<Part<'_>>) {
    let wide = match parts.as_slice() {
        [.., Part::LeftParen, Part::Value] => false,
        [.., Part::LeftParen, Part::Values] => true,
        _ => return parts.push(Part::RightParen),
    };
    parts.truncate(parts.len() - 2);
    let joined = match (parts.as_slice(), wide) {
        ([.., Part::Keyword(Kw::IN)], _) => return parts.push(Part::Members),
        ([.., Part::Row | Part::Rows, Part::Comma], false) => Part::Rows,
        ([.., Part::WideRow | Part::WideRows, Part::Comma], true) => Part::WideRows,
        (_, false) => return parts.push(Part::Row),
        (_, true) => return parts.push(Part::WideRow),
    };
    parts.truncate(parts.len() - 2);
    parts.push(joined);
}

/// A user variable: a name in backticks shows, any other counts as a literal.
fn variable(text: &str) -> Cow<'_, str> {
    match text.as_bytes() {
        [_, b'`', ..] => text.into(),
        [_, _, ..] => "@?".into(),
        _ => text.into(),
    }
}

/// An optimizer hint: names of hints in capitals, their arguments as names and literals.
fn hint(text: &str) -> String {
    let mut result = String::from("/*+");
    let mut depth = 0_u32;
    let mut rest = inside_hint(text).trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if matches!(first, '`' | '\'' | '"') {
            let closing = rest.get(1..).and_then(|behind| behind.find(first));
            closing.map_or(rest.len(), |closing| closing + 2)
        } else {
            first.len_utf8()
        };
        let (piece, behind) = rest.split_at(length);
        result.push(' ');
        match first {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if first.is_ascii_digit() || matches!(first, '\'' | '"') {
            result.push('?');
        } else if is_word(first) && depth > 0 {
            result.push('`');
            result.push_str(piece);
            result.push('`');
        } else if is_word(first) {
            result.push_str(&piece.to_ascii_uppercase());
        } else {
            result.push_str(piece);
        }
        rest = behind.trim_start();
    }
    result.push_str(" */");
    result
}

fn is_word(character: char) -> bool {
    u8::try_from(character).map_or(true, is_identifier_byte)
}

fn print(parts: &[Part<'_>]) -> String {
    let mut text = String::with_capacity(parts.len() * 8);
    let mut attach = true;
    for part in parts {
        if !attach {
            text.push(' ');
        }
        attach = *part == Part::AtAt;
        match part {
            Part::Keyword(keyword) => text.push_str(spelling(*keyword)),
            Part::Name(name) => {
                text.push('`');
                text.push_str(name);
                text.push('`');
            }
            Part::Other(other) => text.push_str(other),
            Part::Comma => text.push(','),
            Part::LeftParen => text.push('('),
            Part::RightParen => text.push(')'),
            Part::Sign(sign) => text.push_str(sign),
            Part::AtAt => text.push_str("@@"),
            Part::Value => text.push('?'),
            Part::Values => text.push_str("?, ..."),
            Part::Row => text.push_str("(?)"),
            Part::Rows => text.push_str("(?) /* , ... */"),
            Part::WideRow | Part::Members => text.push_str("(...)"),
            Part::WideRows => text.push_str("(...) /* , ... */"),
        }
    }
    text
}

fn spelling(keyword: Kw) -> &'static str {
    SYNONYMS
        .iter()
        .find(|(synonym, _)| *synonym == keyword)
        .map_or_else(|| keyword.spelling(), |(_, spelling)| spelling)
}

#[cfg(test)]
mod tests;
