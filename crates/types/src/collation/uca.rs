//! Weights of the Unicode Collation Algorithm (UTS #10): the Default Unicode Collation Element Table
//! with variable elements not ignored, contractions, implicit weights, and no normalisation of the
//! text beforehand. MySQL's `_0900_` collations have version 9.0 of the table, `_unicode_ci` and
//! the older ones of languages 4.0, `_unicode_520_ci` 5.2, and MariaDB's `_uca1400_` 14.0.
//!
//! `data/uca_….bin` hold the tables; `examples/make_uca_table.rs` made them and describes them.
//! `data/tailorings.txt` says in what a language differs from a table: under its name, a line for
//! each character, or two, with their primary weights of four hexadecimal digits each. Loaded, a
//! table is pages of 256 code points. An entry is one collation element (16 bits of primary
//! weight, 9 of secondary, 5 of tertiary), or says where its elements stand in one long list, or
//! that contractions start here, or nothing (then weights are derived from the code point).

use std::sync::OnceLock;

use super::{PlainText, ascii};
use crate::charset::utf8;

/// Code points without an entry: from, to, the first weight's base, and what is subtracted for the
/// second weight, if all of them have the same first one.
type Derivation = (u32, u32, u32, Option<u32>);

/// A version of the table.
struct Version {
    data: &'static [u8],
    derivations: &'static [Derivation],
    /// Whether Hangul syllables weigh what their letters do.
    divides_hangul: bool,
}

const OLD_HAN: &[Derivation] = &[
    (0x3400, 0x4DB5, 0xFB80, None),
    (0x4E00, 0x9FA5, 0xFB40, None),
];
static NONE: Version = Version {
    data: &[],
    derivations: &[],
    divides_hangul: false,
};
static V400: Version = Version {
    data: include_bytes!("data/uca_400.bin"),
    derivations: OLD_HAN,
    divides_hangul: false,
};
static V520: Version = Version {
    data: include_bytes!("data/uca_520.bin"),
    derivations: OLD_HAN,
    divides_hangul: false,
};
static V900: Version = Version {
    data: include_bytes!("data/uca_900.bin"),
    derivations: &[
        (0x1_7000, 0x1_8AFF, 0xFB00, Some(0x1_7000)),
        (0x4E00, 0x9FD5, 0xFB40, None),
        (0xFA0E, 0xFA0F, 0xFB40, None),
        (0xFA11, 0xFA11, 0xFB40, None),
        (0xFA13, 0xFA14, 0xFB40, None),
        (0xFA1F, 0xFA1F, 0xFB40, None),
        (0xFA21, 0xFA21, 0xFB40, None),
        (0xFA23, 0xFA24, 0xFB40, None),
        (0xFA27, 0xFA29, 0xFB40, None),
        (0x3400, 0x4DB5, 0xFB80, None),
        (0x2_0000, 0x2_A6D6, 0xFB80, None),
        (0x2_A700, 0x2_B734, 0xFB80, None),
        (0x2_B740, 0x2_B81D, 0xFB80, None),
        (0x2_B820, 0x2_CEA1, 0xFB80, None),
    ],
    divides_hangul: true,
};
static V1400: Version = Version {
    data: include_bytes!("data/uca_1400.bin"),
    derivations: &[
        (0x1_7000, 0x1_8AFF, 0xFB00, Some(0x1_7000)),
        (0x1_8D00, 0x1_8D7F, 0xFB00, Some(0x1_7000)),
        (0x1_B170, 0x1_B2FF, 0xFB01, Some(0x1_B170)),
        (0x1_8B00, 0x1_8CFF, 0xFB02, Some(0x1_8B00)),
        (0x4E00, 0x9FFF, 0xFB40, None),
        (0x3400, 0x4DBF, 0xFB80, None),
        (0x2_0000, 0x2_A6DF, 0xFB80, None),
        (0x2_A700, 0x2_B738, 0xFB80, None),
        (0x2_B740, 0x2_B81D, 0xFB80, None),
        (0x2_B820, 0x2_CEA1, 0xFB80, None),
        (0x2_CEB0, 0x2_EBE0, 0xFB80, None),
        (0x3_0000, 0x3_134A, 0xFB80, None),
    ],
    divides_hangul: false,
};

static TAILORINGS: &str = include_str!("data/tailorings.txt");

/// Number of tables.
pub(super) const SOURCES: usize = 27;
/// Greatest number of weights of one character.
pub(super) const MOST_WEIGHTS: usize = 18;

/// The tables: a version and the name of its tailoring.
static NAMED: [(&Version, &str); SOURCES] = [
    (&V400, ""),
    (&V520, ""),
    (&V900, ""),
    (&V1400, ""),
    (&NONE, "latin1_german2"),
    (&V400, "icelandic"),
    (&V400, "latvian"),
    (&V400, "romanian"),
    (&V400, "slovenian"),
    (&V400, "polish"),
    (&V400, "estonian"),
    (&V400, "spanish"),
    (&V400, "swedish"),
    (&V400, "turkish"),
    (&V400, "czech"),
    (&V400, "danish"),
    (&V400, "lithuanian"),
    (&V400, "slovak"),
    (&V400, "spanish2"),
    (&V400, "roman"),
    (&V400, "persian"),
    (&V400, "esperanto"),
    (&V400, "hungarian"),
    (&V400, "sinhala"),
    (&V400, "german2"),
    (&V400, "croatian"),
    (&V400, "vietnamese"),
];

static TABLES: [OnceLock<Table>; SOURCES] = [const { OnceLock::new() }; SOURCES];

/// Parameters of a collation by the Unicode Collation Algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Uca {
    /// Index of the table among [`NAMED`].
    source: u8,
    /// Whether accents count.
    accents: bool,
    /// Whether case counts.
    case: bool,
    /// Whether all characters beyond the Basic Multilingual Plane are equal.
    bmp_only: bool,
}

impl Uca {
    pub(super) const V400: Self = Self::of_language(0);
    pub(super) const V520: Self = Self {
        source: 1,
        bmp_only: false,
        ..Self::V400
    };
    pub(super) const V900: Self = Self {
        source: 2,
        ..Self::V520
    };
    pub(super) const V1400: Self = Self {
        source: 3,
        ..Self::V520
    };
    pub(super) const LATIN1_GERMAN2: Self = Self::of_language(4);

    /// A language of the older collations, by its index among the tables.
    pub(super) const fn of_language(source: u8) -> Self {
        Self {
            source,
            accents: false,
            case: false,
            bmp_only: true,
        }
    }

    /// Makes accents, case or both count.
    pub(super) const fn with(self, accents: bool, case: bool) -> Self {
        Self {
            accents,
            case,
            ..self
        }
    }

    /// The levels that count: 1 knows letters, 2 accents, 3 case.
    pub(super) fn levels(self) -> impl Iterator<Item = u8> {
        let levels = [(1, true), (2, self.accents), (3, self.case)];
        levels
            .into_iter()
            .filter(|(_, counts)| *counts)
            .map(|(level, _)| level)
    }

    /// Whether letters alone count.
    pub(super) const fn has_one_level(self) -> bool {
        !self.accents && !self.case
    }

    /// Whether case counts.
    pub(super) const fn has_case(self) -> bool {
        self.case
    }

    /// The elements of a text.
    pub(super) fn elements(self, text: &[u8]) -> Elements<'_> {
        Elements::new(text, self.table(), self.bmp_only)
    }

    /// The weights of a level that are not ignored.
    pub(super) fn level_weights(self, text: &[u8], level: u8) -> impl Iterator<Item = u16> {
        self.elements(text)
            .map(move |element| element.weight(level))
            .filter(|weight| *weight != 0)
    }

    /// A character that sorts behind no other, among those that are not ignored.
    pub(super) fn first_character(self) -> char {
        self.table().first
    }

    /// A character that sorts before no other.
    pub(super) fn last_character(self) -> char {
        match self.source {
            _ if self == Self::LATIN1_GERMAN2 => '÷',
            _ if self.bmp_only => '\u{10000}',
            1 => '\u{10FFFF}',
            _ => '\u{FFFD}',
        }
    }

    /// Index of the table among [`NAMED`].
    pub(super) fn source(self) -> usize {
        self.source.into()
    }

    /// Visits the characters of each contraction.
    pub(super) fn for_each_contraction(self, visit: &mut dyn FnMut(&[u32])) {
        let mut points = Vec::new();
        for starter in &self.table().starters {
            for (following, _) in &starter.contractions {
                points.clear();
                points.push(starter.point);
                points.extend_from_slice(following);
                visit(&points);
            }
        }
    }

    /// The bits of an element that count.
    pub(super) fn of_element(self, element: Element) -> u32 {
        let mut mask = !0 << 14;
        if self.accents {
            mask |= 0x1FF << 5;
        }
        if self.case {
            mask |= 0x1F;
        }
        element.0 & mask
    }
    /// Weights of the ASCII characters.
    #[inline]
    pub(super) fn ascii(self) -> &'static AsciiWeights {
        &self.table().ascii
    }

    /// See [`CollationId::plain_text`](super::CollationId::plain_text).
    pub(super) fn plain_text(self) -> PlainText {
        match (self.ascii().is_regular, self.case) {
            (false, _) => PlainText::Weighed,
            (true, false) => PlainText::CaseInsensitive,
            (true, true) => PlainText::CaseSensitive,
        }
    }

    /// The test for words of plain ASCII that the fast path may take.
    pub(super) fn test(self) -> fn(u64) -> bool {
        if self.ascii().is_regular {
            ascii::is_plain
        } else {
            |_| false
        }
    }

    /// The mapping of words that makes equal plain ASCII characters the same.
    pub(super) fn change(self) -> fn(u64) -> u64 {
        if self.case {
            |word| word
        } else {
            ascii::to_lower
        }
    }

    #[inline]
    fn table(self) -> &'static Table {
        let index = usize::from(self.source);
        TABLES[index].get_or_init(|| {
            let (version, tailoring) = NAMED[index];
            Table::load(version, tailoring)
        })
    }
}

const KIND: u32 = 3 << 30;
/// The entry is one element.
const SINGLE: u32 = 0;
/// Bits 24 to 29: how many elements; bits 0 to 23: where.
const SEVERAL: u32 = 1 << 30;
/// No entry.
const DERIVED: u32 = 2 << 30;
/// The lower bits are an index of [`Table::starters`].
const STARTER: u32 = 3 << 30;

const PAGES: usize = 0x11_0100 >> 8;

/// One collation element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element(u32);

impl Element {
    const fn new(primary: u32, secondary: u32, tertiary: u32) -> Self {
        Self(primary << 14 | secondary << 5 | tertiary)
    }

    /// The weight of a level, 1 to 3; 0 means that the level ignores the element.
    #[inline]
    pub(super) const fn weight(self, level: u8) -> u16 {
        match level {
            1 => (self.0 >> 14) as u16,
            2 => (self.0 >> 5) as u16 & 0x1FF,
            _ => self.0 as u16 & 0x1F,
        }
    }
}

/// The contractions of a first code point.
struct Starter {
    point: u32,
    /// The entry of the code point where no contraction matches.
    alone: u32,
    /// The code points after the first one, longest first, and the entry of the whole contraction.
    contractions: Vec<(Vec<u32>, u32)>,
}

struct Table {
    /// Where a page of 256 entries starts; pages without entries share one.
    pages: Vec<u32>,
    entries: Vec<u32>,
    elements: Vec<Element>,
    starters: Vec<Starter>,
    derivations: &'static [Derivation],
    divides_hangul: bool,
    ascii: AsciiWeights,
    /// The character with the least primary weight.
    first: char,
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn number(&mut self) -> u32 {
        let mut value = 0;
        let mut shift = 0;
        while let Some((byte, rest)) = self.0.split_first() {
            self.0 = rest;
            value |= u32::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn signed(&mut self) -> i32 {
        let value = self.number();
        (value >> 1) as i32 ^ -((value & 1) as i32)
    }
}

impl Table {
    fn load(version: &'static Version, tailoring: &str) -> Self {
        let mut table = Self {
            pages: vec![0; PAGES],
            entries: vec![DERIVED; 256],
            elements: Vec::new(),
            starters: Vec::new(),
            derivations: version.derivations,
            divides_hangul: version.divides_hangul,
            ascii: AsciiWeights::default(),
            first: '\t',
        };
        let mut input = Input(version.data);
        let (mut point, mut primary) = (0, 0);
        while !input.0.is_empty() {
            point += input.number();
            let following: Vec<u32> = (0..input.number()).map(|_| input.number()).collect();
            let elements: Vec<Element> = (0..input.number())
                .map(|_| {
                    primary += input.signed();
                    let secondary = input.signed() + 32;
                    Element::new(primary as u32, secondary as u32, input.number())
                })
                .collect();
            table.add(point, following, &elements);
        }
        table.tailor(tailoring);
        for starter in &mut table.starters {
            starter
                .contractions
                .sort_by_key(|(following, _)| std::cmp::Reverse(following.len()));
        }
        table.ascii = AsciiWeights::of(&table);
        table
    }

    /// Applies the tailoring of a name.
    fn tailor(&mut self, name: &str) {
        let hex = |digits: &str| u32::from_str_radix(digits, 16).unwrap_or(0);
        let lines = TAILORINGS.lines().skip_while(|line| *line != name).skip(1);
        for line in lines {
            let Some((points, weights)) = line.split_once(' ') else {
                break;
            };
            let mut points = points.split('+').map(hex);
            let point = points.next().unwrap_or(0);
            let weights = weights.as_bytes().chunks(4);
            let weight = |digits| hex(std::str::from_utf8(digits).unwrap_or("0"));
            let elements: Vec<Element> = weights
                .map(|digits| Element::new(weight(digits), 0x20, 2))
                .collect();
            let primary = |elements: &[Element]| elements.first().map_or(0, |e| e.weight(1));
            let least = Element(self.entry(u32::from(self.first)) & !KIND).weight(1);
            if primary(&elements) != 0
                && (primary(&elements) < least || least == 0)
                && let Some(character) = char::from_u32(point)
            {
                self.first = character;
            }
            self.add(point, points.collect(), &elements);
        }
    }

    fn add(&mut self, point: u32, following: Vec<u32>, elements: &[Element]) {
        let entry = match elements {
            [one] => one.0 | SINGLE,
            several => {
                let at = self.elements.len() as u32;
                self.elements.extend_from_slice(several);
                SEVERAL | (several.len() as u32) << 24 | at
            }
        };
        let page = (point >> 8) as usize;
        if self.pages[page] == 0 {
            self.pages[page] = self.entries.len() as u32;
            self.entries.resize(self.entries.len() + 256, DERIVED);
        }
        let place = &mut self.entries[self.pages[page] as usize + (point & 0xFF) as usize];
        if following.is_empty() {
            match *place & KIND {
                STARTER => self.starters[(*place & !KIND) as usize].alone = entry,
                _ => *place = entry,
            }
            return;
        }
        if *place & KIND != STARTER {
            self.starters.push(Starter {
                point,
                alone: *place,
                contractions: Vec::new(),
            });
            *place = STARTER | (self.starters.len() - 1) as u32;
        }
        let index = (*place & !KIND) as usize;
        self.starters[index].contractions.push((following, entry));
    }

    fn entry(&self, point: u32) -> u32 {
        self.entries[self.pages[(point >> 8) as usize] as usize + (point & 0xFF) as usize]
    }
}

/// The collation elements of a text, one after another.
pub(super) struct Elements<'a> {
    table: &'static Table,
    rest: &'a [u8],
    /// Elements of the last entry that were not returned yet.
    several: &'static [Element],
    /// Derived elements, last first.
    derived: [Element; 3],
    derived_count: u8,
    bmp_only: bool,
}

const NOTHING: Element = Element(0);

impl<'a> Elements<'a> {
    fn new(text: &'a [u8], table: &'static Table, bmp_only: bool) -> Self {
        Self {
            table,
            rest: text,
            several: &[],
            derived: [NOTHING; 3],
            derived_count: 0,
            bmp_only,
        }
    }

    /// The entry of the contraction that starts here, or of the code point alone.
    fn contract(&mut self, starter: &Starter) -> u32 {
        for (following, entry) in &starter.contractions {
            let mut points = utf8::Points::new(self.rest);
            if following.iter().all(|point| points.next() == Some(*point)) {
                self.rest = points.rest();
                return *entry;
            }
        }
        starter.alone
    }

    fn derive(&mut self, point: u32) -> Option<Element> {
        // Hangul syllables are made of letters that have entries.
        if self.table.divides_hangul && (0xAC00..0xD7A4).contains(&point) {
            let index = point - 0xAC00;
            let letter = |point: u32| Element(self.table.entry(point) & !KIND);
            let (lead, vowel, tail) = (
                letter(0x1100 + index / 588),
                letter(0x1161 + index % 588 / 28),
                letter(0x11A7 + index % 28),
            );
            if index.is_multiple_of(28) {
                self.derived[0] = vowel;
                self.derived_count = 1;
            } else {
                self.derived[..2].copy_from_slice(&[tail, vowel]);
                self.derived_count = 2;
            }
            return Some(lead);
        }
        let mut derivations = self.table.derivations.iter().copied();
        let (base, low) = match derivations.find(|(from, to, ..)| (*from..=*to).contains(&point)) {
            Some((_, _, base, Some(first))) => (base, point - first),
            Some((_, _, base, None)) => (base + (point >> 15), point & 0x7FFF),
            None => (0xFBC0 + (point >> 15), point & 0x7FFF),
        };
        self.derived[0] = Element::new(low | 0x8000, 0, 0);
        self.derived_count = 1;
        Some(Element::new(base, 0x20, 2))
    }
}

impl Iterator for Elements<'_> {
    type Item = Element;

    fn next(&mut self) -> Option<Element> {
        if self.derived_count > 0 {
            self.derived_count -= 1;
            return Some(self.derived[usize::from(self.derived_count)]);
        }
        if let [first, rest @ ..] = self.several {
            self.several = rest;
            return Some(*first);
        }
        let (point, length) = utf8::decode(self.rest)?;
        self.rest = &self.rest[length..];
        if self.bmp_only && point > 0xFFFF {
            return Some(Element::new(0xFFFD, 0x20, 2));
        }
        let table = self.table;
        let mut entry = table.entry(point);
        if entry & KIND == STARTER {
            entry = self.contract(&table.starters[(entry & !KIND) as usize]);
        }
        match entry & KIND {
            SINGLE => Some(Element(entry)),
            SEVERAL => {
                let at = (entry & 0xFF_FFFF) as usize;
                let count = (entry >> 24 & 0x3F) as usize;
                let several = &table.elements[at..at + count];
                self.several = several.get(1..).unwrap_or(&[]);
                Some(several.first().copied().unwrap_or(NOTHING))
            }
            _ => self.derive(point),
        }
    }
}

/// Elements of the ASCII characters, and the characters of a primary weight.
pub(super) struct AsciiWeights {
    pub(super) elements: [Element; 128],
    /// By primary weight: the character, in lower case, or 0.
    by_primary: Vec<u8>,
    /// Whether each plain character has one element, letters that differ in case one primary
    /// weight, all others their own, and none is part of a contraction with another.
    pub(super) is_regular: bool,
}

impl Default for AsciiWeights {
    fn default() -> Self {
        Self {
            elements: [NOTHING; 128],
            by_primary: Vec::new(),
            is_regular: false,
        }
    }
}

impl AsciiWeights {
    fn of(table: &Table) -> Self {
        let mut is_regular = true;
        let elements: [Element; 128] = std::array::from_fn(|byte| {
            let mut entry = table.entry(byte as u32);
            if entry & KIND == STARTER {
                let starter = &table.starters[(entry & !KIND) as usize];
                is_regular &= starter
                    .contractions
                    .iter()
                    .all(|(following, _)| following.first().is_some_and(|next| *next >= 0x80));
                entry = starter.alone;
            }
            is_regular &= entry & KIND == SINGLE || !is_plain(byte as u8);
            Element(entry & !KIND)
        });
        let largest = elements.iter().map(|e| e.weight(1)).max().unwrap_or(0);
        let mut by_primary = vec![0; usize::from(largest) + 1];
        for (byte, element) in (0..=127u8).zip(&elements) {
            let weight = usize::from(element.weight(1));
            if weight == 0 {
                is_regular &= !is_plain(byte);
                continue;
            }
            let small = byte.to_ascii_lowercase();
            is_regular &= by_primary[weight] == 0 || by_primary[weight] == small;
            by_primary[weight] = small;
        }
        is_regular &= (b'A'..=b'Z').all(|capital| {
            let weight = |byte: u8| elements[usize::from(byte)].weight(1);
            weight(capital) == weight(capital.to_ascii_lowercase())
        });
        // Where letters are tailored, only spaces are known by their weight, for PAD SPACE: the small letter of `I` is
        // another letter in Turkish.
        if !is_regular {
            let space = usize::from(elements[usize::from(b' ')].weight(1));
            by_primary.fill(0);
            by_primary[space] = b' ';
        }
        Self {
            elements,
            by_primary,
            is_regular,
        }
    }

    /// The primary weights of ASCII characters.
    #[inline]
    pub(super) fn primary(&self) -> impl Fn(u8) -> u16 {
        |byte| self.elements[usize::from(byte & 0x7F)].weight(1)
    }

    /// The element of a space.
    pub(super) fn space(&self) -> Element {
        self.elements[usize::from(b' ')]
    }

    /// The ASCII character, in lower case, of a primary weight.
    pub(super) fn of_primary(&self, weight: u16) -> Option<u8> {
        match self.by_primary.get(usize::from(weight)) {
            None | Some(0) => None,
            Some(byte) => Some(*byte),
        }
    }

    /// The ASCII character whose element equals this one at the levels that count.
    pub(super) fn of_element(&self, element: Element, uca: Uca) -> Option<u8> {
        let lower = self.of_primary(element.weight(1))?;
        [lower, lower.to_ascii_uppercase()]
            .into_iter()
            .find(|byte| {
                let ascii = self.elements[usize::from(*byte)];
                uca.of_element(ascii) == uca.of_element(element)
            })
    }
}

/// Whether a byte is an ASCII character that is not a control character.
fn is_plain(byte: u8) -> bool {
    (b' '..0x7F).contains(&byte)
}
