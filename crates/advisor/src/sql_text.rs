//! The tokens of a statement's text with their positions, for rewriting a text without printing its tree, and for
//! splitting a dump into statements.
//!
//! The content of `/*! … */` counts as code, as in servers. A text that ends in the middle of a string or comment ends
//! its last token.

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in backticks.
    Name,
    /// A string in single or double quotes.
    Text,
    /// Any other single character.
    Symbol,
}

/// A token with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// Its text.
    pub(crate) fn of<'a>(&self, sql: &'a str) -> &'a str {
        sql.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it is this keyword.
    pub(crate) fn is(&self, sql: &str, word: &str) -> bool {
        self.kind == Kind::Word && self.of(sql).eq_ignore_ascii_case(word)
    }

    /// Whether it is this character.
    pub(crate) fn is_symbol(&self, sql: &str, symbol: char) -> bool {
        self.kind == Kind::Symbol && self.of(sql).starts_with(symbol)
    }

    /// Its name without quotes.
    pub(crate) fn name(&self, sql: &str) -> String {
        match self.kind {
            Kind::Name => self.of(sql).trim_matches('`').replace("``", "`"),
            _ => self.of(sql).to_owned(),
        }
    }
}

/// Iterator over the tokens of a text.
pub(crate) struct Tokens<'a> {
    sql: &'a str,
    at: usize,
}

/// The tokens of a text.
pub(crate) fn tokens(sql: &str) -> Tokens<'_> {
    Tokens { sql, at: 0 }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte >= 0x80
}

impl Tokens<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.sql
            .as_bytes()
            .get(self.at + ahead)
            .copied()
            .unwrap_or(0)
    }

    fn starts_with(&self, text: &str) -> bool {
        self.sql.as_bytes()[self.at..].starts_with(text.as_bytes())
    }

    /// Skips past the next occurrence of a text, or to the end.
    fn skip_behind(&mut self, text: &str) {
        let rest = self.sql.as_bytes().get(self.at..).unwrap_or_default();
        let found = rest
            .windows(text.len())
            .position(|window| window == text.as_bytes());
        self.at = found.map_or(self.sql.len(), |found| self.at + found + text.len());
    }

    fn skip_blanks(&mut self) {
        while self.at < self.sql.len() {
            if self.byte(0).is_ascii_whitespace() {
                self.at += 1;
            } else if self.byte(0) == b'#'
                || self.starts_with("--")
                    && (self.byte(2).is_ascii_whitespace() || self.byte(2) == 0)
            {
                self.skip_behind("\n");
            } else if self.starts_with("/*!") || self.starts_with("/*M!") {
                self.at += if self.byte(2) == b'!' { 3 } else { 4 };
                while self.byte(0).is_ascii_digit() {
                    self.at += 1;
                }
            } else if self.starts_with("/*") {
                self.at += 2;
                self.skip_behind("*/");
            } else if self.starts_with("*/") {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.sql.len() {
            let byte = self.byte(0);
            if byte == b'\\' && quote != b'`' {
                self.at += 1;
            } else if byte == quote {
                if self.byte(1) != quote {
                    self.at += 1;
                    return;
                }
                self.at += 1;
            }
            self.at += 1;
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        if self.at >= self.sql.len() {
            return None;
        }
        let start = self.at;
        let kind = match self.byte(0) {
            b'`' => {
                self.quoted(b'`');
                Kind::Name
            }
            quote @ (b'\'' | b'"') => {
                self.quoted(quote);
                Kind::Text
            }
            byte if is_word(byte) => {
                while is_word(self.byte(0)) {
                    self.at += 1;
                }
                Kind::Word
            }
            _ => {
                self.at += 1;
                Kind::Symbol
            }
        };
        self.at = self.at.min(self.sql.len());
        let end = self.at;
        Some(Token { kind, start, end })
    }
}

/// A name in backticks.
pub(crate) fn quoted(name: &str) -> String {
    mayfly_syntax::printer::quoted_identifier(name)
}

/// A text in one line: blanks joined, and cut to `characters` characters.
pub(crate) fn one_line(sql: &str, characters: usize) -> String {
    let mut line = String::new();
    for word in sql.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // A character has four bytes at most.
        if line.len() > characters.saturating_mul(4) {
            break;
        }
    }
    if line.chars().count() > characters {
        line = line.chars().take(characters.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<&str> {
        tokens(sql).map(|token| token.of(sql)).collect()
    }

    #[test]
    fn tokens_of_every_kind() {
        assert_eq!(
            texts("SELECT `a``b`, 'it''s \\' x' -- end\n, \"q\" /* no */ FROM /*!50001 t */ # x"),
            [
                "SELECT",
                "`a``b`",
                ",",
                "'it''s \\' x'",
                ",",
                "\"q\"",
                "FROM",
                "t"
            ]
        );
        assert_eq!(texts("a--b"), ["a", "-", "-", "b"]);
        assert_eq!(texts("'open \\"), ["'open \\"]);
        assert_eq!(texts("ä `ö"), ["ä", "`ö"]);
    }

    #[test]
    fn one_line_is_cut_by_characters() {
        assert_eq!(one_line("a\n  b", 10), "a b");
        assert_eq!(one_line("äöüäöü", 4), "äöü…");
    }
}
