//! The order of rows: a prefix of the normalised key, and the comparison of cells.

use std::cmp::Ordering;

use arrow_buffer::i256;
use mayfly_types::{CollationId, PhysicalType};

use crate::temptable::keys::{append_collation_key, collation_compare, is_bytewise_order};
use crate::temptable::rows::{Cell, Resolver, RowLayout, View};
use crate::temptable::spec::{KeyMode, SortKey};

/// Bytes of a normalised key that a record holds.
pub(super) const PREFIX_BYTES: usize = 16;
/// A collated string's key prefix is made of so many bytes of it, if they give enough key.
const COLLATED_HEAD_BYTES: usize = 64;
/// So many plain ASCII characters give a prefix by themselves in collations of two bytes a character.
const PLAIN_HEAD_BYTES: usize = 10;
/// What a sort key may end in that stands for no character.
const PADDING_BYTES_MAX: usize = 3;

/// The first bytes of a row's normalised key; ordered as the rows are, but for ties.
pub(super) type Prefix = (u64, u64);

#[derive(Debug, Clone, Copy)]
enum Order {
    Bool,
    Int,
    UInt,
    Float,
    Decimal,
    Wide,
    Bytes,
    Collated(CollationId),
}

#[derive(Debug, Clone, Copy)]
struct Key {
    cell: Cell,
    order: Order,
    descending: bool,
}

/// The sort keys of a layout.
#[derive(Debug)]
pub(super) struct SortKeys {
    keys: Vec<Key>,
    /// Rows of equal prefixes are equal in all keys.
    exact: bool,
}

impl SortKeys {
    pub(super) fn new(layout: &RowLayout, keys: &[SortKey]) -> Self {
        let keys: Vec<Key> = keys
            .iter()
            .map(|key| {
                let cell = layout.cells()[key.column];
                let order = match cell.ty {
                    PhysicalType::Bool => Order::Bool,
                    PhysicalType::Int64 => Order::Int,
                    PhysicalType::UInt64 => Order::UInt,
                    PhysicalType::Float64 => Order::Float,
                    PhysicalType::Decimal128(_) => Order::Decimal,
                    PhysicalType::Decimal256(_) => Order::Wide,
                    PhysicalType::Bytes => match key.mode {
                        KeyMode::Collated(collation) if !is_bytewise_order(collation) => {
                            Order::Collated(collation)
                        }
                        KeyMode::Binary | KeyMode::Collated(_) => Order::Bytes,
                    },
                };
                Key {
                    cell,
                    order,
                    descending: key.descending,
                }
            })
            .collect();
        let mut bytes = 0;
        let mut exact = true;
        for key in &keys {
            exact &= !matches!(key.order, Order::Bytes | Order::Collated(_));
            bytes += 1 + key.cell.byte_width();
        }
        Self {
            keys,
            exact: exact && bytes <= PREFIX_BYTES,
        }
    }

    /// The prefix of a row's key.
    ///
    /// # Safety
    /// `row` is a row of the layout; its values are found by `values`. `buffer` is scratch memory.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub(super) unsafe fn prefix(
        &self,
        row: *const u8,
        values: Resolver<'_>,
        buffer: &mut Vec<u8>,
    ) -> Prefix {
        let mut bytes = [0_u8; PREFIX_BYTES];
        let mut at = 0;
        for key in &self.keys {
            if at == PREFIX_BYTES {
                break;
            }
            let start = at;
            // SAFETY: as promised by the caller.
            let variable = unsafe { key.append(row, values, &mut bytes, &mut at, buffer) };
            if key.descending {
                // What follows a string is padding, which belongs to it.
                let end = if variable { PREFIX_BYTES } else { at };
                for byte in &mut bytes[start..end] {
                    *byte = !*byte;
                }
            }
            if variable {
                break;
            }
        }
        let word =
            |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        (word(0), word(8))
    }

    /// The order of two rows whose prefixes are equal.
    ///
    /// # Safety
    /// `a` and `b` are rows of the layout; their values are found by `values`.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub(super) unsafe fn compare(
        &self,
        a: *const u8,
        b: *const u8,
        values: Resolver<'_>,
    ) -> Ordering {
        if self.exact {
            return Ordering::Equal;
        }
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

fn put(bytes: &mut [u8; PREFIX_BYTES], at: &mut usize, value: &[u8]) {
    let count = value.len().min(PREFIX_BYTES - *at);
    bytes[*at..*at + count].copy_from_slice(&value[..count]);
    *at += count;
}

/// Bits of a double that order as its values do.
fn float_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    bits ^ if bits >> 63 == 1 { u64::MAX } else { 1 << 63 }
}

#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
impl Key {
    /// Puts NULL marker and value; true when the value is a string, which fills all that is left.
    unsafe fn append(
        &self,
        row: *const u8,
        values: Resolver<'_>,
        bytes: &mut [u8; PREFIX_BYTES],
        at: &mut usize,
        buffer: &mut Vec<u8>,
    ) -> bool {
        let cell = &self.cell;
        // SAFETY: `row` is a row of the layout of `cell`; wide reads are of wide cells.
        unsafe {
            if cell.is_null(row) {
                // The value's bytes stay zero, so that every NULL has the same prefix.
                let fixed = !matches!(self.order, Order::Bytes | Order::Collated(_));
                *at = if fixed {
                    PREFIX_BYTES.min(*at + 1 + self.key_bytes())
                } else {
                    PREFIX_BYTES
                };
                return !fixed;
            }
            put(bytes, at, &[1]);
            match self.order {
                Order::Bool => put(bytes, at, &cell.word(row).to_be_bytes()),
                Order::Int => put(bytes, at, &(cell.word(row) ^ 1 << 63).to_be_bytes()),
                Order::UInt => put(bytes, at, &cell.word(row).to_be_bytes()),
                Order::Float => {
                    put(
                        bytes,
                        at,
                        &float_bits(f64::from_bits(cell.word(row))).to_be_bytes(),
                    );
                }
                Order::Decimal => put(bytes, at, &(cell.wide(row) ^ 1 << 127).to_be_bytes()),
                Order::Wide => {
                    let mut value = read_wide(cell, row).to_be_bytes();
                    value[0] ^= 0x80;
                    put(bytes, at, &value);
                }
                Order::Bytes => {
                    let view = cell.view(row);
                    put(bytes, at, values.bytes(&view));
                    return true;
                }
                Order::Collated(collation) => {
                    let view = cell.view(row);
                    collated_prefix(collation, values.bytes(&view), PREFIX_BYTES - *at, buffer);
                    put(bytes, at, buffer);
                    return true;
                }
            }
        }
        false
    }

    fn key_bytes(&self) -> usize {
        self.cell.byte_width()
    }

    unsafe fn compare(&self, a: *const u8, b: *const u8, values: Resolver<'_>) -> Ordering {
        let cell = &self.cell;
        // SAFETY: both are rows of the layout of `cell`; wide reads are of wide cells.
        unsafe {
            match (cell.is_null(a), cell.is_null(b)) {
                (false, false) => {}
                (a, b) => return b.cmp(&a),
            }
            match self.order {
                Order::Int => (cell.word(a) as i64).cmp(&(cell.word(b) as i64)),
                Order::Bool | Order::UInt => cell.word(a).cmp(&cell.word(b)),
                Order::Float => {
                    let bits = |row| float_bits(f64::from_bits(cell.word(row)));
                    bits(a).cmp(&bits(b))
                }
                Order::Decimal => (cell.wide(a) as i128).cmp(&(cell.wide(b) as i128)),
                Order::Wide => read_wide(cell, a).cmp(&read_wide(cell, b)),
                Order::Bytes => {
                    let (a, b): (View, View) = (cell.view(a), cell.view(b));
                    values.bytes(&a).cmp(values.bytes(&b))
                }
                Order::Collated(collation) => {
                    let (a, b): (View, View) = (cell.view(a), cell.view(b));
                    collation_compare(collation, values.bytes(&a), values.bytes(&b))
                }
            }
        }
    }
}

#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
unsafe fn read_wide(cell: &Cell, row: *const u8) -> i256 {
    // SAFETY: the caller asks this of a cell of 32 bytes of one of its rows.
    unsafe { row.add(cell.offset).cast::<i256>().read_unaligned() }
}

/// Puts at least `wanted` bytes of a string's sort key into `key`, or all of it.
fn collated_prefix(collation: CollationId, text: &[u8], wanted: usize, key: &mut Vec<u8>) {
    key.clear();
    if collation != CollationId::JSON {
        if has_plain_head(text) {
            append_collation_key(collation, &text[..PLAIN_HEAD_BYTES], key);
            if key.len() >= wanted + PADDING_BYTES_MAX {
                return;
            }
            key.clear();
        }
        if text.len() > COLLATED_HEAD_BYTES {
            // A cut between characters. The weights of the last ones may depend on what follows, so
            // the head must give more key than is wanted.
            let mut end = COLLATED_HEAD_BYTES;
            while end > 0 && text[end] & 0xC0 == 0x80 {
                end -= 1;
            }
            append_collation_key(collation, &text[..end], key);
            if key.len() >= wanted + COLLATED_HEAD_BYTES / 4 {
                return;
            }
            key.clear();
        }
    }
    append_collation_key(collation, text, key);
}

/// Whether a string begins with plain ASCII characters, of which each has a weight of its own that
/// no other changes, and goes on behind them.
fn has_plain_head(text: &[u8]) -> bool {
    let Some((head, [next, ..])) = text.split_at_checked(PLAIN_HEAD_BYTES) else {
        return false;
    };
    // A space at the end would count for nothing in some collations.
    head.iter().all(|byte| (0x20..0x7F).contains(byte))
        && *next < 0x80
        && head.last() != Some(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

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
                append_collation_key(collation, text, &mut whole);
                prefix.truncate(PREFIX_BYTES - 1);
                whole.truncate(PREFIX_BYTES - 1);
                assert_eq!(prefix, whole, "{collation:?} {:?}", text.escape_ascii());
            }
        }
    }
}
