//! From text to tokens, one statement at a time.
//!
//! The rules are those of the manual's chapters "Literal Values", "Schema Object Names" and
//! "Comments". Three of them need context, which is kept here so that the parser never looks at
//! blanks: a word after a dot is no keyword, some function names are keywords only directly before
//! a parenthesis, and a hint is a hint only behind the verb of a statement.
//!
//! A semicolon outside quotes and comments ends a statement, unless it is inside a compound one
//! ([`CompoundScanner`]). Lexing stops there: a script is read in linear time, and `sql_mode` may
//! change between its statements.

pub(crate) mod literal;
pub(crate) mod token;

use self::token::{Kind, Token};
use crate::keywords::Kw;
use crate::{CompoundScanner, ParseOptions};

/// The version that `/*!NNNNN ... */` comments are compared with: MySQL 8.4.0.
const VERSION: u32 = 80_400;

/// The tokens of one statement.
pub(crate) struct Lexed {
    /// The tokens; the last one is always `End`.
    pub(crate) tokens: Vec<Token>,
    /// The byte behind the statement's semicolon, or the end of the text.
    pub(crate) next: usize,
    /// Estimated bytes of the statement's tree and of the structures made from it.
    pub(crate) tree_bytes: u64,
}

struct Lexer<'a> {
    bytes: &'a [u8],
    position: usize,
    options: ParseOptions,
    tokens: Vec<Token>,
    tree_bytes: u64,
    in_version_comment: bool,
    /// Scanner of the tokens before `scanned`.
    compound: CompoundScanner,
    scanned: usize,
}

/// Cuts the statement that begins at a byte of a text into tokens.
///
/// The text must be at most [`crate::LENGTH_MAX`] bytes long.
pub(crate) fn lex_statement(sql: &str, start: usize, options: &ParseOptions) -> Lexed {
    lex_bytes(sql.as_bytes(), start, options)
}

/// As [`lex_statement`], but stops where the tree would take more than `tree_bytes_max`.
pub(crate) fn lex_bounded(
    sql: &str,
    start: usize,
    options: &ParseOptions,
    tree_bytes_max: u64,
) -> Lexed {
    let mut lexer = Lexer::new(sql.as_bytes(), start, options);
    while lexer.token() && lexer.tree_bytes <= tree_bytes_max {}
    lexer.finish()
}

/// Whether a statement begins at or behind a byte of a text: anything but blanks, comments and
/// semicolons.
#[inline]
pub(crate) fn has_token(sql: &str, start: usize, options: &ParseOptions) -> bool {
    let mut lexer = Lexer::new(sql.as_bytes(), start, options);
    while !lexer.at_end() {
        // An unterminated comment is a token, followed by the end only.
        if lexer.token() || lexer.tokens.len() > 1 {
            return true;
        }
        lexer.tokens.clear();
    }
    false
}

/// [`lex_statement`] of a text whose strings and names may be in any character set that contains ASCII.
pub(crate) fn lex_bytes(bytes: &[u8], start: usize, options: &ParseOptions) -> Lexed {
    let mut lexer = Lexer::new(bytes, start, options);
    while lexer.token() {}
    lexer.finish()
}

/// Cuts the first statement of a text into tokens; `None` when a token is not `wanted`.
pub(crate) fn lex_while(
    sql: &str,
    options: &ParseOptions,
    mut wanted: impl FnMut(&Token) -> bool,
) -> Option<Lexed> {
    let mut lexer = Lexer::new(sql.as_bytes(), 0, options);
    let mut seen = 0;
    loop {
        let has_more = lexer.token();
        if !lexer.tokens.get(seen..)?.iter().all(&mut wanted) {
            return None;
        }
        seen = lexer.tokens.len();
        if !has_more {
            return Some(lexer.finish());
        }
    }
}

pub(crate) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

impl<'a> Lexer<'a> {
    fn new(bytes: &'a [u8], start: usize, options: &ParseOptions) -> Self {
        let estimate = bytes.len().saturating_sub(start) / 4 + 8;
        Self {
            bytes,
            position: start,
            options: *options,
            tokens: Vec::with_capacity(estimate.min(1 << 12)),
            tree_bytes: 0,
            in_version_comment: false,
            compound: CompoundScanner::default(),
            scanned: 0,
        }
    }

    fn finish(self) -> Lexed {
        let last = self.tokens.last();
        Lexed {
            next: last.map_or(self.bytes.len(), |token| token.end as usize),
            tokens: self.tokens,
            tree_bytes: self.tree_bytes,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn at_end(&self) -> bool {
        self.position >= self.bytes.len()
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.push_word(kind, Kw::OTHER, start);
    }

    fn push_word(&mut self, kind: Kind, keyword: Kw, start: usize) {
        let end = self.position.min(self.bytes.len()) as u32;
        self.tree_bytes += kind.tree_bytes();
        self.tokens.push(Token {
            kind,
            keyword,
            start: start as u32,
            end,
        });
    }

    /// Makes the next token; `false` after the statement's last.
    fn token(&mut self) -> bool {
        if let Some(unclosed) = self.skip_blanks_and_comments() {
            // Everything from an unclosed comment on is one offending token.
            self.position = self.bytes.len();
            self.push(Kind::Invalid, unclosed);
        }
        let start = self.position;
        let byte = self.peek(0);
        if self.at_end() || (byte == b';' && !self.is_in_compound()) {
            self.position = (start + 1).min(self.bytes.len());
            let end = Token::end(start as u32, self.position as u32);
            self.tokens.push(end);
            return false;
        }
        match byte {
            b'0'..=b'9' => self.number_or_word(start),
            b'\'' => self.quoted(start, b'\'', Kind::String),
            b'"' if self.options.ansi_quotes => self.quoted(start, b'"', Kind::QuotedIdent),
            b'"' => self.quoted(start, b'"', Kind::String),
            b'`' => self.quoted(start, b'`', Kind::QuotedIdent),
            b'x' | b'X' if self.peek(1) == b'\'' => self.digits_literal(start, Kind::Hex),
            b'b' | b'B' if self.peek(1) == b'\'' => self.digits_literal(start, Kind::Bits),
            b'n' | b'N' if self.peek(1) == b'\'' => {
                self.position += 1;
                self.quoted(start, b'\'', Kind::NationalString);
            }
            b'@' => self.variable(start),
            b'.' if self.peek(1).is_ascii_digit() && !self.follows_name(start) => {
                self.position += 1;
                self.fraction(start);
            }
            b'.' => self.dot(start),
            byte if is_identifier_byte(byte) => self.word(start),
            _ => self.operator(start, byte),
        }
        true
    }

    /// Whether a semicolon here is inside a compound statement. Only statements that begin like one are scanned.
    fn is_in_compound(&mut self) -> bool {
        let first = self.tokens.first().map(|first| first.keyword);
        if !matches!(first, Some(Kw::CREATE | Kw::ALTER | Kw::BEGIN)) {
            return false;
        }
        for token in self.tokens.get(self.scanned..).unwrap_or_default() {
            let range = token.start as usize..token.end as usize;
            let text = self.bytes.get(range).unwrap_or_default();
            match (token.kind, text) {
                (Kind::Word, word) => self.compound.word(word),
                (_, [symbol]) if symbol.is_ascii_punctuation() => self.compound.symbol(*symbol),
                _ => self.compound.other(),
            }
        }
        self.scanned = self.tokens.len();
        self.compound.is_open()
    }

    /// Whether the previous token ends a name directly before a byte.
    fn follows_name(&self, start: usize) -> bool {
        self.tokens.last().is_some_and(|last| {
            last.end as usize == start
                && matches!(last.kind, Kind::Word | Kind::PlainWord | Kind::QuotedIdent)
        })
    }

    /// Lexes a dot and the word directly behind it, which is not a keyword.
    fn dot(&mut self, start: usize) {
        self.position += 1;
        self.push(Kind::Dot, start);
        if is_identifier_byte(self.peek(0)) {
            let start = self.position;
            self.skip_identifier();
            self.push(Kind::PlainWord, start);
        }
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while wanted(self.peek(0)) {
            self.position += 1;
        }
    }

    fn skip_identifier(&mut self) {
        self.skip_while(is_identifier_byte);
    }

    fn skip_digits(&mut self) {
        self.skip_while(|byte| byte.is_ascii_digit());
    }

    fn word(&mut self, start: usize) {
        self.skip_identifier();
        let word = self.bytes.get(start..self.position).unwrap_or_default();
        if word.first() == Some(&b'_') && literal::is_charset(word.get(1..).unwrap_or_default()) {
            self.push(Kind::Introducer, start);
            return;
        }
        let mut keyword = Kw::lookup(word);
        if keyword.is_call_only() && !self.before_parenthesis() {
            keyword = Kw::OTHER;
        }
        self.push_word(Kind::Word, keyword, start);
    }

    /// Whether a parenthesis follows, directly or, under `IGNORE_SPACE`, after blanks.
    fn before_parenthesis(&self) -> bool {
        let mut ahead = 0;
        while self.options.ignore_space && is_blank(self.peek(ahead)) {
            ahead += 1;
        }
        self.peek(ahead) == b'('
    }

    /// Lexes a number, or a word that begins with a digit.
    fn number_or_word(&mut self, start: usize) {
        if self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'b') {
            let (kind, is_digit): (Kind, fn(&u8) -> bool) = match self.peek(1) {
                b'x' => (Kind::Hex, u8::is_ascii_hexdigit),
                _ => (Kind::Bits, |byte| matches!(byte, b'0' | b'1')),
            };
            let mut end = start + 2;
            while self.bytes.get(end).is_some_and(is_digit) {
                end += 1;
            }
            if end > start + 2 && !self.bytes.get(end).copied().is_some_and(is_identifier_byte) {
                self.position = end;
                self.push(kind, start);
                return;
            }
        }
        self.skip_digits();
        match self.peek(0) {
            b'.' => {
                self.position += 1;
                self.fraction(start);
            }
            b'e' | b'E' if self.exponent() => self.push(Kind::Decimal, start),
            byte if is_identifier_byte(byte) => {
                self.skip_identifier();
                self.push(Kind::Word, start);
            }
            _ => self.push(Kind::Integer, start),
        }
    }

    /// The rest of a number behind its point.
    fn fraction(&mut self, start: usize) {
        self.skip_digits();
        if matches!(self.peek(0), b'e' | b'E') {
            self.exponent();
        }
        self.push(Kind::Decimal, start);
    }

    /// Skips an exponent; `false` and nothing skipped when there is none.
    fn exponent(&mut self) -> bool {
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if !self.peek(1 + sign).is_ascii_digit() {
            return false;
        }
        self.position += 1 + sign;
        self.skip_digits();
        true
    }

    /// Lexes a quoted token; the closing quote is doubled inside, and strings have backslash escapes.
    fn quoted(&mut self, start: usize, quote: u8, kind: Kind) {
        let escapes = kind != Kind::QuotedIdent && !self.options.no_backslash_escapes;
        self.position += 1;
        while !self.at_end() {
            let byte = self.peek(0);
            let pair = (byte == b'\\' && escapes) || (byte == quote && self.peek(1) == quote);
            if pair {
                self.position += 2;
            } else if byte == quote {
                self.position += 1;
                self.push(kind, start);
                return;
            } else {
                self.position += 1;
            }
        }
        self.position = self.bytes.len();
        self.push(Kind::Invalid, start);
    }

    /// Lexes `x'...'` or `b'...'`: an odd number of hexadecimal digits or another character makes it invalid.
    fn digits_literal(&mut self, start: usize, kind: Kind) {
        self.position += 2;
        let digits_start = self.position;
        self.skip_while(|byte| byte.is_ascii_hexdigit());
        let digits = self
            .bytes
            .get(digits_start..self.position)
            .unwrap_or_default();
        let valid = match kind {
            Kind::Hex => digits.len() % 2 == 0,
            _ => digits.iter().all(|digit| matches!(digit, b'0' | b'1')),
        };
        if valid && self.peek(0) == b'\'' {
            self.position += 1;
            self.push(kind, start);
        } else {
            self.position = self.bytes.len();
            self.push(Kind::Invalid, start);
        }
    }

    fn variable(&mut self, start: usize) {
        self.position += 1;
        match self.peek(0) {
            b'@' => {
                self.position += 1;
                self.push(Kind::AtAt, start);
            }
            quote @ (b'\'' | b'"' | b'`') => {
                self.quoted(self.position, quote, Kind::QuotedIdent);
                if let Some(last) = self.tokens.last_mut()
                    && last.kind == Kind::QuotedIdent
                {
                    last.kind = Kind::UserVariable;
                    last.start = start as u32;
                }
            }
            _ => {
                self.skip_while(|byte| is_identifier_byte(byte) || byte == b'.');
                self.push(Kind::UserVariable, start);
            }
        }
    }

    fn operator(&mut self, start: usize, byte: u8) {
        let (kind, length) = match (byte, self.peek(1), self.peek(2)) {
            (b',', ..) => (Kind::Comma, 1),
            (b'(', ..) => (Kind::LeftParen, 1),
            (b')', ..) => (Kind::RightParen, 1),
            (b'{', ..) => (Kind::LeftBrace, 1),
            (b'}', ..) => (Kind::RightBrace, 1),
            (b'*', ..) => (Kind::Star, 1),
            (b'+', ..) => (Kind::Plus, 1),
            (b'-', b'>', b'>') => (Kind::LongArrow, 3),
            (b'-', b'>', _) => (Kind::Arrow, 2),
            (b'-', ..) => (Kind::Minus, 1),
            (b'/', ..) => (Kind::Slash, 1),
            (b'%', ..) => (Kind::Percent, 1),
            (b'=', ..) => (Kind::Equal, 1),
            (b'<', b'=', b'>') => (Kind::NullSafeEqual, 3),
            (b'<', b'=', _) => (Kind::LessEqual, 2),
            (b'<', b'>', _) => (Kind::NotEqual, 2),
            (b'<', b'<', _) => (Kind::ShiftLeft, 2),
            (b'<', ..) => (Kind::Less, 1),
            (b'>', b'=', _) => (Kind::GreaterEqual, 2),
            (b'>', b'>', _) => (Kind::ShiftRight, 2),
            (b'>', ..) => (Kind::Greater, 1),
            (b'!', b'=', _) => (Kind::NotEqual, 2),
            (b'!', ..) => (Kind::Bang, 1),
            (b'&', b'&', _) => (Kind::AndAnd, 2),
            (b'&', ..) => (Kind::Ampersand, 1),
            (b'|', b'|', _) => (Kind::OrOr, 2),
            (b'|', ..) => (Kind::Pipe, 1),
            (b'^', ..) => (Kind::Caret, 1),
            (b'~', ..) => (Kind::Tilde, 1),
            (b':', b'=', _) => (Kind::Assign, 2),
            (b':', ..) => (Kind::Colon, 1),
            (b';', ..) => (Kind::Semicolon, 1),
            (b'?', ..) => (Kind::Parameter, 1),
            _ => (Kind::Invalid, 1),
        };
        self.position += length;
        self.push(kind, start);
    }

    /// Skips what separates tokens; returns the start of an unterminated comment.
    fn skip_blanks_and_comments(&mut self) -> Option<usize> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (byte, _) if is_blank(byte) && !self.at_end() => self.position += 1,
                (b'#', _) => self.skip_line(),
                (b'-', b'-') if self.is_dash_comment() => self.skip_line(),
                (b'/', b'*') => {
                    let start = self.position;
                    let is_closed = match self.peek(2) {
                        b'+' if self.may_hint() => self.hint(start),
                        b'!' => self.version_comment(),
                        _ => self.skip_comment(),
                    };
                    if !is_closed {
                        return Some(start);
                    }
                }
                (b'*', b'/') if self.in_version_comment => {
                    self.in_version_comment = false;
                    self.position += 2;
                }
                _ => return None,
            }
        }
    }

    /// Two dashes begin a comment only before a blank, a control character or the end.
    fn is_dash_comment(&self) -> bool {
        let next = self.bytes.get(self.position + 2);
        next.is_none_or(|byte| is_blank(*byte) || byte.is_ascii_control())
    }

    fn skip_line(&mut self) {
        while !self.at_end() && self.peek(0) != b'\n' {
            self.position += 1;
        }
    }

    fn skip_comment(&mut self) -> bool {
        self.position += 2;
        while !self.at_end() {
            if self.peek(0) == b'*' && self.peek(1) == b'/' {
                self.position += 2;
                return true;
            }
            self.position += 1;
        }
        false
    }

    /// Lexes the start of a `/*!` comment: its content is part of the statement unless its version is newer than
    /// [`VERSION`]; a newer one is skipped, with the comments inside it.
    fn version_comment(&mut self) -> bool {
        let mut digits = 0;
        let mut version = 0_u32;
        while digits < 6 && self.peek(3 + digits).is_ascii_digit() {
            version = version * 10 + u32::from(self.peek(3 + digits) - b'0');
            digits += 1;
        }
        // A version has five or six digits; fewer belong to the content.
        if digits < 5 {
            digits = 0;
            version = 0;
        }
        if version <= VERSION {
            self.in_version_comment = true;
            self.position += 3 + digits;
            return true;
        }
        self.position += 3 + digits;
        while !self.at_end() {
            match (self.peek(0), self.peek(1)) {
                (b'*', b'/') => {
                    self.position += 2;
                    return true;
                }
                (b'/', b'*') => {
                    if !self.skip_comment() {
                        return false;
                    }
                }
                _ => self.position += 1,
            }
        }
        false
    }

    /// Whether a hint may stand here: only behind some verbs; anywhere else it is a comment.
    fn may_hint(&self) -> bool {
        self.tokens.last().is_some_and(|last| {
            matches!(
                last.keyword,
                Kw::SELECT | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE
            )
        })
    }

    fn hint(&mut self, start: usize) -> bool {
        let is_closed = self.skip_comment();
        if is_closed {
            self.push(Kind::Hint, start);
        }
        is_closed
    }
}

#[cfg(test)]
mod tests;
