//! Packed rows: a value takes its actual length.
//!
//! A row is a NULL bitmap, then the values that are not NULL: numbers in their declared width, strings preceded by
//! their length. A length below 254 is one byte; a larger one is 255 and four bytes. 254 precedes the location of a
//! value that is stored elsewhere ([`External`]).

use mayfly_storage::values::StoredValue;

use super::{Field, FieldKind, number};
use crate::refusal::{Outcome, Refusal};
use crate::spec::LegacyColumn;

const LONG: u8 = 255;
const EXTERNAL: u8 = 254;
/// Bytes of the location of a value that is stored elsewhere.
const EXTERNAL_BYTES: usize = 12;

/// Error: a row's bytes cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Location of a value outside its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct External {
    /// The first page.
    pub(crate) page: u32,
    /// Length of the value.
    pub(crate) length: u64,
}

/// Value in a packed row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PackedValue<'a> {
    Value(StoredValue<'a>),
    External(External),
}

/// Layout of packed rows.
#[derive(Debug, Clone)]
pub(crate) struct PackedLayout {
    fields: Vec<Field>,
}

impl PackedLayout {
    pub(crate) fn new(columns: &[LegacyColumn], natural: bool) -> Self {
        let fields = columns.iter().map(|column| Field::new(column, natural));
        Self {
            fields: fields.collect(),
        }
    }

    /// Bytes of the NULL bitmap.
    pub(crate) fn null_bytes(&self) -> usize {
        self.fields.len().div_ceil(8)
    }

    /// Encodes a row into `out`.
    pub(crate) fn pack<'a>(
        &self,
        row: impl IntoIterator<Item = PackedValue<'a>>,
        out: &mut Vec<u8>,
    ) -> Outcome<()> {
        out.clear();
        out.resize(self.null_bytes(), 0);
        self.append(0, row, out)
    }

    /// Encodes a row into `out` with the values of `old` before column `first`, and new ones from there on.
    pub(crate) fn repack<'a>(
        &self,
        old: &[u8],
        first: usize,
        row: impl IntoIterator<Item = PackedValue<'a>>,
        out: &mut Vec<u8>,
    ) -> Outcome<()> {
        let mut end = self.null_bytes();
        let kept = self.each(old, |column, _, behind| {
            if column < first {
                end = behind;
            }
        });
        out.clear();
        match old.get(..end) {
            Some(kept_bytes) if kept.is_ok() => out.extend_from_slice(kept_bytes),
            _ => return Err(Refusal::LongValue),
        }
        self.append(first, row, out)
    }

    fn append<'a>(
        &self,
        first: usize,
        row: impl IntoIterator<Item = PackedValue<'a>>,
        out: &mut Vec<u8>,
    ) -> Outcome<()> {
        for (column, value) in (first..).zip(row) {
            let (byte, bit) = (column / 8, 1 << (column % 8));
            out[byte] &= !bit;
            match value {
                PackedValue::Value(StoredValue::Null) => out[byte] |= bit,
                PackedValue::Value(StoredValue::Bytes(text)) => {
                    if let FieldKind::Text(Some(max)) = self.fields[column].kind
                        && text.len() > max
                    {
                        return Err(Refusal::LongValue);
                    }
                    append_length(text.len(), out)?;
                    out.extend_from_slice(text);
                }
                PackedValue::Value(value) => {
                    let FieldKind::Number(width) = self.fields[column].kind else {
                        return Err(Refusal::LongValue);
                    };
                    let start = out.len();
                    out.resize(start + width, 0);
                    if !number::put(self.fields[column].ty, value, &mut out[start..]) {
                        return Err(Refusal::LongValue);
                    }
                }
                PackedValue::External(external) => {
                    out.push(EXTERNAL);
                    out.extend_from_slice(&external.page.to_le_bytes());
                    out.extend_from_slice(&external.length.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// Calls `take` with each column, its value, and the offset behind it.
    #[inline]
    pub(crate) fn each<'a>(
        &self,
        row: &'a [u8],
        mut take: impl FnMut(usize, PackedValue<'a>, usize),
    ) -> Result<(), Damaged> {
        let nulls = row.get(..self.null_bytes()).ok_or(Damaged)?;
        let mut at = nulls.len();
        for (column, field) in self.fields.iter().enumerate() {
            if nulls[column / 8] & 1 << (column % 8) != 0 {
                take(column, PackedValue::Value(StoredValue::Null), at);
                continue;
            }
            let value = match field.kind {
                FieldKind::Number(width) => {
                    let bytes = row.get(at..at + width).ok_or(Damaged)?;
                    at += width;
                    PackedValue::Value(number::get(field.ty, bytes))
                }
                FieldKind::Text(_) if row.get(at) == Some(&EXTERNAL) => {
                    let place = row.get(at + 1..at + 1 + EXTERNAL_BYTES).ok_or(Damaged)?;
                    at += 1 + EXTERNAL_BYTES;
                    let (page, length) = place.split_first_chunk().ok_or(Damaged)?;
                    PackedValue::External(External {
                        page: u32::from_le_bytes(*page),
                        length: u64::from_le_bytes(length.try_into().map_err(|_| Damaged)?),
                    })
                }
                FieldKind::Text(_) => {
                    let (length, behind) = read_length(row, at).ok_or(Damaged)?;
                    let text = row.get(behind..behind + length).ok_or(Damaged)?;
                    at = behind + length;
                    PackedValue::Value(StoredValue::Bytes(text))
                }
            };
            take(column, value, at);
        }
        if at == row.len() {
            Ok(())
        } else {
            Err(Damaged)
        }
    }
}

/// Appends a length.
pub(super) fn append_length(length: usize, out: &mut Vec<u8>) -> Outcome<()> {
    match u8::try_from(length) {
        Ok(short) if short < EXTERNAL => out.push(short),
        _ => {
            let long = u32::try_from(length).map_err(|_| Refusal::LongValue)?;
            out.push(LONG);
            out.extend_from_slice(&long.to_le_bytes());
        }
    }
    Ok(())
}

/// A length, and the offset of the bytes that it counts.
#[inline]
fn read_length(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    match *bytes.get(at)? {
        LONG => {
            let long = bytes.get(at + 1..at + 5)?;
            Some((u32::from_le_bytes(long.try_into().ok()?) as usize, at + 5))
        }
        short => Some((usize::from(short), at + 1)),
    }
}
