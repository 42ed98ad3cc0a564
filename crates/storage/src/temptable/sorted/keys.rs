//! Sort order of rows: prefixes of normalised keys, and comparison of cells.
//!
//! A normalised key is, for each column, a marker and the bytes of the value. The marker is 0 for NULL; for an integer
//! or DECIMAL it encodes the sign and the number of bytes that follow, which are as few as the value needs. So two
//! keys of small numbers fit into one prefix, and a prefix tells by itself whether it is the whole key.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::cmp::Ordering;

use mayfly_memory::prefetch;
use mayfly_types::{CollationId, PhysicalType};

use super::cutoff::{Bound, FirstKey, FirstValue, Prefix};
use crate::temptable::rows::{Cell, Resolver, RowLayout};
use crate::temptable::spec::{KeyMode, SortKey};

/// Bytes of a normalised key in a record.
pub(super) const PREFIX_BYTES: usize = 16;
/// Number of rows whose prefixes are computed at once.
pub(super) const PREFIX_ROWS: usize = 256;
/// Number of bytes of a collated string from which its key prefix is computed, if they give enough key.
const COLLATED_HEAD_BYTES: usize = 64;

/// Sort key of an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    column: usize,
    cell: Cell,
    /// Collation of strings whose order is not that of their bytes.
    collation: Option<CollationId>,
    descending: bool,
}

/// Position in the keys of some rows up to which they are all equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the first key that may differ.
    pub(super) key: usize,
    /// Bytes of that key's strings that are equal, too.
    pub(super) skipped: usize,
}

/// Sort keys of a layout.
#[derive(Debug)]
pub(super) struct SortKeys {
    keys: Vec<Key>,
}

impl SortKeys {
    pub(super) fn new(layout: &RowLayout, keys: &[SortKey]) -> Self {
        let key = |key: &SortKey| {
            let cell = layout.cells()[key.column];
            let collation = match key.mode {
                KeyMode::Collated(collation)
                    if cell.ty == PhysicalType::Bytes && !collation.is_bytewise_equality() =>
                {
                    Some(collation)
                }
                KeyMode::Binary | KeyMode::Collated(_) => None,
            };
            Key {
                column: key.column,
                cell,
                collation,
                descending: key.descending,
            }
        };
        Self {
            keys: keys.iter().map(key).collect(),
        }
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The first key, for filtering batches.
    pub(super) fn first(&self) -> Option<FirstKey> {
        let key = self.keys.first()?;
        Some(FirstKey {
            column: key.column,
            descending: key.descending,
            collation: key.collation.unwrap_or(CollationId::BINARY),
        })
    }

    /// A row as a bound of others.
    ///
    /// # Safety
    /// `row` is a row of the layout.
    pub(super) unsafe fn bound(&self, prefix: Prefix, row: *const u8) -> Bound {
        // SAFETY: as promised by the caller.
        let first = |key: &Key| unsafe {
            match key.cell.ty {
                _ if key.cell.is_null(row) => FirstValue::Unknown,
                PhysicalType::Int64 => FirstValue::Int(key.cell.word(row) as i64),
                PhysicalType::UInt64 => FirstValue::UInt(key.cell.word(row)),
                PhysicalType::Decimal128(_) => FirstValue::Decimal(key.cell.wide(row) as i128),
                PhysicalType::Bytes => FirstValue::Start(key.cell.view(row).start()),
                PhysicalType::Bool | PhysicalType::Float64 | PhysicalType::Decimal256(_) => {
                    FirstValue::Unknown
                }
            }
        };
        Bound {
            prefix,
            first: self.keys.first().map_or(FirstValue::Unknown, first),
        }
    }

    /// Prefetches what [`Self::prefixes`] is about to read beside the row.
    ///
    /// # Safety
    /// As for [`Self::prefixes`].
    pub(super) unsafe fn prefetch(&self, row: *const u8, values: Resolver<'_>) {
        let Some(key) = self.keys.iter().find(|key| key.is_text()) else {
            return;
        };
        // SAFETY: as promised by the caller.
        unsafe {
            let view = key.cell.view(row);
            if !key.cell.is_null(row) && !view.is_inline() {
                prefetch(values.address(view));
            }
        }
    }

    /// The prefixes of the keys of rows from a place on, before which all compared rows are equal. They are computed
    /// key by key, so that a key's type is dispatched once for all rows: at most [`PREFIX_ROWS`], so that rows and
    /// prefixes stay in the cache.
    ///
    /// # Safety
    /// The rows are of the layout; `values` resolves their values; the string of the place's key is at least as long
    /// as what is skipped.
    pub(super) unsafe fn prefixes<'b>(
        &self,
        place: Place,
        rows: impl Iterator<Item = *const u8> + Clone,
        values: Resolver<'_>,
        buffer: &'b mut PrefixBuffer,
    ) -> &'b [PrefixBytes] {
        let PrefixBuffer { prefixes, text } = buffer;
        prefixes.clear();
        prefixes.extend(rows.clone().map(|_| PrefixBytes::default()));
        let mut skipped = place.skipped;
        for key in &self.keys[place.key..] {
            // SAFETY: as promised by the caller.
            unsafe { key.append_all(rows.clone(), values, skipped, prefixes, text) };
            skipped = 0;
            if prefixes.iter().all(PrefixBytes::is_full) {
                break;
            }
        }
        prefixes
    }

    /// Whether a prefix is a whole key: rows with equal ones are equal in all keys.
    pub(super) fn is_whole(&self, (high, low): Prefix) -> bool {
        let bits = u128::from(high) << 64 | u128::from(low);
        let mut length = 0;
        for key in &self.keys {
            if length >= PREFIX_BYTES {
                return false;
            }
            let marker = (bits >> (120 - length * 8)) as u8;
            let marker = if key.descending { !marker } else { marker };
            let Some(bytes) = key.value_bytes(marker) else {
                return false;
            };
            length += 1 + bytes;
        }
        length <= PREFIX_BYTES
    }

    /// The order of two rows that have this prefix.
    ///
    /// # Safety
    /// `a` and `b` are rows of the layout; `values` resolves their values.
    pub(super) unsafe fn compare(
        &self,
        prefix: Prefix,
        a: *const u8,
        b: *const u8,
        values: Resolver<'_>,
    ) -> Ordering {
        if self.is_whole(prefix) {
            return Ordering::Equal;
        }
        // SAFETY: as promised by the caller.
        unsafe { self.compare_cells(a, b, values) }
    }

    /// The order of two rows.
    ///
    /// # Safety
    /// As for [`Self::compare`].
    pub(super) unsafe fn compare_cells(
        &self,
        a: *const u8,
        b: *const u8,
        values: Resolver<'_>,
    ) -> Ordering {
        for key in &self.keys {
            // SAFETY: as promised by the caller.
            let order = unsafe { key.compare(a, b, values) };
            let order = if key.descending {
                order.reverse()
            } else {
                order
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Marker of 0; those of other numbers give, by their distance from it, the number of bytes that follow.
const ZERO_MARKER: u8 = 0x80;

/// Number of significant bytes of a number.
#[inline]
fn bytes_of(number: u128) -> usize {
    (128 - number.leading_zeros() as usize).div_ceil(8)
}

/// Buffer for [`SortKeys::prefixes`].
#[derive(Default)]
pub(super) struct PrefixBuffer {
    prefixes: Vec<PrefixBytes>,
    /// Sort key of a string.
    text: Vec<u8>,
}

/// Builder of a key prefix: a number of 16 bytes, the first byte the most significant.
#[derive(Clone, Copy, Default)]
pub(super) struct PrefixBytes {
    bits: u128,
    length: usize,
}

impl PrefixBytes {
    /// The bytes as one number, padded with 0.
    pub(super) fn bits(&self) -> u128 {
        self.bits
    }

    /// The bytes as a [`Prefix`] of two halves.
    pub(super) fn prefix(&self) -> Prefix {
        ((self.bits >> 64) as u64, self.bits as u64)
    }

    fn is_full(&self) -> bool {
        self.length == PREFIX_BYTES
    }

    /// Appends the first `length` bytes of `value`, whose further bytes are 0.
    #[inline]
    fn put(&mut self, value: u128, length: usize) {
        if self.length < PREFIX_BYTES {
            self.bits |= value >> (self.length * 8);
            self.length = PREFIX_BYTES.min(self.length + length);
        }
    }

    /// Appends a marker and the first `length` bytes of `value` at once.
    #[inline]
    fn put_marked(&mut self, marker: u8, value: u128, length: usize) {
        self.put(u128::from(marker) << 120 | value >> 8, 1 + length);
    }

    /// Appends a marker and a number that is not negative.
    #[inline]
    fn put_number(&mut self, number: u128) {
        let bytes = bytes_of(number);
        let value = number.checked_shl(128 - bytes as u32 * 8);
        self.put_marked(ZERO_MARKER + bytes as u8, value.unwrap_or(0), bytes);
    }

    /// Appends a marker and a negative number, given its bitwise complement.
    #[inline]
    fn put_negative(&mut self, complement: u128) {
        let bytes = bytes_of(complement);
        let value = (!complement).checked_shl(128 - bytes as u32 * 8);
        self.put_marked(ZERO_MARKER - 1 - bytes as u8, value.unwrap_or(0), bytes);
    }

    #[inline]
    fn put_signed(&mut self, number: i128) {
        if number < 0 {
            self.put_negative(!number as u128);
        } else {
            self.put_number(number as u128);
        }
    }

    /// Appends a string up to the end of the prefix; padding belongs to it.
    fn put_last(&mut self, text: &[u8]) {
        let mut bytes = [0; PREFIX_BYTES];
        let count = text.len().min(PREFIX_BYTES);
        bytes[..count].copy_from_slice(&text[..count]);
        self.put(u128::from_be_bytes(bytes), PREFIX_BYTES);
    }

    /// Inverts the bytes appended since the length was `start`, for descending order.
    fn invert(&mut self, start: usize) {
        let from_start = u128::MAX.checked_shr(start as u32 * 8).unwrap_or(0);
        let to_end = u128::MAX.checked_shr(self.length as u32 * 8).unwrap_or(0);
        self.bits ^= from_start ^ to_end;
    }
}

/// Bits of a double that are ordered as its values are.
fn float_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    bits ^ if bits >> 63 == 1 { u64::MAX } else { 1 << 63 }
}

impl Key {
    pub(super) fn cell(&self) -> Cell {
        self.cell
    }

    /// Collation of strings whose order is not that of their bytes.
    pub(super) fn collation(&self) -> Option<CollationId> {
        self.collation
    }

    fn is_text(&self) -> bool {
        self.cell.ty == PhysicalType::Bytes
    }

    /// Number of value bytes that follow a marker; `None` when a prefix may not hold the whole value.
    fn value_bytes(&self, marker: u8) -> Option<usize> {
        match self.cell.ty {
            _ if marker == 0 => Some(0),
            PhysicalType::Bool
            | PhysicalType::Int64
            | PhysicalType::UInt64
            | PhysicalType::Decimal128(_) => Some(match marker.checked_sub(ZERO_MARKER) {
                Some(bytes) => bytes.into(),
                None => (ZERO_MARKER - 1 - marker).into(),
            }),
            PhysicalType::Float64 => Some(8),
            PhysicalType::Decimal256(_) | PhysicalType::Bytes => None,
        }
    }

    /// Appends marker and value of each row to its prefix; a string fills the rest.
    ///
    /// # Safety
    /// The rows are of the layout; `values` resolves their values.
    unsafe fn append_all(
        &self,
        rows: impl Iterator<Item = *const u8>,
        values: Resolver<'_>,
        skipped: usize,
        prefixes: &mut [PrefixBytes],
        buffer: &mut Vec<u8>,
    ) {
        let cell = &self.cell;
        let each = prefixes.iter_mut().zip(rows);
        // SAFETY: the rows are of the layout of `cell`; wide reads are of wide cells.
        unsafe {
            match cell.ty {
                PhysicalType::Bool | PhysicalType::UInt64 => self.put_each(each, |prefix, row| {
                    prefix.put_number(cell.word(row).into());
                }),
                PhysicalType::Int64 => self.put_each(each, |prefix, row| {
                    prefix.put_signed((cell.word(row) as i64).into());
                }),
                PhysicalType::Decimal128(_) => self.put_each(each, |prefix, row| {
                    prefix.put_signed(cell.wide(row) as i128);
                }),
                PhysicalType::Float64 => self.put_each(each, |prefix, row| {
                    let bits = float_bits(f64::from_bits(cell.word(row)));
                    prefix.put_marked(1, u128::from(bits) << 64, 8);
                }),
                PhysicalType::Decimal256(_) => self.put_each(each, |prefix, row| {
                    let (_, high) = cell.wider(row).to_parts();
                    prefix.put_marked(1, high as u128 ^ 1 << 127, 32);
                }),
                PhysicalType::Bytes => self.put_each(each, |prefix, row| {
                    prefix.put(1 << 120, 1);
                    let view = cell.view(row);
                    let text = &values.bytes(&view)[skipped..];
                    let Some(collation) = self.collation else {
                        prefix.put_last(text);
                        return;
                    };
                    if let Some(head) = collation.collation().sort_key_head(text) {
                        prefix.put(head, PREFIX_BYTES);
                    } else {
                        let wanted = PREFIX_BYTES - prefix.length;
                        collated_prefix(collation, text, wanted, buffer);
                        prefix.put_last(buffer);
                    }
                }),
            }
        }
    }

    /// Appends the key of each row whose prefix has room, by `put` unless it is NULL.
    ///
    /// # Safety
    /// The rows are of the layout.
    #[inline(always)]
    unsafe fn put_each<'p>(
        &self,
        each: impl Iterator<Item = (&'p mut PrefixBytes, *const u8)>,
        mut put: impl FnMut(&mut PrefixBytes, *const u8),
    ) {
        for (prefix, row) in each {
            if prefix.is_full() {
                continue;
            }
            let start = prefix.length;
            // SAFETY: as promised by the caller.
            if unsafe { self.cell.is_null(row) } {
                prefix.put(0, 1);
            } else {
                put(prefix, row);
            }
            if self.descending {
                prefix.invert(start);
            }
        }
    }

    /// The order of two rows by this key.
    ///
    /// # Safety
    /// `a` and `b` are rows of the layout; `values` resolves their values.
    pub(super) unsafe fn compare(
        &self,
        a: *const u8,
        b: *const u8,
        values: Resolver<'_>,
    ) -> Ordering {
        let cell = &self.cell;
        // SAFETY: both are rows of the layout of `cell`; wide reads are of wide cells.
        unsafe {
            match (cell.is_null(a), cell.is_null(b)) {
                (false, false) => {}
                (a, b) => return b.cmp(&a),
            }
            match cell.ty {
                PhysicalType::Int64 => (cell.word(a) as i64).cmp(&(cell.word(b) as i64)),
                PhysicalType::Bool | PhysicalType::UInt64 => cell.word(a).cmp(&cell.word(b)),
                PhysicalType::Float64 => {
                    let bits = |row| float_bits(f64::from_bits(cell.word(row)));
                    bits(a).cmp(&bits(b))
                }
                PhysicalType::Decimal128(_) => (cell.wide(a) as i128).cmp(&(cell.wide(b) as i128)),
                PhysicalType::Decimal256(_) => cell.wider(a).cmp(&cell.wider(b)),
                PhysicalType::Bytes => {
                    let (a, b) = (cell.view(a), cell.view(b));
                    let (a, b) = (values.bytes(&a), values.bytes(&b));
                    match self.collation {
                        None => a.cmp(b),
                        Some(collation) => collation.compare(a, b),
                    }
                }
            }
        }
    }
}

/// Writes at least `wanted` bytes of a string's sort key to `key`, or all of it.
fn collated_prefix(collation: CollationId, text: &[u8], wanted: usize, key: &mut Vec<u8>) {
    key.clear();
    if collation != CollationId::JSON && text.len() > COLLATED_HEAD_BYTES {
        // The head is cut between characters. The weights of its last ones may depend on what follows, so it must give
        // more key than is wanted.
        let mut end = COLLATED_HEAD_BYTES;
        while end > 0 && text[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        collation.append_sort_key(&text[..end], key);
        if key.len() >= wanted + COLLATED_HEAD_BYTES / 4 {
            return;
        }
        key.clear();
    }
    collation.append_sort_key(text, key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_order_of_their_prefixes_and_small_ones_whole() {
        let layout = RowLayout::new(&[PhysicalType::Int64, PhysicalType::UInt64]);
        let key = |column, descending| SortKey {
            column,
            mode: KeyMode::Binary,
            descending,
        };
        let numbers = [
            i64::MIN,
            i64::MIN + 1,
            -65_537,
            -65_536,
            -257,
            -256,
            -255,
            -1,
            0,
            1,
            255,
            256,
            65_535,
            65_536,
            1 << 40,
            i64::MAX,
        ];
        let prefix = |keys: &SortKeys, first: Option<i64>, second: u64| {
            let mut row = [0_u64; 3];
            row[0] = u64::from(first.is_none());
            row[1] = first.unwrap_or(0) as u64;
            row[2] = second;
            let directory = crate::temptable::rows::Directory::default();
            // SAFETY: a header and two words are a row of the layout.
            unsafe {
                let row = std::iter::once(row.as_ptr().cast());
                let values = Resolver::stored(&directory);
                keys.prefixes(Place::default(), row, values, &mut PrefixBuffer::default())[0]
                    .prefix()
            }
        };
        for descending in [false, true] {
            let keys = SortKeys::new(&layout, &[key(0, descending), key(1, false)]);
            let mut all = vec![(prefix(&keys, None, 7), prefix(&keys, None, 8))];
            for number in numbers {
                let of = |second| prefix(&keys, Some(number), second);
                all.push((of(7), of(300)));
                assert!(keys.is_whole(of(300)));
                assert_eq!(keys.is_whole(of(u64::MAX)), number.unsigned_abs() < 1 << 41);
            }
            assert!(all.iter().all(|(less, greater)| less < greater));
            let firsts = all.iter().map(|(first, _)| *first);
            assert_eq!(
                firsts.clone().is_sorted_by(|a, b| a < b),
                !descending,
                "{all:x?}"
            );
            assert_eq!(firsts.rev().is_sorted_by(|a, b| a < b), descending);
        }
    }

    #[test]
    fn a_prefix_is_the_beginning_of_the_whole_key() {
        let texts = [
            "0123456789abcdef0123456789abcdef",
            "abcdefghi  trailing",
            "abcdefghij",
            "abcdefghi\u{301}jkl",
            "abcdefghij\u{301}kl and much more text than fits into a head of sixty-four bytes",
            "a         b",
            "          ",
            "\u{1}\u{2}\u{3}abcdefghijklmnopq",
            "Ünï\u{308}cödé text that is rather long, longer than the sixty-four bytes of a head",
            "{\"a\": 1, \"b\": [1, 2, 3]}",
            "",
        ];
        let names = [
            "utf8mb4_0900_ai_ci",
            "utf8mb4_0900_as_cs",
            "utf8mb4_general_ci",
            "utf8mb4_unicode_ci",
            "utf8mb4_bin",
            "latin1_swedish_ci",
        ];
        let named = names.iter().filter_map(|name| CollationId::by_name(name));
        for collation in named.chain([CollationId::JSON]) {
            for text in texts.map(str::as_bytes) {
                let (mut prefix, mut whole) = (Vec::new(), Vec::new());
                collated_prefix(collation, text, PREFIX_BYTES - 1, &mut prefix);
                collation.append_sort_key(text, &mut whole);
                prefix.truncate(PREFIX_BYTES - 1);
                whole.truncate(PREFIX_BYTES - 1);
                assert_eq!(prefix, whole, "{collation:?} {:?}", text.escape_ascii());
                if let Some(head) = collation.collation().sort_key_head(text) {
                    assert_eq!(head.to_be_bytes()[..PREFIX_BYTES - 1], whole);
                }
            }
        }
    }
}
