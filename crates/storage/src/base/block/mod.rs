//! The bytes of a block: some rows of a tree in key order, column by column (PAX: Ailamaki et al.,
//! "Weaving Relations for Cache Performance", VLDB 2001).
//!
//! A block is a header, the keys, and the columns (`docs/file-format.md` describes each field):
//!
//! ```text
//! checksum u64 | rows u32 | columns u16 | format u16 | start of the keys u32 | of each column u32
//! keys:    prefix length u32 | common prefix of all keys | the rest of each key, as strings
//! column:  has NULLs u8 | if it has: one bit a row, 1 for a value | encoding u8 | values
//! 0 to 8:  base u64 | offsets from the base, of that width in bytes; at width 0 every value is the base
//! 16, 32:  decimals of that width in bytes
//! 64:      strings: width u8 | end offsets of 2 or 4 bytes (one length u32 at width 0) | all bytes
//! 65:      dictionary: entry_count u32 | codes_offset u32 | entries, as strings | codes of 1 or 2 bytes
//! 66:      numbers without their lowest bits, which are equal in all, such as the time of dates:
//!          bit_count u8 | width u8 | base u64 | offsets of that width
//! ```
//!
//! Everything is little-endian and unaligned. Bytes come from a file, so every offset is checked when it is used; a
//! wrong one gives [`Damaged`].

mod filter;
mod key_words;
mod strings;

use std::ops::Range;

use arrow_buffer::i256;
use key_words::KeyWords;
use mayfly_types::PhysicalType;
use mayfly_types::error::codes;
pub(super) use strings::{Coded, Ends, Strings, code_width};

use crate::values::StoredValue;

/// Bytes of a block that fills two pages of the file.
pub(super) const BLOCK_BYTES: usize = 8176;

/// Bytes of the header's fixed part, behind which the section offsets stand.
pub(super) const HEADER_BYTES: usize = 16;
/// Bytes of the checksum, which it does not cover.
pub(super) const CHECKSUM_BYTES: usize = 8;
pub(super) const FORMAT: u16 = 1;

/// Error: the bytes are not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

impl From<Damaged> for mayfly_types::Error {
    fn from(_: Damaged) -> Self {
        codes::ER_UNKNOWN_ERROR.with(&[
            &"a block of the table's file is damaged; restore it from a backup (see `mayfly check`)",
        ])
    }
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a block is damaged")
    }
}

impl std::error::Error for Damaged {}

pub(super) type Checked<T> = std::result::Result<T, Damaged>;

#[inline]
pub(super) fn take<const N: usize>(bytes: &[u8], at: usize) -> Checked<[u8; N]> {
    let end = at.checked_add(N).ok_or(Damaged)?;
    let found = bytes.get(at..end).ok_or(Damaged)?;
    found.try_into().map_err(|_| Damaged)
}

#[inline]
fn take_u32(bytes: &[u8], at: usize) -> Checked<usize> {
    take::<4>(bytes, at).map(|word| u32::from_le_bytes(word) as usize)
}

#[inline]
fn part(bytes: &[u8], start: usize, length: usize) -> Checked<&[u8]> {
    let end = start.checked_add(length).ok_or(Damaged)?;
    bytes.get(start..end).ok_or(Damaged)
}

/// Numbers stored as offsets from a base (frame of reference).
#[derive(Debug, Clone, Copy)]
pub(super) struct Narrow<'a> {
    base: u64,
    /// Bytes of an offset: 0, 1, 2, 4 or 8.
    width: usize,
    /// Number of low bits that were left out.
    shift: u32,
    bytes: &'a [u8],
}

/// The values of a column.
#[derive(Debug, Clone, Copy)]
pub(super) enum Values<'a> {
    /// Numbers stored as offsets from a base.
    Narrow(Narrow<'a>),
    Wide(&'a [[u8; 16]]),
    Huge(&'a [[u8; 32]]),
    Strings(Strings<'a>),
    Coded(Coded<'a>),
}

impl<'a> Values<'a> {
    /// The string of a row.
    #[inline]
    pub(super) fn text(&self, row: usize) -> Checked<&'a [u8]> {
        match self {
            Self::Strings(strings) => strings.get(row),
            Self::Coded(coded) => coded.strings.get(coded.code(row)?),
            _ => Err(Damaged),
        }
    }
}

impl Narrow<'_> {
    #[inline]
    fn number(&self, more: u64) -> u64 {
        self.base.wrapping_add(more << self.shift)
    }

    /// The number of a row.
    #[inline]
    fn get(&self, row: usize) -> Checked<u64> {
        let bytes = self.bytes;
        let more = match self.width {
            0 => 0,
            1 => u64::from(*bytes.get(row).ok_or(Damaged)?),
            2 => u64::from(u16::from_le_bytes(take(bytes, row * 2)?)),
            4 => u64::from(u32::from_le_bytes(take(bytes, row * 4)?)),
            _ => u64::from_le_bytes(take(bytes, row * 8)?),
        };
        Ok(self.number(more))
    }

    /// Appends the numbers of some rows, in order.
    #[inline]
    fn append<T: Clone>(
        &self,
        rows: BlockRows<'_>,
        out: &mut Vec<T>,
        of_word: impl Fn(u64) -> T,
    ) -> Checked<()> {
        let number = |more: u64| of_word(self.number(more));
        match self.width {
            0 => {
                out.extend(std::iter::repeat_n(number(0), rows.len()));
                Ok(())
            }
            1 => append_values(self.words(), rows, out, |[word]| number(word.into())),
            2 => append_values(self.words(), rows, out, |word| {
                number(u16::from_le_bytes(word).into())
            }),
            4 => append_values(self.words(), rows, out, |word| {
                number(u32::from_le_bytes(word).into())
            }),
            _ => append_values(self.words(), rows, out, |word| {
                number(u64::from_le_bytes(word))
            }),
        }
    }

    fn words<const N: usize>(&self) -> &[[u8; N]] {
        self.bytes.as_chunks().0
    }
}

/// Appends the values of some rows, in order. The loops have no branch that the compiler cannot vectorise.
#[inline]
fn append_values<T, const N: usize>(
    words: &[[u8; N]],
    rows: BlockRows<'_>,
    out: &mut Vec<T>,
    mut value: impl FnMut([u8; N]) -> T,
) -> Checked<()> {
    match rows {
        BlockRows::Range(rows) => {
            let words = words.get(rows).ok_or(Damaged)?;
            out.extend(words.iter().map(|word| value(*word)));
        }
        BlockRows::List(rows) => {
            let mut is_damaged = false;
            out.extend(rows.iter().map(|row| {
                let word = words.get(*row as usize);
                is_damaged |= word.is_none();
                value(word.copied().unwrap_or([0; N]))
            }));
            if is_damaged {
                return Err(Damaged);
            }
        }
    }
    Ok(())
}

/// Selection of rows of a block, in ascending order.
#[derive(Debug, Clone)]
pub(super) enum BlockRows<'a> {
    /// Contiguous rows.
    Range(Range<usize>),
    /// Rows at these indexes.
    List(&'a [u32]),
}

impl BlockRows<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::List(list) => list.len(),
        }
    }

    /// Calls `give` with each row's index.
    #[inline]
    pub(super) fn each(&self, mut give: impl FnMut(usize) -> Checked<()>) -> Checked<()> {
        match self {
            Self::Range(range) => range.clone().try_for_each(give),
            Self::List(list) => list.iter().try_for_each(|row| give(*row as usize)),
        }
    }
}

impl Values<'_> {
    /// Appends the 64-bit values of some rows.
    #[inline]
    pub(super) fn append_words(&self, rows: BlockRows<'_>, out: &mut Vec<u64>) -> Checked<()> {
        self.append(rows, out, None, |word| word, u64::from_le_bytes)
    }

    /// Appends decimals of up to 16 bytes.
    #[inline]
    pub(super) fn append_wide(&self, rows: BlockRows<'_>, out: &mut Vec<i128>) -> Checked<()> {
        let wide = if let Self::Wide(words) = self {
            Some(*words)
        } else {
            None
        };
        let of_word = |word: u64| i128::from(word.cast_signed());
        self.append(rows, out, wide, of_word, i128::from_le_bytes)
    }

    /// Appends decimals of up to 32 bytes.
    #[inline]
    pub(super) fn append_huge(&self, rows: BlockRows<'_>, out: &mut Vec<i256>) -> Checked<()> {
        let huge = if let Self::Huge(words) = self {
            Some(*words)
        } else {
            None
        };
        let of_word = |word: u64| i256::from(word.cast_signed());
        self.append(rows, out, huge, of_word, i256::from_le_bytes)
    }

    /// Appends values of [`Self::Narrow`], or else of `wide`, if present.
    #[inline]
    fn append<T: Clone, const N: usize>(
        &self,
        rows: BlockRows<'_>,
        out: &mut Vec<T>,
        wide: Option<&[[u8; N]]>,
        of_word: impl Fn(u64) -> T,
        of_bytes: impl Fn([u8; N]) -> T,
    ) -> Checked<()> {
        match self {
            Self::Narrow(narrow) => narrow.append(rows, out, of_word),
            _ => append_values(wide.ok_or(Damaged)?, rows, out, of_bytes),
        }
    }
}

/// A column of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<'a> {
    /// Bitmap with 1 for a value and 0 for NULL; `None` without NULLs.
    pub(super) validity: Option<&'a [u8]>,
    pub(super) values: Values<'a>,
}

impl Column<'_> {
    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.validity
            .and_then(|bits| bits.get(row / 8))
            .is_some_and(|byte| byte >> (row % 8) & 1 == 0)
    }
}

impl Column<'_> {
    /// Calls `give` with the index, among some rows, of each NULL.
    pub(super) fn each_null(&self, rows: &BlockRows<'_>, mut give: impl FnMut(usize)) {
        if self.validity.is_none() {
            return;
        }
        match rows {
            BlockRows::Range(rows) => {
                let nulls = rows
                    .clone()
                    .enumerate()
                    .filter(|(_, row)| self.is_null(*row));
                nulls.for_each(|(index, _)| give(index));
            }
            BlockRows::List(rows) => {
                let rows = rows.iter().enumerate();
                let nulls = rows.filter(|(_, row)| self.is_null(**row as usize));
                nulls.for_each(|(index, _)| give(index));
            }
        }
    }
}

impl<'a> Column<'a> {
    /// The value of a row, read as the column's type.
    pub(super) fn value(&self, ty: PhysicalType, row: usize) -> Checked<StoredValue<'a>> {
        if self.is_null(row) {
            return Ok(StoredValue::Null);
        }
        Ok(match (ty, self.values) {
            (PhysicalType::Bytes, values) => StoredValue::Bytes(values.text(row)?),
            (ty, Values::Narrow(narrow)) => {
                let word = narrow.get(row)?;
                match ty {
                    PhysicalType::Decimal128(_) => {
                        StoredValue::Decimal128(word.cast_signed().into())
                    }
                    PhysicalType::Decimal256(_) => {
                        StoredValue::Decimal256(word.cast_signed().into())
                    }
                    _ => StoredValue::Word(word),
                }
            }
            (PhysicalType::Decimal128(_), Values::Wide(words)) => {
                StoredValue::Decimal128(i128::from_le_bytes(*words.get(row).ok_or(Damaged)?))
            }
            (PhysicalType::Decimal256(_), Values::Huge(words)) => {
                StoredValue::Decimal256(i256::from_le_bytes(*words.get(row).ok_or(Damaged)?))
            }
            _ => return Err(Damaged),
        })
    }
}

/// A block with a parsed header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) bytes: &'a [u8],
    rows: usize,
    columns: usize,
    /// Common prefix of all keys.
    prefix: &'a [u8],
    suffixes: Strings<'a>,
}

impl<'a> Block<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Checked<Self> {
        let rows = take_u32(bytes, 8)?;
        let columns = usize::from(u16::from_le_bytes(take(bytes, 12)?));
        if u16::from_le_bytes(take(bytes, 14)?) != FORMAT || rows == 0 {
            return Err(Damaged);
        }
        let mut block = Self {
            bytes,
            rows,
            columns,
            prefix: &[],
            suffixes: Strings {
                ends: Ends::Fixed(0),
                bytes: &[],
                start: 0,
            },
        };
        let (start, end) = block.section(0)?;
        let common = take_u32(bytes, start)?;
        block.prefix = part(bytes, start + 4, common)?;
        block.suffixes = Strings::parse(bytes, start + 4 + common, end, rows)?;
        Ok(block)
    }

    /// The number of rows of a block, read from its header alone.
    pub(super) fn count(bytes: &[u8]) -> Checked<usize> {
        take_u32(bytes, 8)
    }

    /// Whether the checksum is right.
    pub(super) fn is_intact(bytes: &[u8]) -> bool {
        let Ok(checksum) = take::<CHECKSUM_BYTES>(bytes, 0) else {
            return false;
        };
        u64::from_le_bytes(checksum) == checksum_of(&bytes[CHECKSUM_BYTES..])
    }

    /// The number of rows, at least one.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    fn section(&self, number: usize) -> Checked<(usize, usize)> {
        let at = HEADER_BYTES + number * 4;
        let start = take_u32(self.bytes, at)?;
        let end = if number == self.columns {
            self.bytes.len()
        } else {
            take_u32(self.bytes, at + 4)?
        };
        if start > end || end > self.bytes.len() {
            return Err(Damaged);
        }
        Ok((start, end))
    }

    /// Bytes of a section: 0 is the keys, columns are counted from 1.
    pub(super) fn section_bytes(&self, number: usize) -> Checked<usize> {
        let (start, end) = self.section(number)?;
        Ok(end - start)
    }

    pub(super) fn column(&self, column: usize) -> Checked<Column<'a>> {
        if column >= self.columns {
            return Err(Damaged);
        }
        let (mut at, end) = self.section(column + 1)?;
        let bytes = self.bytes.get(..end).ok_or(Damaged)?;
        let [has_nulls] = take::<1>(bytes, at)?;
        at += 1;
        let mut validity = None;
        if has_nulls != 0 {
            let bits = part(bytes, at, self.rows.div_ceil(8))?;
            at += bits.len();
            validity = Some(bits);
        }
        let [mut kind] = take::<1>(bytes, at)?;
        let mut shift = 0;
        if usize::from(kind) == SHIFTED {
            [_, shift, kind] = take::<3>(bytes, at)?;
            at += 2;
            if u32::from(shift) >= u64::BITS || !matches!(kind, 0 | 1 | 2 | 4 | 8) {
                return Err(Damaged);
            }
        }
        let all = |at: usize, width: usize| {
            let length = self.rows.checked_mul(width).ok_or(Damaged)?;
            part(bytes, at, length)
        };
        let values = match usize::from(kind) {
            width @ (0 | 1 | 2 | 4 | 8) => Values::Narrow(Narrow {
                base: u64::from_le_bytes(take(bytes, at + 1)?),
                width,
                shift: shift.into(),
                bytes: all(at + 9, width)?,
            }),
            16 => Values::Wide(all(at + 1, 16)?.as_chunks().0),
            32 => Values::Huge(all(at + 1, 32)?.as_chunks().0),
            STRINGS => Values::Strings(Strings::parse(bytes, at + 1, end, self.rows)?),
            CODED => Values::Coded(Coded::parse(bytes, at + 1, end, self.rows)?),
            _ => return Err(Damaged),
        };
        Ok(Column { validity, values })
    }

    /// Appends a row's key.
    #[inline]
    pub(super) fn append_key(&self, row: usize, key: &mut Vec<u8>) -> Checked<()> {
        key.extend_from_slice(self.prefix);
        key.extend_from_slice(self.suffixes.get(row)?);
        Ok(())
    }

    /// A row's key.
    pub(super) fn key(&self, row: usize) -> Checked<Vec<u8>> {
        let mut key = Vec::with_capacity(self.prefix.len() + 16);
        self.append_key(row, &mut key)?;
        Ok(key)
    }

    /// The common prefix of the keys, and the rest of each.
    pub(super) fn keys(&self) -> (&'a [u8], &Strings<'a>) {
        (self.prefix, &self.suffixes)
    }

    /// Binary search: `Ok` with the row of a key, or `Err` with the row before which the key would stand.
    pub(super) fn search(&self, key: &[u8]) -> Checked<Result<usize, usize>> {
        let common = self.prefix.len().min(key.len());
        match key[..common].cmp(&self.prefix[..common]) {
            std::cmp::Ordering::Less => return Ok(Err(0)),
            std::cmp::Ordering::Greater => return Ok(Err(self.rows)),
            std::cmp::Ordering::Equal if common < self.prefix.len() => return Ok(Err(0)),
            std::cmp::Ordering::Equal => {}
        }
        let rest = &key[common..];
        if let Some(words) = KeyWords::new(&self.suffixes, rest, self.rows) {
            let row = words.rank(0, self.rows);
            let is_there = row < self.rows && words.is_equal(row);
            return Ok(if is_there { Ok(row) } else { Err(row) });
        }
        let (mut low, mut high) = (0, self.rows);
        while low < high {
            let middle = (low + high) / 2;
            match self.suffixes.get(middle)?.cmp(rest) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Ok(middle)),
            }
        }
        Ok(Err(low))
    }

    /// Order of the first key relative to `key`.
    pub(super) fn compare_first(&self, key: &[u8]) -> Checked<std::cmp::Ordering> {
        let (start, rest) = key.split_at(self.prefix.len().min(key.len()));
        let first = self.suffixes.get(0)?;
        Ok(self.prefix.cmp(start).then_with(|| first.cmp(rest)))
    }

    /// Number of keys that are smaller than `key`.
    pub(super) fn rank(&self, key: &[u8]) -> Checked<usize> {
        Ok(match self.search(key)? {
            Ok(row) | Err(row) => row,
        })
    }

    /// [`Self::rank`], but in few steps where the rank is little more than `near`: successive lookups are often in key
    /// order.
    pub(super) fn rank_near(&self, key: &[u8], near: usize) -> Checked<usize> {
        let rest = key.strip_prefix(self.prefix);
        let words = rest.and_then(|rest| KeyWords::new(&self.suffixes, rest, self.rows));
        let Some(words) = words else {
            return self.rank(key);
        };
        let near = near.min(self.rows);
        if near == self.rows || !words.is_less(near) {
            return Ok(match near {
                0 => 0,
                _ if words.is_less(near - 1) => near,
                _ => words.rank(0, near - 1),
            });
        }
        let (mut low, mut step) = (near + 1, 1);
        while low + step <= self.rows && words.is_less(low + step - 1) {
            low += step;
            step *= 2;
        }
        Ok(words.rank(low, self.rows.min(low + step)))
    }
}

/// Encoding byte of a column of strings.
pub(super) const STRINGS: usize = 64;
/// Encoding byte of a dictionary-encoded column of strings.
pub(super) const CODED: usize = 65;
/// Encoding byte that precedes the width of numbers without their lowest bits.
pub(super) const SHIFTED: usize = 66;

pub(super) fn checksum_of(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}
