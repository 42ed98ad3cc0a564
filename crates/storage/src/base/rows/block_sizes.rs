//! Sizes of a block's sections, computed before the block is made, and the writing of the sections.

use std::ops::Range;

use super::super::block::{BLOCK_BYTES, CODED, HEADER_BYTES, SHIFTED, STRINGS, code_width};
use super::{Column, Rows, Texts, WordOrder, common};

/// Length of the common key prefix that does not count more towards a block's size limit: there is room for a number
/// of rows beside it.
pub(in super::super) const FREE_PREFIX_BYTES: usize = BLOCK_BYTES / 2;

/// Sizes of a block and of its sections.
#[derive(Debug)]
pub(in super::super) struct Sizes {
    /// Length of the common prefix of all keys.
    pub(in super::super) prefix: usize,
    pub(in super::super) keys: TextSize,
    pub(in super::super) columns: Vec<ColumnSize>,
    /// Bytes of the block.
    pub(in super::super) total: usize,
}

impl Sizes {
    /// Sizes of a block of some rows in ascending key order.
    pub(in super::super) fn of(all: &Rows, rows: Range<usize>) -> Self {
        let (first, last) = if rows.is_empty() {
            (&[][..], &[][..])
        } else {
            (all.key(rows.start), all.key(rows.end - 1))
        };
        // The common prefix of the first and the last key is common to all.
        Self::with_prefix(all, rows, common(first, last))
    }

    /// Sizes of a block of some rows in any order.
    pub(in super::super) fn of_unordered(all: &Rows, rows: Range<usize>) -> Self {
        Self::with_prefix(all, rows, 0)
    }

    /// The bytes that count against the limit of a block.
    pub(in super::super) fn counted(&self) -> usize {
        self.total - self.prefix.saturating_sub(FREE_PREFIX_BYTES)
    }

    fn with_prefix(all: &Rows, rows: Range<usize>, cut: usize) -> Self {
        let keys = TextSize::of(&all.keys, rows.clone());
        let columns: Vec<ColumnSize> = (0..all.columns.len())
            .map(|number| ColumnSize::of(all, number, rows.clone()))
            .collect();
        let mut total = HEADER_BYTES + 4 * (columns.len() + 1);
        let prefix = all.shared.len() + cut;
        total += 4 + prefix + keys.total(cut);
        for (size, column) in columns.iter().zip(&all.columns) {
            total += size.total(column, rows.len());
        }
        Self {
            prefix,
            keys,
            columns,
            total,
        }
    }
}

/// Size of the strings of a block's section.
#[derive(Debug, Default)]
pub(in super::super) struct TextSize {
    count: usize,
    bytes: usize,
    /// Length of the first string.
    length: usize,
    differ: bool,
}

impl TextSize {
    fn of(texts: &Texts, rows: Range<usize>) -> Self {
        if rows.is_empty() {
            return Self::default();
        }
        let start = texts.start(rows.start);
        let ends = &texts.ends[rows.clone()];
        let length = ends[0] - start;
        let differ = |pair: &[usize]| pair[1] - pair[0] != length;
        Self {
            count: rows.len(),
            bytes: ends[ends.len() - 1] - start,
            length,
            differ: ends.windows(2).any(differ),
        }
    }

    /// Width of an end offset, when `cut` leading bytes of each string are left out.
    fn width(&self, cut: usize) -> usize {
        match self.bytes - cut * self.count {
            _ if !self.differ => 0,
            bytes if bytes <= usize::from(u16::MAX) => 2,
            _ => 4,
        }
    }

    fn total(&self, cut: usize) -> usize {
        let width = self.width(cut);
        let ends = if width == 0 { 4 } else { width * self.count };
        1 + ends + self.bytes - cut * self.count
    }

    /// Writes the strings, without `cut` leading bytes of each.
    pub(in super::super) fn encode(
        &self,
        texts: &Texts,
        cut: usize,
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        let width = self.width(cut);
        out.push(width as u8);
        if width == 0 {
            out.extend_from_slice(&((self.length - cut) as u32).to_le_bytes());
        } else {
            let start = texts.start(rows.start);
            for (index, end) in texts.ends[rows.clone()].iter().enumerate() {
                let end = end - start - cut * (index + 1);
                out.extend_from_slice(&(end as u32).to_le_bytes()[..width]);
            }
        }
        if cut == 0 {
            let start = texts.start(rows.start);
            out.extend_from_slice(&texts.bytes[start..start + self.bytes]);
        } else {
            rows.for_each(|row| out.extend_from_slice(&texts.get(row)[cut..]));
        }
    }
}

/// Size of a column in a block.
#[derive(Debug)]
pub(in super::super) struct ColumnSize {
    pub(in super::super) has_nulls: bool,
    /// Smallest value, as an unsigned number in an order-preserving form.
    smallest: u64,
    largest: u64,
    /// Bits set in any value; `all`: bits set in all values.
    any: u64,
    all: u64,
    /// Whether a decimal does not fit into 64 bits.
    is_wide: bool,
    text: TextSize,
}

const SIGN: u64 = 1 << 63;

/// The bit to invert so that words order as unsigned numbers.
fn sign_of(order: WordOrder) -> u64 {
    if order == WordOrder::Signed { SIGN } else { 0 }
}

impl ColumnSize {
    fn of(all: &Rows, number: usize, rows: Range<usize>) -> Self {
        let nulls = &all.nulls[number];
        let nulls = nulls.get(rows.start..rows.end.min(nulls.len()));
        let nulls = nulls.unwrap_or_default();
        let mut size = Self {
            has_nulls: nulls.contains(&true),
            smallest: u64::MAX,
            largest: 0,
            any: 0,
            all: u64::MAX,
            is_wide: false,
            text: TextSize::default(),
        };
        let nulls = if size.has_nulls { nulls } else { &[] };
        match &all.columns[number] {
            Column::Words(WordOrder::None, _) => {}
            Column::Words(order, values) => {
                let sign = sign_of(*order);
                size.add_all(&values[rows], nulls, |value| Some(value ^ sign));
            }
            Column::Text(texts) => size.text = TextSize::of(texts, rows),
            Column::Coded { strings, .. } => {
                size.text = TextSize::of(strings, 0..strings.ends.len());
            }
            Column::Wide(values) => size.add_all(&values[rows], nulls, |value| {
                let value = i64::try_from(value).ok()?;
                Some(value as u64 ^ SIGN)
            }),
            Column::Huge(values) => size.add_all(&values[rows], nulls, |value| {
                let value = i64::try_from(value.to_i128()?).ok()?;
                Some(value as u64 ^ SIGN)
            }),
        }
        size
    }

    /// Accounts for all values that are not NULL; `ordered` returns a value as an unsigned 64-bit number, if it fits.
    #[inline]
    fn add_all<T: Copy>(
        &mut self,
        values: &[T],
        nulls: &[bool],
        ordered: impl Fn(T) -> Option<u64>,
    ) {
        let mut add = |value: T| match ordered(value) {
            Some(value) => {
                self.smallest = self.smallest.min(value);
                self.largest = self.largest.max(value);
                self.any |= value;
                self.all &= value;
            }
            None => self.is_wide = true,
        };
        if nulls.is_empty() {
            values.iter().for_each(|value| add(*value));
            return;
        }
        let is_null = |row: usize| nulls.get(row).copied().unwrap_or(false);
        let values = values.iter().enumerate();
        values
            .filter(|(row, _)| !is_null(*row))
            .for_each(|(_, value)| add(*value));
    }

    fn width(&self, column: &Column) -> usize {
        match column {
            Column::Words(WordOrder::None, _) => 8,
            Column::Wide(_) if self.is_wide => 16,
            Column::Huge(_) if self.is_wide => 32,
            Column::Text(_) => STRINGS,
            Column::Coded { .. } => CODED,
            _ if self.smallest > self.largest => 0,
            _ => bytes_of((self.largest - self.smallest) >> self.shift(column)),
        }
    }

    /// Number of low bits that are equal in all numbers, if leaving them out shortens the numbers: the time of dates.
    fn shift(&self, column: &Column) -> u32 {
        let has_base = match column {
            Column::Words(order, _) => *order != WordOrder::None,
            Column::Wide(_) | Column::Huge(_) => !self.is_wide,
            Column::Text(_) | Column::Coded { .. } => false,
        };
        if !has_base || self.smallest >= self.largest {
            return 0;
        }
        let span = self.largest - self.smallest;
        let shift = (self.any & !self.all).trailing_zeros();
        match bytes_of(span >> shift) < bytes_of(span) {
            true => shift,
            false => 0,
        }
    }

    fn total(&self, column: &Column, rows: usize) -> usize {
        let bits = if self.has_nulls { rows.div_ceil(8) } else { 0 };
        2 + bits
            + match self.width(column) {
                STRINGS => self.text.total(0),
                CODED => 8 + self.text.total(0) + code_width(self.text.count) * rows,
                width @ (16 | 32) => width * rows,
                width => {
                    let shift = if self.shift(column) > 0 { 2 } else { 0 };
                    8 + shift + width * rows
                }
            }
    }

    /// Writes the values of a column.
    pub(in super::super) fn encode(
        &self,
        all: &Rows,
        number: usize,
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        let column = &all.columns[number];
        let (width, shift) = (self.width(column), self.shift(column));
        if shift > 0 {
            out.extend([SHIFTED as u8, shift as u8]);
        }
        out.push(width as u8);
        let base = match column {
            Column::Words(WordOrder::None, _) => 0,
            _ if self.smallest > self.largest => 0,
            Column::Words(order, _) => self.smallest ^ sign_of(*order),
            _ => self.smallest ^ SIGN,
        };
        if width < 16 {
            out.extend_from_slice(&base.to_le_bytes());
        }
        let first = rows.start;
        // A NULL is stored as the base, since any value that fits will do.
        let is_null = |index: usize| self.has_nulls && all.is_null(number, first + index);
        let narrow = Narrow { base, width, shift };
        match column {
            Column::Words(_, values) => {
                narrow.encode(&values[rows], |value| value, is_null, out);
            }
            Column::Wide(values) if width < 16 => {
                narrow.encode(&values[rows], |value| value as u64, is_null, out);
            }
            Column::Wide(values) => {
                let values = values[rows].iter();
                values.for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }
            Column::Huge(values) if width < 16 => {
                narrow.encode(&values[rows], |value| value.as_i128() as u64, is_null, out);
            }
            Column::Huge(values) => {
                let values = values[rows].iter();
                values.for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }
            Column::Text(texts) => self.text.encode(texts, 0, rows, out),
            Column::Coded { strings, codes } => {
                let count = strings.ends.len();
                let start = out.len() + 8 + self.text.total(0);
                out.extend_from_slice(&(count as u32).to_le_bytes());
                out.extend_from_slice(&(start as u32).to_le_bytes());
                self.text.encode(strings, 0, 0..count, out);
                let codes = codes[rows].iter();
                match code_width(count) {
                    1 => out.extend(codes.map(|code| *code as u8)),
                    _ => codes.for_each(|code| out.extend_from_slice(&code.to_le_bytes())),
                }
            }
        }
    }
}

/// Width in bytes of numbers up to `most`.
fn bytes_of(most: u64) -> usize {
    match most {
        0 => 0,
        1..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

/// Encoder of numbers as offsets from a base.
struct Narrow {
    base: u64,
    width: usize,
    /// Number of low bits left out.
    shift: u32,
}

impl Narrow {
    #[inline]
    fn encode<T: Copy>(
        &self,
        values: &[T],
        number: impl Fn(T) -> u64,
        is_null: impl Fn(usize) -> bool,
        out: &mut Vec<u8>,
    ) {
        let values = values.iter().enumerate();
        let differences = values.map(|(index, value)| {
            if is_null(index) {
                0
            } else {
                number(*value).wrapping_sub(self.base) >> self.shift
            }
        });
        match self.width {
            0 => {}
            1 => out.extend(differences.map(|value| value as u8)),
            2 => differences.for_each(|value| out.extend_from_slice(&(value as u16).to_le_bytes())),
            4 => differences.for_each(|value| out.extend_from_slice(&(value as u32).to_le_bytes())),
            _ => differences.for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
        }
    }
}
