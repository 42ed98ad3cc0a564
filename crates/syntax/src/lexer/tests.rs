//! Tests of the lexer: kinds and extents of tokens.

use super::*;

fn lex(sql: &str, options: ParseOptions) -> String {
    let lexed = lex_statement(sql, 0, &options);
    let show = |token: &Token| match token.keyword {
        Kw::OTHER => format!("{:?}:{}", token.kind, token.text(sql)),
        keyword => format!("{keyword:?}"),
    };
    let (_, tokens) = lexed
        .tokens
        .split_last()
        .expect("a last token always exists");
    tokens.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn check(sql: &str, expected: &str) {
    assert_eq!(lex(sql, ParseOptions::MYSQL_DEFAULT), expected, "{sql}");
}

#[test]
fn words_and_numbers() {
    check("select a1 from t$", "SELECT Word:a1 FROM Word:t$");
    check(
        "1 1.5 .5 1. 1e3 1.e-3 1e",
        "Integer:1 Decimal:1.5 Decimal:.5 Decimal:1. Decimal:1e3 Decimal:1.e-3 Word:1e",
    );
    check(
        "1a 0x4D 0xg 0b01 0b2",
        "Word:1a Hex:0x4D Word:0xg Bits:0b01 Word:0b2",
    );
    check(
        "x'4D' b'01' N'a'",
        "Hex:x'4D' Bits:b'01' NationalString:N'a'",
    );
    check("x'4'", "Invalid:x'4'");
    check("größe", "Word:größe");
}

#[test]
fn a_word_behind_a_dot_is_no_keyword() {
    check("t.select", "Word:t Dot:. PlainWord:select");
    check("t.1 t .1", "Word:t Dot:. PlainWord:1 Word:t Decimal:.1");
    check("`t`.1e3", "QuotedIdent:`t` Dot:. PlainWord:1e3");
}

#[test]
fn function_names_are_keywords_directly_before_a_parenthesis() {
    check("count(", "COUNT LeftParen:(");
    check("count (", "Word:count LeftParen:(");
    let options = ParseOptions {
        ignore_space: true,
        ..ParseOptions::MYSQL_DEFAULT
    };
    assert_eq!(lex("count (", options), "COUNT LeftParen:(");
}

#[test]
fn strings_and_quotes() {
    check(
        r"'a\'b' 'it''s' ''",
        r"String:'a\'b' String:'it''s' String:''",
    );
    check("\"a\"", "String:\"a\"");
    let ansi = ParseOptions {
        ansi_quotes: true,
        ..ParseOptions::MYSQL_DEFAULT
    };
    assert_eq!(lex("\"a\"", ansi), "QuotedIdent:\"a\"");
    let plain = ParseOptions {
        no_backslash_escapes: true,
        ..ParseOptions::MYSQL_DEFAULT
    };
    assert_eq!(lex(r"'a\' b", plain), r"String:'a\' Word:b");
    check("'abc", "Invalid:'abc");
    check(
        "_utf8mb4'x' _foo'x'",
        "Introducer:_utf8mb4 String:'x' Word:_foo String:'x'",
    );
}

#[test]
fn variables() {
    check(
        "@a.b @'a b' @`x` @@global.y",
        "UserVariable:@a.b UserVariable:@'a b' UserVariable:@`x` AtAt:@@ GLOBAL Dot:. PlainWord:y",
    );
}

#[test]
fn comments() {
    check(
        "1 -- x\n2 # y\n3 /* z */ 4",
        "Integer:1 Integer:2 Integer:3 Integer:4",
    );
    check("1--2", "Integer:1 Minus:- Minus:- Integer:2");
    check("1 --", "Integer:1");
    check(
        "/*!80400 1 */ 2 /*!99999 3 /* x */ 4 */ /*!5 6*/",
        "Integer:1 Integer:2 Integer:5 Integer:6",
    );
    check("/*! 1 */ /*M! 2 */ 3", "Integer:1 Integer:3");
    check("1 /* x", "Integer:1 Invalid:/* x");
    check(
        "select /*+ A */ 1 /*+ B */",
        "SELECT Hint:/*+ A */ Integer:1",
    );
}

#[test]
fn operators() {
    check(
        "<=> <= <> << < >= >> > != ! && & || | ^ ~ := -> ->> - / % *",
        "NullSafeEqual:<=> LessEqual:<= NotEqual:<> ShiftLeft:<< Less:< GreaterEqual:>= \
         ShiftRight:>> Greater:> NotEqual:!= Bang:! AndAnd:&& Ampersand:& OrOr:|| Pipe:| \
         Caret:^ Tilde:~ Assign::= Arrow:-> LongArrow:->> Minus:- Slash:/ Percent:% Star:*",
    );
}

#[test]
fn a_semicolon_ends_the_statement() {
    let sql = "select ';'; select 2";
    let lexed = lex_statement(sql, 0, &ParseOptions::MYSQL_DEFAULT);
    assert_eq!(lexed.next, 11);
    assert_eq!(lexed.tokens.len(), 3);
}
