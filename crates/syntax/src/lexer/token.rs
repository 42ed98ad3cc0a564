//! Tokens: what the lexer makes and the parser and the digest read.

use crate::keywords::Kw;

/// Estimated bytes of a token, and of a pair of parentheses and a name or value in the tree, with what is bound and
/// planned of it.
const TOKEN_BYTES: u64 = 16;
const LIST_BYTES: u64 = 144;
const LEAF_BYTES: u64 = 512;

/// Kind of a token.
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
    /// `@name`, `@'name'`, ...; also a bare `@`.
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
    /// A semicolon inside a compound statement.
    Semicolon,
    /// The end of the statement: a semicolon or the end of the text.
    End,
    /// A token that no statement can hold: an unterminated string, a stray character.
    Invalid,
}

impl Kind {
    /// Estimated bytes that a token of this kind adds to a statement.
    pub(crate) fn tree_bytes(self) -> u64 {
        let in_tree = match self {
            Self::Word
            | Self::PlainWord
            | Self::QuotedIdent
            | Self::String
            | Self::NationalString
            | Self::Hex
            | Self::Bits
            | Self::Integer
            | Self::Decimal
            | Self::UserVariable
            | Self::Parameter => LEAF_BYTES,
            Self::LeftParen => LIST_BYTES,
            _ => 0,
        };
        TOKEN_BYTES + in_tree
    }
}

/// A token: its kind and its position, in bytes.
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

impl Token {
    /// The end of a statement.
    #[inline]
    pub(crate) const fn end(start: u32, end: u32) -> Self {
        Token {
            kind: Kind::End,
            keyword: Kw::OTHER,
            start,
            end,
        }
    }

    /// Its part of the text.
    pub(crate) fn text(self, sql: &str) -> &str {
        let range = self.start as usize..self.end as usize;
        sql.get(range).unwrap_or("")
    }
}
