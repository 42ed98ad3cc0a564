//! LIKE (the manual, "String Comparison Functions and Operators"): character by character under a
//! collation, so that neither contractions nor trailing spaces count.
//!
//! A pattern is compiled once. Patterns whose only wildcards are `%` at the ends become a test for
//! a prefix, a suffix, equality or containment, which runs on bytes when the value is ASCII (or the
//! collation orders by code); everything else runs a matcher that goes back at most to the last
//! `%`.

use memchr::memmem;

use super::{CollationId, Order, ascii};
use crate::charset::{Charset, utf8};

/// One piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Character(u32),
    /// `_`
    One,
    /// `%`
    Many,
}

/// What the bytes between `%` at the ends are tested for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Equal,
    Prefix,
    Suffix,
    Contains,
    /// `%` alone.
    Anything,
    /// Needs the matcher.
    General,
}

/// How letters are compared on the fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// As they are, in any text.
    Exact,
    /// As they are, in text that is plain ASCII.
    ExactPlain,
    /// Regardless of letter case, in text that is plain ASCII (or any ASCII with `controls`).
    Folded { controls: bool },
    /// Never: only weights say what is equal.
    None,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct LikePattern {
    collation: CollationId,
    pieces: Vec<Piece>,
    shape: Shape,
    bytes: Bytes,
    /// The characters of a shape other than general; in lower case when letters are folded.
    literal: Vec<u8>,
    finder: Option<memmem::Finder<'static>>,
}

fn next_point(charset: Charset, bytes: &[u8]) -> Option<(u32, usize)> {
    match charset {
        Charset::Binary => bytes.first().map(|byte| (u32::from(*byte), 1)),
        _ => utf8::decode(bytes),
    }
}

impl LikePattern {
    /// Compiles a pattern. `escape` is the escape character's code point, `\` by default; `None`
    /// for `ESCAPE ''`.
    pub fn new(collation: CollationId, pattern: &[u8], escape: Option<u32>) -> Self {
        let charset = collation.charset();
        let mut pieces = Vec::new();
        let mut rest = pattern;
        while let Some((mut point, length)) = next_point(charset, rest) {
            rest = &rest[length..];
            let mut is_escaped = false;
            if Some(point) == escape
                && let Some((next, length)) = next_point(charset, rest)
            {
                point = next;
                rest = &rest[length..];
                is_escaped = true;
            }
            pieces.push(match point {
                0x25 if !is_escaped => Piece::Many,
                0x5F if !is_escaped => Piece::One,
                _ => Piece::Character(point),
            });
        }
        pieces.dedup_by(|a, b| *a == Piece::Many && *b == Piece::Many);
        let bytes = match collation.collation().order {
            Order::Bytes | Order::Json => Bytes::Exact,
            Order::Simple(simple) => match simple.weights() {
                weights if !weights.is_regular() => Bytes::None,
                weights if weights.folds_case() => Bytes::Folded { controls: true },
                _ => Bytes::ExactPlain,
            },
            Order::Uca(uca) if !uca.ascii().is_regular => Bytes::None,
            Order::Uca(uca) if uca.has_case() => Bytes::ExactPlain,
            Order::Uca(_) => Bytes::Folded { controls: false },
        };
        let mut this = Self {
            collation,
            shape: Shape::General,
            bytes,
            literal: Vec::new(),
            finder: None,
            pieces,
        };
        this.find_shape();
        this
    }

    fn find_shape(&mut self) {
        let pieces = self.pieces.as_slice();
        let starts = pieces.first() == Some(&Piece::Many);
        let ends = pieces.last() == Some(&Piece::Many);
        let inner = match pieces {
            [Piece::Many] => {
                self.shape = Shape::Anything;
                return;
            }
            _ => &pieces[usize::from(starts)..pieces.len() - usize::from(ends)],
        };
        let mut literal = Vec::new();
        for piece in inner {
            match piece {
                Piece::Character(point) if self.collation == CollationId::BINARY => {
                    literal.push(*point as u8);
                }
                Piece::Character(point) => utf8::encode(*point, &mut literal),
                Piece::One | Piece::Many => return,
            }
        }
        let fits = match self.bytes {
            Bytes::Exact => true,
            Bytes::None => false,
            Bytes::Folded { controls: true } => ascii::all(&literal, ascii::is_ascii),
            _ => ascii::all(&literal, ascii::is_plain),
        };
        if !fits {
            return;
        }
        if let Bytes::Folded { .. } = self.bytes {
            literal.make_ascii_lowercase();
        } else if starts && ends {
            self.finder = Some(memmem::Finder::new(&literal).into_owned());
        }
        self.shape = match (starts, ends) {
            (false, false) => Shape::Equal,
            (false, true) => Shape::Prefix,
            (true, false) => Shape::Suffix,
            (true, true) => Shape::Contains,
        };
        self.literal = literal;
    }

    /// The characters that every match starts with, when that can be said in bytes: all matches
    /// are bytewise at least this (for collations that order by code only).
    pub fn exact_prefix(&self) -> Option<&[u8]> {
        (self.bytes == Bytes::Exact && matches!(self.shape, Shape::Prefix | Shape::Equal))
            .then_some(&self.literal)
    }

    /// Whether a value matches.
    pub fn matches(&self, value: &[u8]) -> bool {
        if self.shape == Shape::Anything {
            return true;
        }
        if self.shape != Shape::General {
            let fits = match self.bytes {
                Bytes::Exact => true,
                Bytes::Folded { controls: true } => ascii::all(value, ascii::is_ascii),
                _ => ascii::all(value, ascii::is_plain),
            };
            if fits {
                return self.matches_bytes(value);
            }
        }
        self.matches_pieces(value)
    }

    fn matches_bytes(&self, value: &[u8]) -> bool {
        let literal = self.literal.as_slice();
        let folds = matches!(self.bytes, Bytes::Folded { .. });
        let equal = |part: &[u8]| {
            if folds {
                part.eq_ignore_ascii_case(literal)
            } else {
                part == literal
            }
        };
        let length = literal.len();
        match self.shape {
            Shape::Equal => equal(value),
            Shape::Prefix => value.get(..length).is_some_and(equal),
            Shape::Suffix => value.len() >= length && equal(&value[value.len() - length..]),
            _ => match (&self.finder, literal) {
                (Some(finder), _) => finder.find(value).is_some(),
                (None, []) => true,
                (None, [first, ..]) => {
                    let last_start = match value.len().checked_sub(length) {
                        Some(last) => last + 1,
                        None => return false,
                    };
                    memchr::memchr2_iter(*first, first.to_ascii_uppercase(), &value[..last_start])
                        .any(|at| equal(&value[at..at + length]))
                }
            },
        }
    }

    fn matches_pieces(&self, value: &[u8]) -> bool {
        let charset = self.collation.charset();
        let (mut at, mut piece) = (0, 0);
        // Where to go on when the pieces after the last `%` do not match here.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let next = next_point(charset, &value[at..]);
            let matched = match (self.pieces.get(piece), next) {
                (Some(Piece::Many), _) => {
                    piece += 1;
                    if piece == self.pieces.len() {
                        return true;
                    }
                    retry = Some((at, piece));
                    continue;
                }
                (None, None) => return true,
                (_, None) => return false,
                (Some(Piece::One), Some(_)) => true,
                (Some(Piece::Character(wanted)), Some((point, _))) => self.equal(*wanted, point),
                (None, Some(_)) => false,
            };
            if matched {
                at += next.map_or(0, |(_, length)| length);
                piece += 1;
                continue;
            }
            let Some((start, first_piece)) = retry else {
                return false;
            };
            let Some((_, length)) = next_point(charset, &value[start..]) else {
                return false;
            };
            at = start + length;
            piece = first_piece;
            retry = Some((at, piece));
        }
    }

    /// Whether two characters are equal.
    fn equal(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        match self.collation.collation().order {
            Order::Bytes | Order::Json => false,
            Order::Simple(simple) => {
                let weights = simple.weights();
                weights.weight(a) == weights.weight(b)
            }
            Order::Uca(uca) => {
                let (mut a_text, mut b_text) = (Vec::with_capacity(4), Vec::with_capacity(4));
                utf8::encode(a, &mut a_text);
                utf8::encode(b, &mut b_text);
                let elements = |text| {
                    uca.elements(text)
                        .map(move |element| uca.of_element(element))
                        .filter(|weights| *weights != 0)
                };
                elements(&a_text).eq(elements(&b_text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(collation: CollationId, value: &str, pattern: &str) -> bool {
        LikePattern::new(collation, pattern.as_bytes(), Some(u32::from('\\')))
            .matches(value.as_bytes())
    }

    #[test]
    fn matches_as_mysql() {
        let ai_ci = CollationId::UTF8MB4_0900_AI_CI;
        for (value, pattern, expected) in [
            ("David!", "David_", true),
            ("David!", "%D%v%", true),
            ("abc", "ABC", true),
            ("abc", "a%", true),
            ("abc", "%C", true),
            ("abc", "%B%", true),
            ("abc", "%d%", false),
            ("abc", "_", false),
            ("abc", "___", true),
            ("", "", true),
            ("", "%", true),
            ("a", "", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("a\\", "a\\", true),
            ("émile", "EM%", true),
            ("xÉx", "%e%", true),
            ("ß", "ss", false),
            ("ß", "_", true),
            ("a ", "a", false),
            ("mississippi", "%iss%ip%", true),
            ("mississippi", "m%iss%ix%", false),
            ("日本語", "_本%", true),
        ] {
            assert_eq!(
                like(ai_ci, value, pattern),
                expected,
                "{value} like {pattern}"
            );
        }
        assert!(!like(CollationId::UTF8MB4_BIN, "abc", "A%"));
        assert!(like(CollationId::UTF8MB4_BIN, "héllo", "%él%"));
        assert!(!like(CollationId::BINARY, "é", "_"));
        assert!(like(CollationId::BINARY, "é", "__"));
        assert!(!like(CollationId::UTF8MB4_0900_AS_CS, "Abc", "a%"));
        assert!(like(CollationId::LATIN1_SWEDISH_CI, "ÜBER", "y%r"));
        let escaped = LikePattern::new(ai_ci, b"a|%", Some(u32::from('|')));
        assert!(escaped.matches(b"a%") && !escaped.matches(b"ab"));
        let none = LikePattern::new(ai_ci, b"a\\%", None);
        assert!(none.matches(b"a\\x"));
    }
}
