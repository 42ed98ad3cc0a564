//! Comparison, sort keys, equality keys and hashes of every collation, with their ASCII fast paths.
//!
//! *Equality keys* are bytes that are equal exactly when the values are, and are the value itself
//! in lower case for nearly all text: every character that is equal to an ASCII one is written as
//! that (small) letter, any other as 0xFF and its weights. Hashes are hashes of equality keys,
//! which the fast path need not build.
//!
//! *Sort keys* are the weights, most significant byte first. A PAD SPACE collation behaves as if
//! values went on with spaces for ever, so that 'a' is larger than 'a\t'. Its keys write every
//! space as the weight of a space and a marker byte, and end with one more space with one of its own:
//! 1 when the run of spaces ends with a character below a space, 2 at the end of the value, 3 when
//! it ends with a character above. Then byte order is right whichever of two values ends first.

use std::cmp::Ordering;

use super::ascii::Start;
use super::uca::{Element, Uca};
use super::weights::Weights;
use super::{Collation, CollationId, Order, ascii};
use crate::charset::utf8;
use crate::json;

/// Fast path for ASCII characters, eight at a time, under a collation.
struct AsciiPath {
    /// Test for the words that the fast path may take.
    test: fn(u64) -> bool,
    /// Mapping of a word that makes equal characters the same byte.
    change: fn(u64) -> u64,
    /// Whether letters of different case are equal.
    folds_case: bool,
}

const ESCAPE: u8 = 0xFF;
const SPACE: u16 = b' ' as u16;

impl CollationId {
    /// Compares two values.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        self.collation().compare(a, b)
    }

    /// Whether two values are equal.
    pub fn equals(self, a: &[u8], b: &[u8]) -> bool {
        self.collation().equals(a, b)
    }

    /// Appends a key: comparing the keys of two values byte by byte (a key that is the start of
    /// another comes first) gives the same as [`CollationId::compare`].
    pub fn append_sort_key(self, value: &[u8], key: &mut Vec<u8>) {
        self.collation().append_sort_key(value, key);
    }

    /// Appends a key: two values' keys are the same bytes exactly when the values are equal.
    pub fn append_equality_key(self, value: &[u8], key: &mut Vec<u8>) {
        self.collation().append_equality_key(value, key);
    }

    /// A hash that is the same for equal values.
    pub fn hash64(self, value: &[u8], seed: u64) -> u64 {
        self.collation().hash64(value, seed)
    }
}

impl Collation {
    fn trim<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        if self.pad_space {
            ascii::trim_spaces(value)
        } else {
            value
        }
    }

    /// See [`CollationId::compare`].
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.order {
            Order::Bytes if !self.pad_space => a.cmp(b),
            Order::Json => json::compare(a, b),
            Order::Bytes => compare_padded(a.iter().copied(), b.iter().copied(), b' '),
            Order::Simple(simple) => {
                let weights = simple.weights();
                let start = if weights.is_regular() {
                    let (change, weight) = (weights.change(), weights.ascii_weight());
                    ascii::compare_start(a, b, false, self.pad_space, change, weight)
                } else {
                    Start::Common(0)
                };
                after_start(start, a, b, |a, b| {
                    let of = |text| utf8::Points::new(text).map(|point| weights.weight(point));
                    if self.pad_space {
                        compare_padded(of(a), of(b), weights.space())
                    } else {
                        of(a).cmp(of(b))
                    }
                })
            }
            Order::Uca(uca) => {
                let ascii = uca.ascii();
                let is_exact = !uca.has_one_level();
                let start = if ascii.is_regular {
                    let (change, weight) = (ascii::to_lower, ascii.primary());
                    ascii::compare_start(a, b, is_exact, self.pad_space, change, weight)
                } else {
                    Start::Common(0)
                };
                after_start(start, a, b, |a, b| self.compare_levels(a, b, uca))
            }
        }
    }

    /// The order of two values of which only the first four bytes are known, if these decide it. They are in memory
    /// order, 0 for missing ones: as a `BinaryView` holds them.
    #[inline]
    pub fn compare_starts(&self, a: u32, b: u32) -> Option<Ordering> {
        match self.order {
            Order::Json => None,
            Order::Bytes if !self.pad_space => {
                (a != b).then(|| a.swap_bytes().cmp(&b.swap_bytes()))
            }
            Order::Bytes => ascii::compare_four(a, b, |word| word, u16::from),
            Order::Simple(simple) => {
                let weights = simple.weights();
                let (change, weight) = (weights.change(), weights.ascii_weight());
                weights
                    .is_regular()
                    .then(|| ascii::compare_four(a, b, change, weight))?
            }
            Order::Uca(uca) => {
                let (known, change) = (uca.ascii(), ascii::to_lower);
                known
                    .is_regular
                    .then(|| ascii::compare_four(a, b, change, known.primary()))?
            }
        }
    }

    fn compare_levels(&self, a: &[u8], b: &[u8], uca: Uca) -> Ordering {
        let at_level = |level| {
            let weights = |text| uca.level_weights(text, level);
            if self.pad_space {
                let space = uca.ascii().space().weight(level);
                compare_padded(weights(a), weights(b), space)
            } else {
                weights(a).cmp(weights(b))
            }
        };
        uca.levels().fold(Ordering::Equal, |order, level| {
            order.then_with(|| at_level(level))
        })
    }

    /// See [`CollationId::equals`].
    pub fn equals(&self, a: &[u8], b: &[u8]) -> bool {
        let (a, b) = (self.trim(a), self.trim(b));
        if a == b {
            return true;
        }
        if self.order == Order::Bytes {
            return false;
        }
        let fast = self
            .ascii_path()
            .and_then(|path| ascii::equals(a, b, path.test, path.change));
        fast.unwrap_or_else(|| self.compare(a, b) == Ordering::Equal)
    }

    #[inline(always)]
    fn ascii_path(&self) -> Option<AsciiPath> {
        match self.order {
            Order::Bytes | Order::Json => None,
            Order::Simple(simple) => {
                let weights = simple.weights();
                Some(AsciiPath {
                    test: weights.test(),
                    change: weights.change(),
                    folds_case: weights.folds_case(),
                })
            }
            Order::Uca(uca) => Some(AsciiPath {
                test: uca.test(),
                change: uca.change(),
                folds_case: !uca.has_case(),
            }),
        }
    }

    /// See [`CollationId::append_sort_key`].
    pub fn append_sort_key(&self, value: &[u8], key: &mut Vec<u8>) {
        let value = self.trim(value);
        match self.order {
            Order::Bytes if !self.pad_space => key.extend_from_slice(value),
            Order::Json => json::append_sort_key(value, key),
            Order::Bytes => {
                append_padded(value.iter().map(|byte| u16::from(*byte)), SPACE, 1, key);
            }
            Order::Simple(simple) => {
                let weights = simple.weights();
                let of_value = utf8::Points::new(value).map(|point| weights.weight(point));
                if self.pad_space {
                    append_padded(of_value, weights.space(), 2, key);
                } else {
                    of_value.for_each(|weight| key.extend(weight.to_be_bytes()));
                }
            }
            Order::Uca(uca) => {
                if self.pad_space {
                    for level in uca.levels() {
                        let space = uca.ascii().space().weight(level);
                        append_padded(uca.level_weights(value, level), space, 2, key);
                    }
                    return;
                }
                key.reserve(value.len() * 2 * uca.levels().count());
                if uca.has_one_level() && uca.ascii().is_regular && value.is_ascii() {
                    let elements = &uca.ascii().elements;
                    for byte in value {
                        let weight = elements[usize::from(*byte)].weight(1);
                        if weight != 0 {
                            key.extend_from_slice(&weight.to_be_bytes());
                        }
                    }
                    return;
                }
                for level in uca.levels() {
                    if level > 1 {
                        key.extend_from_slice(&[0, 0]);
                    }
                    for weight in uca.level_weights(value, level) {
                        key.extend_from_slice(&weight.to_be_bytes());
                    }
                }
            }
        }
    }

    /// The first 16 bytes of a sort key, as a big-endian number, of a value that begins with plain ASCII characters of
    /// two bytes each and continues behind them; `None` otherwise.
    #[inline]
    pub fn sort_key_head(&self, value: &[u8]) -> Option<u128> {
        const CHARACTERS: usize = 8;
        let (head, rest) = value.split_first_chunk::<CHARACTERS>()?;
        let is_plain = ascii::is_plain(u64::from_le_bytes(*head));
        // What comes next may be part of a contraction; padding is written in a way of its own.
        let is_cut = rest.first().is_none_or(|next| *next >= 0x80);
        if !is_plain || is_cut || self.pad_space && head.contains(&b' ') {
            return None;
        }
        let key = |weight: &dyn Fn(u8) -> u16| {
            let append = |key: u128, byte: &u8| key << 16 | u128::from(weight(*byte));
            head.iter().fold(0, append)
        };
        match self.order {
            Order::Bytes | Order::Json => None,
            Order::Simple(simple) => {
                let weights = simple.weights();
                weights.is_regular().then(|| key(&weights.ascii_weight()))
            }
            Order::Uca(uca) => uca.ascii().is_regular.then(|| key(&uca.ascii().primary())),
        }
    }

    /// How many bytes of a common prefix of texts may be left out so that the remainders still compare as the texts do.
    pub fn divisible_beginning(&self, beginning: &[u8]) -> usize {
        let is_regular = match self.order {
            Order::Bytes => return beginning.len(),
            Order::Json => false,
            Order::Simple(simple) => simple.weights().is_regular(),
            Order::Uca(uca) => uca.ascii().is_regular,
        };
        let is_plain = |byte: &&u8| (0x20..0x7F).contains(*byte);
        let plain = beginning.iter().take_while(is_plain).count();
        // What comes next may be part of a letter together with the last character.
        if is_regular {
            plain.saturating_sub(1)
        } else {
            0
        }
    }

    /// See [`CollationId::append_equality_key`].
    pub fn append_equality_key(&self, value: &[u8], key: &mut Vec<u8>) {
        let value = self.trim(value);
        let start = key.len();
        if let Some(path) = self.ascii_path()
            && ascii::all(value, path.test)
        {
            key.extend_from_slice(value);
            if path.folds_case {
                key[start..].make_ascii_lowercase();
            }
            return;
        }
        match self.order {
            Order::Bytes => key.extend_from_slice(value),
            Order::Json => json::append_sort_key(value, key),
            Order::Simple(simple) => append_simple(self, value, simple.weights(), key),
            Order::Uca(uca) if uca.has_one_level() => append_letters(self, value, uca, key),
            Order::Uca(uca) if self.pad_space => append_padded_levels(value, uca, key),
            Order::Uca(uca) => append_levels(value, uca, key),
        }
    }

    /// See [`CollationId::hash64`].
    pub fn hash64(&self, value: &[u8], seed: u64) -> u64 {
        let value = self.trim(value);
        if let Some(path) = self.ascii_path()
            && let Some(hash) = ascii::hash(value, seed, path.test, path.change)
        {
            return hash;
        }
        let mut key = Vec::new();
        let key = if self.order == Order::Bytes {
            value
        } else {
            self.append_equality_key(value, &mut key);
            &key
        };
        ascii::hash(key, seed, |_| true, |word| word).unwrap_or(seed)
    }
}

/// The order of two values whose beginnings were compared already.
fn after_start(
    start: Start,
    a: &[u8],
    b: &[u8],
    compare: impl FnOnce(&[u8], &[u8]) -> Ordering,
) -> Ordering {
    match start {
        Start::Order(order) => order,
        Start::Common(common) => compare(&a[common..], &b[common..]),
    }
}

/// Compares as if the shorter sequence went on with spaces.
fn compare_padded<W: Ord + Copy>(
    mut a: impl Iterator<Item = W>,
    mut b: impl Iterator<Item = W>,
    space: W,
) -> Ordering {
    loop {
        let (a, b) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (a, b) => (a.unwrap_or(space), b.unwrap_or(space)),
        };
        match a.cmp(&b) {
            Ordering::Equal => {}
            order => return order,
        }
    }
}

pub(super) fn append_padded(
    weights: impl Iterator<Item = u16>,
    space: u16,
    width: u8,
    key: &mut Vec<u8>,
) {
    let push = |key: &mut Vec<u8>, weight: u16| {
        if width == 2 {
            key.extend_from_slice(&weight.to_be_bytes());
        } else {
            key.push(weight as u8);
        }
    };
    let mut spaces = 0;
    let flush = |key: &mut Vec<u8>, spaces: usize, mark: u8| {
        for _ in 0..spaces {
            push(key, space);
            key.push(mark);
        }
    };
    for weight in weights {
        if weight == space {
            spaces += 1;
            continue;
        }
        flush(key, spaces, if weight < space { 1 } else { 3 });
        spaces = 0;
        push(key, weight);
    }
    flush(key, 1, 2);
}

/// Appends a weight that belongs to no ASCII character.
fn append_escaped(weight: u16, key: &mut Vec<u8>) {
    key.push(ESCAPE);
    key.extend_from_slice(&weight.to_be_bytes());
}

/// Appends the equality key of weights, of which some are those of ASCII characters. Spaces at the
/// end of a PAD SPACE collation are left out: other characters may weigh as much as a space, and
/// ignored ones may stand behind spaces.
fn append_weights(
    weights: impl Iterator<Item = u16>,
    ascii_of: impl Fn(u16) -> Option<u8>,
    pad_space: bool,
    key: &mut Vec<u8>,
) {
    let mut spaces = 0;
    for weight in weights {
        let byte = ascii_of(weight);
        if byte == Some(b' ') {
            spaces += 1;
            continue;
        }
        key.resize(key.len() + std::mem::take(&mut spaces), b' ');
        match byte {
            Some(byte) => key.push(byte),
            None => append_escaped(weight, key),
        }
    }
    if !pad_space {
        key.resize(key.len() + spaces, b' ');
    }
}

fn append_simple(collation: &Collation, value: &[u8], weights: &Weights, key: &mut Vec<u8>) {
    let of_value = utf8::Points::new(value).map(|point| weights.weight(point));
    let ascii_of = |weight| weights.ascii_of(weight);
    append_weights(of_value, ascii_of, collation.pad_space, key);
}

fn append_letters(collation: &Collation, value: &[u8], uca: Uca, key: &mut Vec<u8>) {
    let ascii_of = |weight| uca.ascii().of_primary(weight);
    append_weights(
        uca.level_weights(value, 1),
        ascii_of,
        collation.pad_space,
        key,
    );
}

/// The weights of each level, separated by zeros.
fn append_level_by_level(levels: &[Vec<u16>], key: &mut Vec<u8>) {
    key.extend_from_slice(&[ESCAPE, ESCAPE, ESCAPE]);
    for level in levels {
        for weight in level {
            key.extend_from_slice(&weight.to_be_bytes());
        }
        key.extend_from_slice(&[0, 0]);
    }
}

fn append_levels(value: &[u8], uca: Uca, key: &mut Vec<u8>) {
    // An element without a primary weight (an accent) can stand beside different letters and the
    // levels still be equal; such values are written level by level.
    let ignored = |element: &Element| uca.of_element(*element) == 0;
    if uca
        .elements(value)
        .any(|element| element.weight(1) == 0 && !ignored(&element))
    {
        let levels = uca.levels();
        let levels: Vec<Vec<u16>> = levels
            .map(|level| uca.level_weights(value, level).collect())
            .collect();
        append_level_by_level(&levels, key);
        return;
    }
    for element in uca.elements(value).filter(|element| !ignored(element)) {
        match uca.ascii().of_element(element, uca) {
            Some(byte) if !uca.has_case() => key.push(byte.to_ascii_lowercase()),
            Some(byte) => key.push(byte),
            None => {
                key.push(ESCAPE);
                key.extend(uca.of_element(element).to_be_bytes());
            }
        }
    }
}

/// With PAD SPACE each level goes on with its weight of a space, so that values of different
/// lengths can be equal. A value that is equal to ASCII text has the key of that text.
fn append_padded_levels(value: &[u8], uca: Uca, key: &mut Vec<u8>) {
    let ascii = uca.ascii();
    let stripped = |level| {
        let space = ascii.space().weight(level);
        let mut weights: Vec<u16> = uca.level_weights(value, level).collect();
        while weights.last() == Some(&space) {
            weights.pop();
        }
        weights
    };
    let levels: Vec<Vec<u16>> = uca.levels().map(stripped).collect();
    let of_level = |wanted: u8| {
        let mut numbered = uca.levels().zip(&levels);
        let found = numbered.find(|(level, _)| *level == wanted);
        found.map_or(&[][..], |(_, weights)| weights)
    };
    let (letters, accents, cases) = (of_level(1), of_level(2), of_level(3));
    let text: Option<Vec<u8>> = letters
        .iter()
        .enumerate()
        .map(|(index, weight)| {
            let small = ascii.of_primary(*weight)?;
            let space = ascii.space().weight(3);
            let case = cases.get(index).copied().unwrap_or(space);
            let candidates = [small, small.to_ascii_uppercase()];
            let is_case = |byte: &u8| ascii.elements[usize::from(*byte)].weight(3) == case;
            if !uca.has_case() {
                return Some(small);
            }
            candidates.into_iter().find(is_case)
        })
        .collect();
    match text {
        Some(text) if accents.is_empty() && cases.len() <= letters.len() => {
            key.extend_from_slice(&text);
        }
        _ => append_level_by_level(&levels, key),
    }
}
