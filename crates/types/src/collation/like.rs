//! LIKE (the manual, "String Comparison Functions and Operators"): character by character under a
//! collation, so that neither contractions nor trailing spaces count.
//!
//! A pattern is compiled once, into the segments between its `%`. When the value is ASCII (or the
//! collation orders by code) they are looked for as bytes: the first at the start, the last at the end,
//! the others from left to right, each where it is found first. Everything else runs a matcher of
//! characters that goes back at most to the last `%`.

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

/// What stands between two `%`, in bytes.
#[derive(Debug, Clone)]
enum Segment {
    /// A literal, in lower case when letter case is folded.
    Literal(Vec<u8>, Search),
    /// Bytes with gaps: `None` is `_`.
    WithOnes(Vec<Option<u8>>),
}

/// Search for a literal.
#[derive(Debug, Clone)]
enum Search {
    /// Byte by byte.
    Exact(memmem::Finder<'static>),
    /// Case-insensitively, by the byte at this index, in either letter case, which is rare in texts.
    Folded(usize),
}

/// ASCII's lower-case letters, rarest in texts first. (Order by Norvig, "English Letter Frequency Counts", 2013.)
const SELDOM: &[u8] = b"zqjxkvbpgwyfmucdlhrsnioate";

/// Index of the rarest byte of a literal: other characters than letters, except spaces, are the rarest.
fn most_seldom(literal: &[u8]) -> usize {
    let rank = |byte: u8| match SELDOM.iter().position(|letter| *letter == byte) {
        Some(rank) => rank + 1,
        None if byte == b' ' => usize::MAX,
        None => SELDOM.len() / 2,
    };
    let places = literal.iter().enumerate();
    let place = places.min_by_key(|(_, byte)| rank(**byte));
    place.map_or(0, |(place, _)| place)
}

impl Segment {
    fn new(bytes: Vec<Option<u8>>, is_middle: bool, folds: bool) -> Self {
        let literal: Option<Vec<u8>> = bytes.iter().copied().collect();
        match literal {
            None => Self::WithOnes(bytes),
            Some(literal) => {
                let search = if is_middle && !folds {
                    Search::Exact(memmem::Finder::new(&literal).into_owned())
                } else {
                    Search::Folded(most_seldom(&literal))
                };
                Self::Literal(literal, search)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Literal(literal, _) => literal.len(),
            Self::WithOnes(bytes) => bytes.len(),
        }
    }

    /// Whether it matches a part of its own length.
    fn equals(&self, part: &[u8], folds: bool) -> bool {
        match self {
            Self::Literal(literal, _) if folds => part.eq_ignore_ascii_case(literal),
            Self::Literal(literal, _) => part == literal,
            Self::WithOnes(bytes) => part.iter().zip(bytes).all(|(byte, wanted)| {
                let byte = if folds {
                    byte.to_ascii_lowercase()
                } else {
                    *byte
                };
                wanted.is_none_or(|wanted| wanted == byte)
            }),
        }
    }

    /// Position of the first match.
    fn find(&self, value: &[u8], folds: bool) -> Option<usize> {
        let places = (value.len() + 1).checked_sub(self.len())?;
        let equals = |at: &usize| self.equals(&value[*at..*at + self.len()], folds);
        match self {
            Self::Literal(_, Search::Exact(finder)) => finder.find(value),
            Self::Literal(literal, Search::Folded(place)) => match literal.get(*place) {
                None => Some(0),
                Some(byte) => {
                    let among = &value[*place..*place + places];
                    memchr::memchr2_iter(*byte, byte.to_ascii_uppercase(), among).find(equals)
                }
            },
            Self::WithOnes(_) => (0..places).find(equals),
        }
    }
}

/// Comparison of letters on the fast path.
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
    bytes: Bytes,
    /// The segments before, between and behind the `%`, where they can be searched for as bytes.
    segments: Option<Vec<Segment>>,
    /// Whether `_` matches characters of several bytes, so that only ASCII values take the fast path.
    counts_characters: bool,
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
            bytes,
            segments: None,
            counts_characters: false,
            pieces,
        };
        this.segments = this.in_bytes();
        this
    }

    /// The segments of the pattern, if they can be looked for as bytes.
    fn in_bytes(&mut self) -> Option<Vec<Segment>> {
        let folds = self.folds();
        let is_binary = self.collation == CollationId::BINARY;
        let mut segments: Vec<Vec<Option<u8>>> = vec![Vec::new()];
        let mut encoded = Vec::new();
        for piece in &self.pieces {
            match (piece, segments.last_mut()) {
                (Piece::Many, _) => segments.push(Vec::new()),
                (Piece::One, Some(segment)) => {
                    segment.push(None);
                    self.counts_characters |= !is_binary;
                }
                (Piece::Character(point), Some(segment)) => {
                    encoded.clear();
                    if is_binary {
                        encoded.push(*point as u8)
                    } else {
                        utf8::encode(*point, &mut encoded)
                    }
                    let fits = match self.bytes {
                        Bytes::Exact => true,
                        Bytes::None => false,
                        Bytes::Folded { controls: true } => ascii::all(&encoded, ascii::is_ascii),
                        _ => ascii::all(&encoded, ascii::is_plain),
                    };
                    if !fits {
                        return None;
                    }
                    if folds {
                        encoded.make_ascii_lowercase();
                    }
                    segment.extend(encoded.iter().copied().map(Some));
                }
                (_, None) => {}
            }
        }
        let last = segments.len() - 1;
        let segment = |(place, bytes)| Segment::new(bytes, place > 0 && place < last, folds);
        Some(segments.into_iter().enumerate().map(segment).collect())
    }

    fn folds(&self) -> bool {
        matches!(self.bytes, Bytes::Folded { .. })
    }

    /// Whether a value matches.
    pub fn matches(&self, value: &[u8]) -> bool {
        if let Some(segments) = &self.segments {
            let fits = match self.bytes {
                Bytes::Exact if self.counts_characters => ascii::all(value, ascii::is_ascii),
                Bytes::Exact => true,
                Bytes::Folded { controls: true } => ascii::all(value, ascii::is_ascii),
                _ => ascii::all(value, ascii::is_plain),
            };
            if fits {
                return self.matches_bytes(segments, value);
            }
        }
        self.matches_pieces(value)
    }

    fn matches_bytes(&self, segments: &[Segment], value: &[u8]) -> bool {
        let folds = self.folds();
        let (first, rest) = match segments {
            [] => return value.is_empty(),
            [all] => return all.len() == value.len() && all.equals(value, folds),
            [first, rest @ ..] => (first, rest),
        };
        let Some((last, middle)) = rest.split_last() else {
            return false;
        };
        let Some(end) = value.len().checked_sub(last.len()) else {
            return false;
        };
        let mut start = first.len();
        if start > end
            || !first.equals(&value[..start], folds)
            || !last.equals(&value[end..], folds)
        {
            return false;
        }
        for segment in middle {
            match segment.find(&value[start..end], folds) {
                Some(at) => start += at + segment.len(),
                None => return false,
            }
        }
        true
    }

    fn matches_pieces(&self, value: &[u8]) -> bool {
        let charset = self.collation.charset();
        let (mut at, mut piece) = (0, 0);
        // Where to continue when the pieces after the last `%` do not match here.
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
            // Plain characters differ in letter case at most.
            Order::Uca(_) if self.bytes != Bytes::None && is_plain(a) && is_plain(b) => {
                let (a, b) = (a as u8, b as u8);
                self.folds() && a.eq_ignore_ascii_case(&b)
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

fn is_plain(point: u32) -> bool {
    (0x20..0x7F).contains(&point)
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
            ("the special new Requests", "%SPECIAL%requests%", true),
            ("the requests are special", "%special%requests%", false),
            ("specialrequests", "special%requests", true),
            ("specialrequest", "special%requests", false),
            ("a request with a Question", "%Quest%", true),
            ("a request with a Query", "%QUEST%tion%", false),
            ("aquarius", "%arius%", true),
            ("aquq", "%auq%", false),
            ("pe", "%special%", false),
            ("xyz", "%z%", true),
            ("aba", "ab%ba", false),
            ("abba", "ab%ba", true),
            ("abcabc", "%b_a%", true),
            ("abcabc", "a%b_", true),
            ("aéc", "a_c", true),
            ("aéc", "a%_c", true),
            ("a", "%_", true),
            ("", "%_", false),
            ("a\u{1}b", "ab", false),
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
