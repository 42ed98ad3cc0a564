//! Weights of the Unicode Collation Algorithm (UTS #10), version 9.0, as MySQL's `_0900_`
//! collations use them: the Default Unicode Collation Element Table with variable elements not
//! ignored, contractions, implicit weights, and no normalisation of the text beforehand.
//!
//! `data/uca_900.bin` holds the table; `examples/make_uca_table.rs` made it and describes it.
//! Loaded, it is pages of 256 code points. An entry is one collation element (16 bits of primary
//! weight, 9 of secondary, 5 of tertiary), or says where its elements stand in one long list, or
//! that contractions start here, or nothing (then weights are derived from the code point).

use std::sync::LazyLock;

use crate::charset::utf8;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::load(include_bytes!("data/uca_900.bin")));

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
    pub(super) const fn weight(self, level: u8) -> u16 {
        match level {
            1 => (self.0 >> 14) as u16,
            2 => (self.0 >> 5) as u16 & 0x1FF,
            _ => self.0 as u16 & 0x1F,
        }
    }

    /// What equals among the elements that are equal at the first `levels`.
    pub(super) const fn up_to(self, levels: u8) -> u32 {
        match levels {
            1 => self.0 >> 14,
            2 => self.0 >> 5,
            _ => self.0,
        }
    }
}

/// The contractions of a first code point.
struct Starter {
    /// The entry without a contraction.
    alone: u32,
    /// What follows the first code point, longest first, and the entry of the whole.
    contractions: Vec<(Vec<u32>, u32)>,
}

struct Table {
    /// Where a page of 256 entries starts; pages without entries share one.
    pages: Vec<u32>,
    entries: Vec<u32>,
    elements: Vec<Element>,
    starters: Vec<Starter>,
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
    fn load(bytes: &[u8]) -> Self {
        let mut table = Self {
            pages: vec![0; PAGES],
            entries: vec![DERIVED; 256],
            elements: Vec::new(),
            starters: Vec::new(),
        };
        let mut input = Input(bytes);
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
            let entry = match elements.as_slice() {
                [one] => one.0 | SINGLE,
                several => {
                    let at = table.elements.len() as u32;
                    table.elements.extend_from_slice(several);
                    SEVERAL | (several.len() as u32) << 24 | at
                }
            };
            table.add(point, following, entry);
        }
        for starter in &mut table.starters {
            starter
                .contractions
                .sort_by_key(|(following, _)| std::cmp::Reverse(following.len()));
        }
        table
    }

    fn add(&mut self, point: u32, following: Vec<u32>, entry: u32) {
        let page = (point >> 8) as usize;
        if self.pages[page] == 0 {
            self.pages[page] = self.entries.len() as u32;
            self.entries.resize(self.entries.len() + 256, DERIVED);
        }
        let place = &mut self.entries[self.pages[page] as usize + (point & 0xFF) as usize];
        if following.is_empty() {
            *place = entry;
            return;
        }
        if *place & KIND != STARTER {
            self.starters.push(Starter {
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
    /// Elements of the last entry that were not given out.
    several: &'static [Element],
    /// Derived elements, last first.
    derived: [Element; 3],
    derived_count: u8,
    bmp_only: bool,
}

const NOTHING: Element = Element(0);

impl<'a> Elements<'a> {
    pub(super) fn new(text: &'a [u8], bmp_only: bool) -> Self {
        Self {
            table: &TABLE,
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
        if (0xAC00..0xD7A4).contains(&point) {
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
        let (base, low) = match point {
            0x1_7000..=0x1_8AFF => (0xFB00, point - 0x1_7000),
            0x4E00..=0x9FD5
            | 0xFA0E..=0xFA0F
            | 0xFA11
            | 0xFA13..=0xFA14
            | 0xFA1F
            | 0xFA21
            | 0xFA23..=0xFA24
            | 0xFA27..=0xFA29 => (0xFB40 + (point >> 15), point & 0x7FFF),
            0x3400..=0x4DB5
            | 0x2_0000..=0x2_A6D6
            | 0x2_A700..=0x2_B734
            | 0x2_B740..=0x2_B81D
            | 0x2_B820..=0x2_CEA1 => (0xFB80 + (point >> 15), point & 0x7FFF),
            _ => (0xFBC0 + (point >> 15), point & 0x7FFF),
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

/// What is known of ASCII characters: their elements, and which have a given primary weight.
pub(super) struct AsciiWeights {
    pub(super) elements: [Element; 128],
    /// By primary weight: the character, in lower case, or 0.
    by_primary: Vec<u8>,
}

impl AsciiWeights {
    /// The primary weights of ASCII characters.
    pub(super) fn primary(&self) -> impl Fn(u8) -> u16 {
        |byte| self.elements[usize::from(byte & 0x7F)].weight(1)
    }

    /// The ASCII character, in lower case, of a primary weight.
    pub(super) fn of_primary(&self, weight: u16) -> Option<u8> {
        match self.by_primary.get(usize::from(weight)) {
            None | Some(0) => None,
            Some(byte) => Some(*byte),
        }
    }

    /// The ASCII character that is equal to an element at the first `levels`.
    pub(super) fn of_element(&self, element: Element, levels: u8) -> Option<u8> {
        let lower = self.of_primary(element.weight(1))?;
        [lower, lower.to_ascii_uppercase()]
            .into_iter()
            .find(|byte| self.elements[usize::from(*byte)].up_to(levels) == element.up_to(levels))
    }
}

/// The weights of ASCII characters.
pub(super) static ASCII: LazyLock<AsciiWeights> = LazyLock::new(|| {
    let elements: [Element; 128] = std::array::from_fn(|byte| {
        let mut entry = TABLE.entry(byte as u32);
        if entry & KIND == STARTER {
            entry = TABLE.starters[(entry & !KIND) as usize].alone;
        }
        Element(entry & !KIND)
    });
    let largest = elements.iter().map(|e| e.weight(1)).max().unwrap_or(0);
    let mut by_primary = vec![0; usize::from(largest) + 1];
    for (byte, element) in elements.iter().enumerate() {
        if element.weight(1) != 0 {
            by_primary[usize::from(element.weight(1))] = (byte as u8).to_ascii_lowercase();
        }
    }
    AsciiWeights {
        elements,
        by_primary,
    }
});
