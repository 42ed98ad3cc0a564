//! Comparison, sort keys, equality keys and hashes of every collation, with their ASCII fast paths.
//!
//! *Equality keys* are bytes that are equal exactly when the values are, and are the value itself
//! in lower case for nearly all text: every character that is equal to an ASCII one is written as
//! that (small) letter, any other as 0xFF and its weights. Hashes are hashes of equality keys,
//! which the fast path need not build.
//!
//! *Sort keys* are the weights, most significant byte first. A PAD SPACE collation behaves as if
//! values went on with spaces for ever, so that 'a' is larger than 'a\t'. Its keys write every
//! space as the weight of a space and a mark, and end with one more space with a mark of its own:
//! 1 when the run of spaces ends with a character below a space, 2 at the end of the value, 3 when
//! it ends with a character above. Then byte order is right whichever of two values ends first.

use std::cmp::Ordering;

use super::ascii::Start;
use super::uca::{ASCII, Element, Elements};
use super::weights::Simple;
use super::{Collation, CollationId, Order, ascii};
use crate::charset::utf8;
use crate::json;

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
                let (change, weight) = (simple.change(), simple.ascii_weight());
                let start = ascii::compare_start(a, b, false, self.pad_space, change, weight);
                after_start(start, a, b, |a, b| {
                    let weights = |text| utf8::Points::new(text).map(move |p| simple.weight(p));
                    compare_padded(weights(a), weights(b), SPACE)
                })
            }
            Order::Uca { levels, bmp_only } => {
                let (change, weight) = (ascii::to_lower, ASCII.primary());
                let is_exact = levels > 1;
                let start = ascii::compare_start(a, b, is_exact, self.pad_space, change, weight);
                after_start(start, a, b, |a, b| {
                    self.compare_levels(a, b, levels, bmp_only)
                })
            }
        }
    }

    /// The order of two values of which only the first four bytes are known, if these decide it.
    /// They stand in memory order, 0 for missing ones: as a `BinaryView` holds them.
    #[inline]
    pub fn compare_starts(&self, a: u32, b: u32) -> Option<Ordering> {
        match self.order {
            Order::Json => None,
            Order::Bytes if !self.pad_space => {
                (a != b).then(|| a.swap_bytes().cmp(&b.swap_bytes()))
            }
            Order::Bytes => ascii::compare_four(a, b, |word| word, u16::from),
            Order::Simple(simple) => {
                ascii::compare_four(a, b, simple.change(), simple.ascii_weight())
            }
            Order::Uca { .. } => ascii::compare_four(a, b, ascii::to_lower, ASCII.primary()),
        }
    }

    fn compare_levels(&self, a: &[u8], b: &[u8], levels: u8, bmp_only: bool) -> Ordering {
        let at_level = |level| {
            let weights = |text| level_weights(text, level, bmp_only);
            if self.pad_space {
                let space = ASCII.elements[usize::from(b' ')].weight(level);
                compare_padded(weights(a), weights(b), space)
            } else {
                weights(a).cmp(weights(b))
            }
        };
        (1..=levels).fold(Ordering::Equal, |order, level| {
            order.then_with(|| at_level(level))
        })
    }

    /// See [`CollationId::equals`].
    pub fn equals(&self, a: &[u8], b: &[u8]) -> bool {
        let (a, b) = (self.trim(a), self.trim(b));
        if a == b {
            return true;
        }
        let fast = match self.order {
            Order::Bytes => Some(false),
            Order::Json => None,
            Order::Simple(simple) if simple.folds_case() => {
                ascii::equals(a, b, ascii::is_ascii, ascii::to_lower)
            }
            Order::Simple(_) => ascii::equals(a, b, ascii::is_ascii, |word| word),
            Order::Uca { levels: 3, .. } => ascii::equals(a, b, ascii::is_plain, |word| word),
            Order::Uca { .. } => ascii::equals(a, b, ascii::is_plain, ascii::to_lower),
        };
        fast.unwrap_or_else(|| self.compare(a, b) == Ordering::Equal)
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
                let weights = utf8::Points::new(value).map(|point| simple.weight(point));
                append_padded(weights, SPACE, 2, key);
            }
            Order::Uca { levels, bmp_only } => {
                if self.pad_space {
                    let space = ASCII.elements[usize::from(b' ')].weight(1);
                    append_padded(level_weights(value, 1, bmp_only), space, 2, key);
                    return;
                }
                key.reserve(value.len() * 2 * usize::from(levels));
                if levels == 1 && value.is_ascii() {
                    let elements = &ASCII.elements;
                    for byte in value {
                        let weight = elements[usize::from(*byte)].weight(1);
                        if weight != 0 {
                            key.extend_from_slice(&weight.to_be_bytes());
                        }
                    }
                    return;
                }
                for level in 1..=levels {
                    if level > 1 {
                        key.extend_from_slice(&[0, 0]);
                    }
                    for weight in level_weights(value, level, bmp_only) {
                        key.extend_from_slice(&weight.to_be_bytes());
                    }
                }
            }
        }
    }

    /// The first 16 bytes of the sort key, the first the most significant, of a value that begins
    /// with plain ASCII characters of two bytes each and goes on behind them.
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
            Order::Simple(simple) => Some(key(&simple.ascii_weight())),
            Order::Uca { .. } => Some(key(&ASCII.primary())),
        }
    }

    /// See [`CollationId::append_equality_key`].
    pub fn append_equality_key(&self, value: &[u8], key: &mut Vec<u8>) {
        let value = self.trim(value);
        let start = key.len();
        match self.order {
            Order::Bytes => key.extend_from_slice(value),
            Order::Json => json::append_sort_key(value, key),
            Order::Simple(simple) => {
                if ascii::all(value, ascii::is_ascii) {
                    key.extend_from_slice(value);
                    if simple.folds_case() {
                        key[start..].make_ascii_lowercase();
                    }
                    return;
                }
                for point in utf8::Points::new(value) {
                    append_simple(simple, point, key);
                }
            }
            Order::Uca { levels, bmp_only } => {
                if ascii::all(value, ascii::is_plain) {
                    key.extend_from_slice(value);
                    if levels < 3 {
                        key[start..].make_ascii_lowercase();
                    }
                    return;
                }
                append_uca(self, value, levels, bmp_only, key);
            }
        }
    }

    /// See [`CollationId::hash64`].
    pub fn hash64(&self, value: &[u8], seed: u64) -> u64 {
        let value = self.trim(value);
        let fast = match self.order {
            Order::Bytes | Order::Json => None,
            Order::Simple(simple) if simple.folds_case() => {
                ascii::hash(value, seed, ascii::is_ascii, ascii::to_lower)
            }
            Order::Simple(_) => ascii::hash(value, seed, ascii::is_ascii, |word| word),
            Order::Uca { levels: 3, .. } => ascii::hash(value, seed, ascii::is_plain, |word| word),
            Order::Uca { .. } => ascii::hash(value, seed, ascii::is_plain, ascii::to_lower),
        };
        if let Some(hash) = fast {
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

/// The order of two values of which the start is compared already.
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

/// The weights of one level that are not ignored.
fn level_weights(text: &[u8], level: u8, bmp_only: bool) -> impl Iterator<Item = u16> {
    Elements::new(text, bmp_only)
        .map(move |element| element.weight(level))
        .filter(|weight| *weight != 0)
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

fn append_padded(weights: impl Iterator<Item = u16>, space: u16, width: u8, key: &mut Vec<u8>) {
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

fn append_simple(simple: Simple, point: u32, key: &mut Vec<u8>) {
    let weight = simple.weight(point);
    match u8::try_from(weight) {
        Ok(byte @ 0..0x80) if simple.folds_case() => key.push(byte.to_ascii_lowercase()),
        Ok(byte @ 0..0x80) => key.push(byte),
        _ => {
            key.push(ESCAPE);
            key.extend_from_slice(&weight.to_be_bytes());
        }
    }
}

fn append_uca(collation: &Collation, value: &[u8], levels: u8, bmp_only: bool, key: &mut Vec<u8>) {
    let elements = || Elements::new(value, bmp_only);
    if levels == 1 {
        // Ignored characters may stand behind spaces that are no longer at the end for trimming.
        let mut spaces = 0;
        for weight in level_weights(value, 1, bmp_only) {
            let byte = ASCII.of_primary(weight);
            if byte == Some(b' ') {
                spaces += 1;
                continue;
            }
            key.resize(key.len() + std::mem::take(&mut spaces), b' ');
            match byte {
                Some(byte) => key.push(byte),
                None => {
                    key.push(ESCAPE);
                    key.extend_from_slice(&weight.to_be_bytes());
                }
            }
        }
        if !collation.pad_space {
            key.resize(key.len() + spaces, b' ');
        }
        return;
    }
    // An element without a primary weight (an accent) can stand beside different letters and the
    // levels still be equal; such values are told apart level by level.
    let ignored = |element: &Element| element.up_to(levels) == 0;
    if elements().any(|element| element.weight(1) == 0 && !ignored(&element)) {
        key.extend_from_slice(&[ESCAPE, ESCAPE, ESCAPE]);
        for level in 1..=levels {
            for weight in level_weights(value, level, bmp_only) {
                key.extend_from_slice(&weight.to_be_bytes());
            }
            key.extend_from_slice(&[0, 0]);
        }
        return;
    }
    for element in elements().filter(|element| !ignored(element)) {
        match ASCII.of_element(element, levels) {
            Some(byte) if levels < 3 => key.push(byte.to_ascii_lowercase()),
            Some(byte) => key.push(byte),
            None => {
                key.push(ESCAPE);
                key.extend_from_slice(&element.up_to(levels).to_be_bytes());
            }
        }
    }
}
