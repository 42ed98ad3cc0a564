//! Tokens: what the lexer makes and the parser and the digest read.

use crate::keywords::Kw;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// An unquoted word, perhaps a keyword.
    Word,
    /// A word after a dot: an identifier even if it spells a keyword.
    PlainWord,
    /// An identifier in backticks, or in double quotes under `ANSI_QUOTES`.
    QuotedIdent,
    /// A string in single or double quotes.
    String,
    /// `N'...'`.
    NationalString,
    /// `x'4D'` or `0x4D`.
    Hex,
    /// `b'01'` or `0b01`.
    Bits,
    /// An unsigned integer without point or exponent.
    Integer,
    /// A number with a point or an exponent.
    Decimal,
    /// `_charset` before a string, for a character set that exists.
    Introducer,
    /// `@name`, `@'name'`, ...; also a bare `@` before nothing of the kind.
    UserVariable,
    /// `@@`.
    AtAt,
    /// `?`.
    Parameter,
    /// `/*+ ... */` where a hint may stand.
    Hint,
    Comma,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Dot,
    Star,
    Plus,
    Minus,
    Slash,
    Percent,
    Equal,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    NotEqual,
    NullSafeEqual,
    ShiftLeft,
    ShiftRight,
    Ampersand,
    AndAnd,
    Pipe,
    OrOr,
    Caret,
    Tilde,
    Bang,
    Assign,
    Arrow,
    LongArrow,
    Colon,
    /// The end of the statement: a semicolon or the end of the text.
    End,
    /// Something that no statement can hold: an unterminated string, a stray character.
    Invalid,
}

/// A token: what it is and where it stands, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// The keyword a `Word` spells.
    pub(crate) keyword: Kw,
    /// Its first byte.
    pub(crate) start: u32,
    /// The byte after its last.
    pub(crate) end: u32,
}
