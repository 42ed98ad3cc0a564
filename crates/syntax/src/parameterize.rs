//! Simple parameterization: a statement's text with `?` in the place of each literal, so that statements that differ
//! only in their literals have the same text.
//!
//! Whole numbers and strings are taken out, of SELECT, INSERT, UPDATE and DELETE; a text with literals of another kind
//! is not parameterized. Only the tokens are looked at, so that a `?` may stand where it means something else than the
//! literal did (`ORDER BY ?`), or where it is not allowed (`CHAR(?)`): a caller that runs the text with `?` must check
//! the meaning of each.

use std::borrow::Cow;

use crate::ParseOptions;
use crate::keywords::Kw;
use crate::lexer::lex_while;
use crate::lexer::literal::unquote_string;
use crate::lexer::token::{Kind, Token};

/// Greatest number of literals: texts with more hold rows to be inserted, or lists.
const LITERALS_MAX: usize = 32;

/// A parameterized statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameterized<'a> {
    /// The statement, without the semicolon and the blanks and comments behind it.
    pub source: &'a str,
    /// [`Self::source`] with `?` in the place of literals.
    pub text: String,
    /// The literals, in the order of their `?`.
    pub literals: Vec<PlainLiteral<'a>>,
}

/// A literal whose value is its token.
#[derive(Debug, Clone, PartialEq)]
pub enum PlainLiteral<'a> {
    /// A whole number. A minus that can only be its sign is a part of it.
    Integer(i64),
    /// A string in quotes, without introducer and collation.
    String(Cow<'a, str>),
}

/// Parameterizes a text of one statement; `None` when it cannot be.
pub fn parameterize<'a>(sql: &'a str, options: &ParseOptions) -> Option<Parameterized<'a>> {
    // Most other statements are known by their first letter.
    if !matches!(
        sql.as_bytes().first()?.to_ascii_uppercase(),
        b'S' | b'I' | b'U' | b'D'
    ) {
        return None;
    }
    let mut literals = 0;
    let lexed = lex_while(sql, options, |token| {
        literals += usize::from(is_literal(token));
        literals <= LITERALS_MAX && may_stand(token)
    })?;
    let [first, .., last, _] = lexed.tokens.as_slice() else {
        return None;
    };
    let is_alone = lexed.next == sql.len();
    let can_be_one = matches!(
        first.keyword,
        Kw::SELECT | Kw::INSERT | Kw::UPDATE | Kw::DELETE
    );
    if literals == 0 || !is_alone || !can_be_one {
        return None;
    }
    let mut taken = Parameterized {
        source: sql.get(..last.end as usize)?,
        text: String::with_capacity(sql.len()),
        literals: Vec::with_capacity(literals),
    };
    let mut copied = 0;
    for (index, token) in lexed.tokens.iter().enumerate() {
        if !is_literal(token) {
            continue;
        }
        let source = token.text(sql);
        let sign = sign_before(lexed.tokens.get(..index)?);
        let literal = match token.kind {
            Kind::String => {
                PlainLiteral::String(unquote_string(source, options.no_backslash_escapes))
            }
            _ => {
                let number: i64 = source.parse().ok()?;
                PlainLiteral::Integer(if sign.is_some() { -number } else { number })
            }
        };
        let start = match (sign, &literal) {
            (Some(sign), PlainLiteral::Integer(_)) => sign.start,
            _ => token.start,
        };
        taken.text.push_str(sql.get(copied..start as usize)?);
        taken.text.push('?');
        taken.literals.push(literal);
        copied = token.end as usize;
    }
    taken.text.push_str(taken.source.get(copied..)?);
    Some(taken)
}

fn is_literal(token: &Token) -> bool {
    matches!(token.kind, Kind::Integer | Kind::String)
}

/// Whether a text with the token may be parameterized.
fn may_stand(token: &Token) -> bool {
    !matches!(
        token.kind,
        Kind::NationalString
            | Kind::Hex
            | Kind::Bits
            | Kind::Decimal
            | Kind::Introducer
            | Kind::UserVariable
            | Kind::AtAt
            | Kind::Parameter
            | Kind::Hint
            | Kind::Invalid
    )
}

/// The minus directly before a number where it can only be a sign.
fn sign_before(tokens: &[Token]) -> Option<Token> {
    match tokens {
        [.., before, sign]
            if sign.kind == Kind::Minus
                && matches!(before.kind, Kind::Equal | Kind::Comma | Kind::LeftParen) =>
        {
            Some(*sign)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, text: &str, literals: &[PlainLiteral<'_>]) {
        let source = sql.strip_suffix(BEHIND).unwrap_or(sql);
        let expected = Parameterized {
            source,
            text: text.to_owned(),
            literals: literals.to_vec(),
        };
        assert_eq!(
            parameterize(sql, &ParseOptions::MYSQL_DEFAULT),
            Some(expected),
            "{sql}"
        );
    }

    /// Text behind a statement that is not a part of it.
    const BEHIND: &str = " -- 4\n;";

    fn number(number: i64) -> PlainLiteral<'static> {
        PlainLiteral::Integer(number)
    }

    fn string(text: &str) -> PlainLiteral<'_> {
        PlainLiteral::String(text.into())
    }

    #[test]
    fn literals_are_taken_out() {
        check(
            "select b from t where id=7",
            "select b from t where id=?",
            &[number(7)],
        );
        check(
            "UPDATE t SET b = 'it''s', k=k-1, n = -5 WHERE id IN (-9223372036854775807)",
            "UPDATE t SET b = ?, k=k-?, n = ? WHERE id IN (?)",
            &[
                string("it's"),
                number(1),
                number(-5),
                number(-9_223_372_036_854_775_807),
            ],
        );
        check(
            r#"insert into `1` values (007,"\n", '')"#,
            "insert into `1` values (?,?, ?)",
            &[number(7), string("\n"), string("")],
        );
        check(
            "delete from t where id=3-2 -- 4\n;",
            "delete from t where id=?-?",
            &[number(3), number(2)],
        );
        check(
            "delete from t where a=- /* - */ 3",
            "delete from t where a=?",
            &[number(-3)],
        );
        // Names with digits are no numbers.
        check(
            "select t1.2b, 3c from t1 where 1=t1.4",
            "select t1.2b, 3c from t1 where ?=t1.4",
            &[number(1)],
        );
    }

    #[test]
    fn other_texts_are_left_alone() {
        for sql in [
            "",
            "select b from t",
            "replace into t values (1)",
            "show tables like 'a'",
            "select 1; select 2",
            "select 1; ",
            "select 1.5, 2",
            "select 1e5, 2",
            "select .5, 2",
            "select 0x41, 2",
            "select x'41', 2",
            "select b'1', 2",
            "select n'a', 2",
            "select _latin1'a', 2",
            "select @a, 2",
            "select @@warning_count, 2",
            "select ?, 2",
            "select /*+ NO_MERGE() */ 2",
            "select 'a",
            "select 1 /* ",
            "select 9223372036854775808",
        ] {
            let taken = parameterize(sql, &ParseOptions::MYSQL_DEFAULT);
            assert_eq!(taken, None, "{sql}");
        }
        let many = |count: usize| format!("insert into t values ({})", vec!["1"; count].join(","));
        let taken = |sql: &str| parameterize(sql, &ParseOptions::MYSQL_DEFAULT).is_some();
        assert!(taken(&many(LITERALS_MAX)));
        assert!(!taken(&many(LITERALS_MAX + 1)));
    }

    #[test]
    fn sql_mode_decides_what_is_a_string() {
        let options = ParseOptions {
            ansi_quotes: true,
            no_backslash_escapes: true,
            ..ParseOptions::MYSQL_DEFAULT
        };
        let source = r#"select "a" from t where b = '\'"#;
        let taken = parameterize(source, &options);
        let expected = Parameterized {
            source,
            text: r#"select "a" from t where b = ?"#.to_owned(),
            literals: vec![string("\\")],
        };
        assert_eq!(taken, Some(expected));
    }
}
