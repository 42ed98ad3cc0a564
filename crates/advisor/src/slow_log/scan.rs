//! Lexical state at the end of each line of a statement: in code, in a string, in a comment.

use crate::sql_text::tokens;

/// Lexical state at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Inside {
    #[default]
    Code,
    /// A string or a quoted name, with its quote.
    Quoted(u8),
    /// `/* … */`
    Comment,
}

/// Line-by-line scanner of a statement.
#[derive(Debug, Default)]
pub(super) struct Scan {
    inside: Inside,
    /// Whether a line was cut off, so that the state is unknown.
    lost: bool,
    /// Whether the last line ended with a semicolon in code.
    terminated: bool,
    /// Whether the last line ended with a semicolon, anywhere.
    semicolon: bool,
    /// Whether the last line was blank.
    blank: bool,
}

impl Scan {
    /// Reads the next line; `cut`: its end is missing.
    pub(super) fn read(&mut self, line: &[u8], cut: bool) {
        self.terminated = false;
        self.semicolon = line.trim_ascii_end().ends_with(b";");
        self.blank = line.trim_ascii().is_empty();
        self.lost |= cut;
        let mut at = 0;
        while let Some(byte) = line.get(at).copied() {
            let next = line.get(at + 1).copied();
            match self.inside {
                Inside::Quoted(b'\'' | b'"') if byte == b'\\' => at += 1,
                Inside::Quoted(quote) if byte == quote => self.inside = Inside::Code,
                Inside::Quoted(_) => {}
                Inside::Comment if byte == b'*' && next == Some(b'/') => {
                    self.inside = Inside::Code;
                    at += 1;
                }
                Inside::Comment => {}
                Inside::Code => match byte {
                    b'\'' | b'"' | b'`' => {
                        self.inside = Inside::Quoted(byte);
                        self.terminated = false;
                    }
                    b'#' => return,
                    b'-' if next == Some(b'-')
                        && line.get(at + 2).is_none_or(u8::is_ascii_whitespace) =>
                    {
                        return;
                    }
                    // Comments that a server executes count as code.
                    b'/' if next == Some(b'*')
                        && line.get(at + 2) != Some(&b'!')
                        && line.get(at + 2..at + 4) != Some(b"M!") =>
                    {
                        self.inside = Inside::Comment;
                        at += 1;
                    }
                    byte if byte.is_ascii_whitespace() => {}
                    byte => self.terminated = byte == b';',
                },
            }
            at += 1;
        }
    }

    /// Whether the next line begins in a string or a comment, as far as the text is reliable.
    pub(super) fn is_open(&self) -> bool {
        !self.lost && self.inside != Inside::Code
    }

    /// Whether the statement ends with the last line: servers write a semicolon behind it. `text` is the statement.
    pub(super) fn ends(&self, text: &[u8]) -> bool {
        !self.lost && self.inside == Inside::Code && self.terminated && !is_inside_body(text)
    }

    /// Whether the last line was blank.
    pub(super) fn is_blank(&self) -> bool {
        self.blank
    }

    /// Whether the last line ended with a semicolon, even in a string: a string that is never closed ends there.
    pub(super) fn has_semicolon(&self) -> bool {
        self.semicolon
    }
}

/// Whether a statement is a compound one, as of stored programs, whose last inner statement is not the end: then a
/// semicolon ends an inner statement.
fn is_inside_body(text: &[u8]) -> bool {
    // Number of words in which a definition's body begins.
    const WORDS: usize = 24;
    // Size beyond which a statement is not scanned at each of its lines.
    const BYTES: usize = 1 << 17;
    let text = String::from_utf8_lossy(&text[..text.len().min(BYTES)]);
    let mut list = tokens(&text);
    let Some(first) = list.next() else {
        return false;
    };
    let is_one_of = |token: &crate::sql_text::Token, words: &[&str]| {
        words.iter().any(|word| token.is(&text, word))
    };
    if is_one_of(&first, &["create", "alter"]) {
        let kinds = [
            "procedure",
            "function",
            "trigger",
            "event",
            "package",
            "table",
            "view",
            "index",
            "database",
            "schema",
            "user",
            "role",
            "server",
            "tablespace",
            "sequence",
        ];
        let kind = list
            .by_ref()
            .take(WORDS)
            .find(|token| is_one_of(token, &kinds));
        return kind.is_some_and(|kind| is_one_of(&kind, &kinds[..5])) && blocks_open(&text) > 0;
    }
    if first.is(&text, "begin") && list.next().is_some_and(|next| next.is(&text, "not")) {
        return blocks_open(&text) > 0;
    }
    is_one_of(
        &first,
        &["if", "case", "loop", "while", "repeat", "for", "declare"],
    )
}

/// Number of BEGIN and CASE in a text without an END so far.
fn blocks_open(text: &str) -> i32 {
    let mut open = 0;
    let mut list = tokens(text).peekable();
    while let Some(token) = list.next() {
        if token.is(text, "begin") || token.is(text, "case") {
            open += 1;
        } else if token.is(text, "end") {
            let next = list.peek().copied();
            let ends = |word| next.is_some_and(|next| next.is(text, word));
            if ends("case") {
                list.next();
                open -= 1;
            } else if !["if", "loop", "while", "repeat", "for"]
                .into_iter()
                .any(ends)
            {
                open -= 1;
            }
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(lines: &[&str]) -> (bool, bool) {
        let mut scan = Scan::default();
        for line in lines {
            scan.read(line.as_bytes(), false);
        }
        (scan.is_open(), scan.ends(lines.join("\n").as_bytes()))
    }

    #[test]
    fn statements_end_with_a_semicolon_that_is_code() {
        let (open, ended, neither) = ((true, false), (false, true), (false, false));
        for (lines, expected) in [
            (&["SELECT 1;"][..], ended),
            (&["SELECT 1; "], ended),
            (&["SELECT 1 /* x */; -- why"], ended),
            (&["SELECT 1"], neither),
            (&["SELECT ';'"], neither),
            (&["SELECT ';"], open),
            (&["SELECT 'a", "b';"], ended),
            (&["SELECT 'it''s';"], ended),
            (&["SELECT 'it\\'s;"], open),
            (&["SELECT `a'b`;"], ended),
            (&["SELECT /* ; ", " ' */ 1;"], ended),
            (&["SELECT 1 -- it's;"], neither),
            (&["SELECT a # it's;", "FROM t;"], ended),
            (&["SELECT /*!40001 SQL_NO_CACHE */ 1;"], ended),
            (&["CREATE PROCEDURE p() BEGIN SELECT 1;"], neither),
            (
                &[
                    "CREATE DEFINER=`a`@`b` TRIGGER t AFTER INSERT ON event FOR EACH ROW BEGIN SET @a = 1;",
                ],
                neither,
            ),
            (
                &[
                    "CREATE PROCEDURE p()",
                    "BEGIN",
                    "IF a THEN BEGIN SELECT 1; END; END IF;",
                ],
                neither,
            ),
            (
                &[
                    "CREATE PROCEDURE p()",
                    "BEGIN",
                    "CASE a WHEN 1 THEN SELECT 1; END CASE;",
                    "END;",
                ],
                ended,
            ),
            (
                &["CREATE TRIGGER t BEFORE INSERT ON b FOR EACH ROW SET @a = 1;"],
                ended,
            ),
            (&["CREATE TABLE event (a int);"], ended),
            (&["BEGIN NOT ATOMIC SELECT 1;"], neither),
            (&["BEGIN;"], ended),
        ] {
            assert_eq!(scan(lines), expected, "{lines:?}");
        }
    }
}
