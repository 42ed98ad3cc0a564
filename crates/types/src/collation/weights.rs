//! Collations of one weight a character.

use std::sync::OnceLock;

use super::order::Simple;
use super::{COLLATIONS, CollationId, PlainText, ascii, general_ci};
use crate::charset::Charset;

/// How a collation weighs ASCII characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ascii {
    /// Letters that differ in case are equal, all others are different.
    Folded,
    /// All ASCII characters are different.
    Exact,
    /// Any other weights: no operation may take ASCII characters alone.
    Irregular,
}

/// The weights of characters.
pub(super) struct Weights {
    /// Weights of the Basic Multilingual Plane.
    weights: Vec<u16>,
    /// The weight of all other characters; `None`: the lower bits of their code points.
    beyond: Option<u16>,
    ascii: Ascii,
    /// The ASCII character, small if letters are folded, of a weight below 256; 0 for none.
    ascii_of: [u8; 256],
    /// The characters of the least and of the largest weight.
    bounds: (char, char),
}

/// The weights of the bytes of collations of one-byte character sets: a line is a name and 256
/// weights of two hexadecimal digits.
static SINGLE_BYTE: &str = include_str!("data/single_byte.txt");
/// The weights of GBK's characters: two bytes for each first byte from 0x81 to 0xFE and second
/// byte from 0x40 to 0xFE, 0 where there is no character.
static GBK: &[u8] = include_bytes!("data/gbk_chinese_ci.bin");

static TABLES: [OnceLock<Weights>; 256] = [const { OnceLock::new() }; 256];

impl Simple {
    /// The weights.
    pub(super) fn weights(self) -> &'static Weights {
        TABLES[usize::from(self.0)].get_or_init(|| self.load())
    }

    /// Whether characters weigh their codes.
    pub(super) fn is_by_code(self) -> bool {
        CollationId(self.0.into()).name().ends_with("_bin")
    }

    fn load(self) -> Weights {
        match self {
            Self::GENERAL_CI => {
                return Weights::new(
                    general_ci::weights(),
                    Some(general_ci::BEYOND),
                    Charset::Utf8mb4,
                );
            }
            Self::GENERAL_MYSQL500_CI => {
                let mut weights = general_ci::weights();
                weights[0xDF] = 0xDF;
                return Weights::new(weights, Some(general_ci::BEYOND), Charset::Utf8mb4);
            }
            Self::TOLOWER_CI => {
                let lower = |point: u16| {
                    let lower = char::from_u32(point.into()).map(char::to_lowercase);
                    let lower = lower.and_then(|mut lower| lower.next()).map(u32::from);
                    lower
                        .and_then(|lower| u16::try_from(lower).ok())
                        .unwrap_or(point)
                };
                return Weights::new(
                    (0..=u16::MAX).map(lower).collect(),
                    Some(general_ci::BEYOND),
                    Charset::Utf8mb4,
                );
            }
            _ => {}
        }
        let id = CollationId(self.0.into());
        let row = COLLATIONS.iter().find(|row| row.id == id);
        let (name, charset) = row.map_or(("", Charset::Latin1), |row| (row.name, row.charset));
        let listed = SINGLE_BYTE
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let of_byte = |byte: u8| match listed {
            Some(weights) => {
                let at = usize::from(byte) * 2;
                let digits = weights.get(at..at + 2).unwrap_or("0");
                u16::from_str_radix(digits, 16).unwrap_or(0)
            }
            None if self.is_by_code() => u16::from(byte),
            None => u16::from(byte.to_ascii_uppercase()),
        };
        let mut weights: Vec<u16> = (0..=u16::MAX).collect();
        let mut bytes = Vec::with_capacity(4);
        for point in 0..=u16::MAX {
            bytes.clear();
            if !charset.append(point.into(), &mut bytes) {
                continue;
            }
            weights[usize::from(point)] = match bytes.as_slice() {
                [byte] => of_byte(*byte),
                [lead, trail] if name == "gbk_chinese_ci" => gbk(*lead, *trail),
                [lead, trail] => u16::from_be_bytes([*lead, *trail]),
                _ => point,
            };
        }
        Weights::new(weights, None, charset)
    }
}

fn gbk(lead: u8, trail: u8) -> u16 {
    let (lead_index, trail_index) = (lead.wrapping_sub(0x81), trail.wrapping_sub(0x40));
    let at = (usize::from(lead_index) * 191 + usize::from(trail_index)) * 2;
    match GBK.get(at..at + 2) {
        None | Some([0, 0]) => u16::from_be_bytes([lead, trail]),
        Some(weight) => u16::from(weight[0]) << 8 | u16::from(weight[1]),
    }
}

impl Weights {
    fn new(weights: Vec<u16>, beyond: Option<u16>, charset: Charset) -> Self {
        let held = (0..=u16::MAX).filter(|point| charset.holds(u32::from(*point)));
        let held = held
            .filter_map(|point| Some((weights[usize::from(point)], char::from_u32(point.into())?)));
        let bounds = held.fold(None, |bounds: Option<[(u16, char); 2]>, of_point| {
            let [first, last] = bounds.unwrap_or([of_point; 2]);
            Some([first.min(of_point), last.max(of_point)])
        });
        let bounds = bounds.map_or(('\0', '\u{FFFF}'), |[first, last]| (first.1, last.1));
        let ascii_weights = &weights[..128];
        let differ = |fold: fn(u8) -> u8| {
            (0..128u8).all(|a| {
                (0..a).all(|b| {
                    let is_equal = ascii_weights[usize::from(a)] == ascii_weights[usize::from(b)];
                    is_equal == (fold(a) == fold(b))
                })
            })
        };
        let ascii = if differ(|byte| byte.to_ascii_lowercase()) {
            Ascii::Folded
        } else if differ(|byte| byte) {
            Ascii::Exact
        } else {
            Ascii::Irregular
        };
        let mut ascii_of = [0; 256];
        for byte in (0..128u8).rev() {
            let small = match ascii {
                Ascii::Folded => byte.to_ascii_lowercase(),
                Ascii::Exact | Ascii::Irregular => byte,
            };
            if let Some(place) = ascii_of.get_mut(usize::from(ascii_weights[usize::from(byte)])) {
                *place = small;
            }
        }
        Self {
            weights,
            beyond,
            ascii,
            ascii_of,
            bounds,
        }
    }

    /// The characters of the least and of the largest weight.
    pub(super) fn bounds(&self) -> (char, char) {
        self.bounds
    }

    /// The weight of a code point.
    pub(super) fn weight(&self, point: u32) -> u16 {
        let inside = usize::try_from(point).ok();
        match inside.and_then(|point| self.weights.get(point)) {
            Some(weight) => *weight,
            None => self.beyond.unwrap_or((point & 0xFFFF) as u16),
        }
    }

    /// The weight of a space.
    pub(super) fn space(&self) -> u16 {
        self.weight(u32::from(b' '))
    }

    /// Whether comparisons may look at ASCII characters eight at a time.
    pub(super) fn is_regular(&self) -> bool {
        self.ascii != Ascii::Irregular
    }

    /// Whether letters of different case are equal.
    pub(super) fn folds_case(&self) -> bool {
        self.ascii == Ascii::Folded
    }

    /// See [`CollationId::plain_text`].
    pub(super) fn plain_text(&self) -> PlainText {
        match self.ascii {
            Ascii::Folded => PlainText::CaseInsensitive,
            Ascii::Exact => PlainText::CaseSensitive,
            Ascii::Irregular => PlainText::Weighed,
        }
    }

    /// The test for words that the fast path may take.
    pub(super) fn test(&self) -> fn(u64) -> bool {
        match self.ascii {
            Ascii::Folded | Ascii::Exact => ascii::is_ascii,
            Ascii::Irregular => |_| false,
        }
    }

    /// The mapping of words that makes ASCII characters of one weight the same.
    pub(super) fn change(&self) -> fn(u64) -> u64 {
        match self.ascii {
            Ascii::Folded => ascii::to_lower,
            Ascii::Exact | Ascii::Irregular => |word| word,
        }
    }

    /// The weights of ASCII characters.
    pub(super) fn ascii_weight(&self) -> impl Fn(u8) -> u16 {
        |byte| self.weights[usize::from(byte)]
    }

    /// The ASCII character of a weight.
    pub(super) fn ascii_of(&self, weight: u16) -> Option<u8> {
        match self.ascii_of.get(usize::from(weight)) {
            None | Some(0) => None,
            Some(byte) => Some(*byte),
        }
    }
}
