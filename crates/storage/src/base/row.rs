//! Encoding of one row of a transaction: a NULL bitmap, then the values that are not NULL, fixed-width ones
//! little-endian, strings preceded by their length.

use mayfly_types::PhysicalType;

use super::block::{Block, Checked, Damaged, take};
use crate::values::StoredValue;

/// Appends a row of `columns` columns, whose values are given by `value`.
#[inline]
pub(super) fn encode<'v, E>(
    columns: usize,
    value: impl Fn(usize) -> Result<StoredValue<'v>, E>,
    out: &mut Vec<u8>,
) -> Result<(), E> {
    let start = out.len();
    out.resize(start + columns.div_ceil(8), 0);
    for number in 0..columns {
        match value(number)? {
            StoredValue::Null => out[start + number / 8] |= 1 << (number % 8),
            StoredValue::Word(word) => out.extend_from_slice(&word.to_le_bytes()),
            StoredValue::Decimal128(unscaled) => out.extend_from_slice(&unscaled.to_le_bytes()),
            StoredValue::Decimal256(unscaled) => out.extend_from_slice(&unscaled.to_le_bytes()),
            StoredValue::Bytes(bytes) => {
                out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                out.extend_from_slice(bytes);
            }
        }
    }
    Ok(())
}

/// Appends a row of a block.
pub(super) fn encode_from_block(
    types: &[PhysicalType],
    block: &Block<'_>,
    row: usize,
    out: &mut Vec<u8>,
) -> Checked<()> {
    let value = |number: usize| block.column(number)?.value(types[number], row);
    encode(types.len(), value, out)
}

/// Reader of a row's values, in column order.
pub(super) struct RowReader<'a> {
    row: &'a [u8],
    column: usize,
    at: usize,
}

impl<'a> RowReader<'a> {
    pub(super) fn new(types: &[PhysicalType], row: &'a [u8]) -> Self {
        Self {
            row,
            column: 0,
            at: types.len().div_ceil(8),
        }
    }

    /// The next column's value.
    #[inline]
    pub(super) fn next_value(&mut self, ty: PhysicalType) -> Checked<StoredValue<'a>> {
        let number = self.column;
        self.column += 1;
        let bits = self.row.get(number / 8).ok_or(Damaged)?;
        if bits >> (number % 8) & 1 == 1 {
            return Ok(StoredValue::Null);
        }
        Ok(match ty {
            PhysicalType::Decimal128(_) => {
                StoredValue::Decimal128(i128::from_le_bytes(self.take()?))
            }
            PhysicalType::Decimal256(_) => {
                StoredValue::Decimal256(arrow_buffer::i256::from_le_bytes(self.take()?))
            }
            PhysicalType::Bytes => {
                let length = u32::from_le_bytes(self.take()?) as usize;
                let bytes = self.row.get(self.at..self.at + length).ok_or(Damaged)?;
                self.at += length;
                StoredValue::Bytes(bytes)
            }
            PhysicalType::Bool
            | PhysicalType::Int64
            | PhysicalType::UInt64
            | PhysicalType::Float64 => StoredValue::Word(u64::from_le_bytes(self.take()?)),
        })
    }

    fn take<const N: usize>(&mut self) -> Checked<[u8; N]> {
        let bytes = take(self.row, self.at)?;
        self.at += N;
        Ok(bytes)
    }
}
