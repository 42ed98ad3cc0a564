//! Keys of prefix indexes under a collation: which keys an index of column prefixes has for texts that are equal to,
//! before or behind a given text.
//!
//! Where each character has one weight, the prefixes of texts are in the order of the texts. The Unicode Collation
//! Algorithm has characters without a weight and with several, and contractions (letters of several characters). So the
//! first two characters of a text that is equal to 'ass' may weigh as 'as' does, or 'ass' ('aß'), or 'a' (an accent is
//! a character of its own there), or nothing; and a contraction that is cut in two may have any weight. Only weights of
//! the first level are compared: those of the other levels may belong to characters that were cut off.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::compare::append_padded;
use super::uca::{MOST_WEIGHTS, SOURCES, Uca};
use super::{Collation, CollationId, Order};

/// A contraction of which only the first characters are left.
pub(super) struct Begun {
    /// The characters that are left.
    pub(super) points: Vec<u32>,
    /// Their weights.
    beginning: Vec<u16>,
    /// Weights of the whole contraction, which do not begin with `beginning`.
    whole: Vec<u16>,
}

/// The contractions of a table whose prefixes sort elsewhere than they do.
struct Letters {
    begun: Vec<Begun>,
    /// The first characters of the contractions.
    heads: Vec<u32>,
    /// The least and the greatest first weight of the contractions and of their prefixes.
    first: u16,
    last: u16,
}

static LETTERS: [OnceLock<Letters>; SOURCES] = [const { OnceLock::new() }; SOURCES];

impl Letters {
    fn of(uca: Uca) -> &'static Self {
        LETTERS[uca.source()].get_or_init(|| {
            let weights = |points: &[u32]| -> Vec<u16> {
                let text: String = points.iter().copied().filter_map(char::from_u32).collect();
                uca.level_weights(text.as_bytes(), 1).collect()
            };
            let mut begun = Vec::new();
            uca.for_each_contraction(&mut |points| {
                let whole = weights(points);
                for end in 1..points.len() {
                    let beginning = weights(&points[..end]);
                    if !whole.starts_with(&beginning) {
                        begun.push(Begun {
                            points: points[..end].to_vec(),
                            beginning,
                            whole: whole.clone(),
                        });
                    }
                }
            });
            let mut heads: Vec<u32> = begun.iter().flat_map(|one| one.points.clone()).collect();
            heads.sort_unstable();
            heads.dedup();
            let firsts = |one: &Begun| {
                let first = |weights: &[u16]| weights.first().copied().unwrap_or(0);
                [first(&one.beginning), first(&one.whole)]
            };
            let firsts: Vec<u16> = begun.iter().flat_map(firsts).collect();
            Self {
                begun,
                heads,
                first: firsts.iter().min().copied().unwrap_or(u16::MAX),
                last: firsts.iter().max().copied().unwrap_or(0),
            }
        })
    }
}

/// Whether a contraction that sorts elsewhere than its prefixes begins with this character.
pub(super) fn begins_letter(uca: Uca, point: u32) -> bool {
    Letters::of(uca).heads.binary_search(&point).is_ok()
}

/// Compares weights with the iterator of another text's weights; equal where one is a prefix of the other.
fn compare_beginning(weights: &[u16], rest: &[u16], space: Option<u16>) -> Ordering {
    for (place, weight) in weights.iter().enumerate() {
        let Some(other) = rest.get(place).copied().or(space) else {
            break;
        };
        if *weight != other {
            return weight.cmp(&other);
        }
    }
    Ordering::Equal
}

/// Keeps only the least and the greatest of some keys.
fn keep_ends(keys: &mut Vec<Vec<u8>>) -> &mut Vec<Vec<u8>> {
    keys.sort_unstable();
    if keys.len() > 2 {
        keys.drain(1..keys.len() - 1);
    }
    keys
}

/// Keys of the prefixes of texts that compare in a known way to one text: sort keys of the first level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginnings {
    /// Key of the text's own prefix: a later text has this key, a greater one or one of `points`, an earlier text this
    /// key, a smaller one or one of `points`.
    pub whole: Vec<u8>,
    /// Keys that the prefix of an equal text may have.
    pub points: Vec<Vec<u8>>,
    /// For a long text, the first and the last of more keys of equal texts: all keys between them begin with its first
    /// weights, too.
    pub rest: Option<(Vec<u8>, Vec<u8>)>,
}

/// Greatest number of weights for which keys are listed one by one, since there may be thousands; few texts have that
/// many weights in common.
pub const POINT_WEIGHTS: usize = 256;

impl CollationId {
    /// Whether each character has one weight, so that the prefixes of texts are in the order of the texts and those of
    /// equal texts are equal.
    pub fn orders_beginnings(self) -> bool {
        !matches!(self.collation().order, Order::Uca(_))
    }

    /// Whether the first level is all of a sort key.
    pub fn has_one_level(self) -> bool {
        match self.collation().order {
            Order::Uca(uca) => uca.has_one_level(),
            Order::Bytes | Order::Simple(_) | Order::Json => true,
        }
    }

    /// The keys of the first `characters` characters of texts that are equal to a text; `None` where prefixes are
    /// ordered as texts are.
    pub fn beginnings(self, text: &[u8], characters: u32) -> Option<Beginnings> {
        self.beginnings_of(text, characters, POINT_WEIGHTS)
    }

    fn beginnings_of(
        self,
        text: &[u8],
        characters: u32,
        point_weights: usize,
    ) -> Option<Beginnings> {
        let collation = self.collation();
        let Order::Uca(uca) = collation.order else {
            return None;
        };
        let mut weights: Vec<u16> = uca.level_weights(text, 1).collect();
        let space = collation.pad_space.then(|| uca.ascii().space().weight(1));
        if space.is_some() {
            while weights.last().copied() == space {
                weights.pop();
            }
        }
        let most = (characters as usize).saturating_mul(MOST_WEIGHTS);
        let letters = Letters::of(uca);
        let (mut points, mut more) = (Vec::new(), Vec::new());
        for length in 0..=weights.len().min(most) {
            let (before, rest) = weights.split_at(length);
            let points = if length <= point_weights {
                &mut points
            } else {
                // Only the first and the last are wanted.
                keep_ends(&mut more)
            };
            points.push(collation.first_level(before, uca));
            let next = rest.first().copied().or(space);
            if next.is_none_or(|next| !(letters.first..=letters.last).contains(&next)) {
                continue;
            }
            for letter in &letters.begun {
                let of_whole = compare_beginning(&letter.whole, rest, space);
                let is_beside = of_whole.is_ne()
                    && of_whole == compare_beginning(&letter.beginning, rest, space);
                if !is_beside {
                    let beginning = [before, &letter.beginning].concat();
                    points.push(collation.first_level(&beginning, uca));
                }
            }
        }
        points.sort_unstable();
        points.dedup();
        let ends = keep_ends(&mut more);
        Some(Beginnings {
            whole: collation.first_level(&weights, uca),
            points,
            rest: ends.first().cloned().zip(ends.last().cloned()),
        })
    }

    /// The first level of a text's sort key, with its terminator; `None` where prefixes are ordered as texts are.
    pub fn first_level_key(self, text: &[u8]) -> Option<Vec<u8>> {
        let collation = self.collation();
        let Order::Uca(uca) = collation.order else {
            return None;
        };
        let weights: Vec<u16> = uca.level_weights(text, 1).collect();
        Some(collation.first_level(&weights, uca))
    }
}

impl Collation {
    fn first_level(&self, weights: &[u16], uca: Uca) -> Vec<u8> {
        let mut key = Vec::with_capacity(weights.len() * 2 + 3);
        if self.pad_space {
            let space = uca.ascii().space().weight(1);
            append_padded(weights.iter().copied(), space, 2, &mut key);
            return key;
        }
        for weight in weights {
            key.extend_from_slice(&weight.to_be_bytes());
        }
        if !uca.has_one_level() {
            key.extend_from_slice(&[0, 0]);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::super::COLLATIONS;
    use super::*;

    /// Characters with no, one and several weights, and letters of several characters.
    const CHARACTERS: [&str; 16] = [
        "a", "s", "ß", "\0", "c", "h", "l", "·", "เ", "ก", " ", "\t", "é", "\u{301}", "и",
        "\u{306}",
    ];

    fn texts() -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..3 {
            let longer = last
                .iter()
                .flat_map(|text| CHARACTERS.iter().map(move |more| format!("{text}{more}")));
            last = longer.collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn keys_of_first_characters() {
        let texts = texts();
        for name in [
            "utf8mb4_0900_ai_ci",
            "utf8mb4_0900_as_cs",
            "utf8mb4_unicode_ci",
            "utf8mb4_spanish2_ci",
            "utf8mb4_danish_ci",
            "utf8mb4_german2_ci",
        ] {
            let collation = CollationId::by_name(name).unwrap();
            for (at, text) in texts.iter().enumerate().step_by(37) {
                for (characters, point_weights) in [(1, 64), (2, 64), (1, 0), (2, 1)] {
                    let known = collation
                        .beginnings_of(text.as_bytes(), characters, point_weights)
                        .unwrap();
                    let is_rest = |key: &Vec<u8>| {
                        let rest = known.rest.as_ref();
                        rest.is_some_and(|(first, last)| first <= key && key <= last)
                    };
                    for other in texts.iter().skip(at % 7).step_by(7) {
                        let cut: String = other.chars().take(characters as usize).collect();
                        let cut = collation.first_level_key(cut.as_bytes()).unwrap();
                        let is_point = known.points.binary_search(&cut).is_ok() || is_rest(&cut);
                        let holds = match collation.compare(other.as_bytes(), text.as_bytes()) {
                            Ordering::Equal => is_point,
                            Ordering::Less => is_point || cut <= known.whole,
                            Ordering::Greater => is_point || cut >= known.whole,
                        };
                        assert!(holds, "{name}: {other:?} beside {text:?}, {characters}");
                    }
                }
            }
        }
    }

    #[test]
    fn few_keys_for_plain_text() {
        let known = |name: &str, text: &str| {
            let collation = CollationId::by_name(name).unwrap();
            collation
                .beginnings(text.as_bytes(), 191)
                .unwrap()
                .points
                .len()
        };
        assert_eq!(known("utf8mb4_0900_ai_ci", "http://example.org/"), 20);
        let long = "a".repeat(3000);
        assert_eq!(known("utf8mb4_0900_ai_ci", &long), POINT_WEIGHTS + 1);
        // A space at the end does not count.
        assert_eq!(known("utf8mb4_unicode_ci", "plain text"), 10);
    }

    #[test]
    fn first_levels_begin_sort_keys() {
        for row in COLLATIONS {
            for text in ["aé", "a\t ", "Straße "] {
                let mut key = Vec::new();
                row.id.append_sort_key(text.as_bytes(), &mut key);
                if let Some(first) = row.id.first_level_key(text.as_bytes()) {
                    assert!(key.starts_with(&first), "{} {text:?}", row.name);
                    assert_eq!(key == first, row.id.has_one_level(), "{}", row.name);
                }
            }
        }
    }
}
