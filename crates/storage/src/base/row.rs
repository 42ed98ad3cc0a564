//! One row of a transaction as bytes: a bit for each column that is NULL, then the values that are
//! not, fixed-width ones little-endian, strings with their length before.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Result, Value};

use super::block::{Block, Checked, Damaged, Values};
use crate::key_encoding::StoredValue;
use crate::table::wrong_type;

/// Appends a row of some arrays, one for each column of the tree.
pub(super) fn encode<'a>(
    types: &[PhysicalType],
    arrays: impl Iterator<Item = &'a ArrayRef>,
    row: usize,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.resize(start + types.len().div_ceil(8), 0);
    for (number, (ty, array)) in types.iter().zip(arrays).enumerate() {
        if array.is_null(row) {
            out[start + number / 8] |= 1 << (number % 8);
            continue;
        }
        match ty {
            PhysicalType::Bool => {
                let value = u64::from(array.as_boolean().value(row));
                out.extend_from_slice(&value.to_le_bytes());
            }
            PhysicalType::Int64 => {
                let value = array.as_primitive::<Int64Type>().value(row);
                out.extend_from_slice(&value.to_le_bytes());
            }
            PhysicalType::UInt64 => {
                let value = array.as_primitive::<UInt64Type>().value(row);
                out.extend_from_slice(&value.to_le_bytes());
            }
            PhysicalType::Float64 => {
                let value = array.as_primitive::<Float64Type>().value(row);
                out.extend_from_slice(&value.to_bits().to_le_bytes());
            }
            PhysicalType::Decimal128(_) => {
                let value = array.as_primitive::<Decimal128Type>().value(row);
                out.extend_from_slice(&value.to_le_bytes());
            }
            PhysicalType::Decimal256(_) => {
                let value = array.as_primitive::<Decimal256Type>().value(row);
                out.extend_from_slice(&value.to_le_bytes());
            }
            PhysicalType::Bytes => {
                let value = array.as_binary_view().value(row);
                out.extend_from_slice(&(value.len() as u32).to_le_bytes());
                out.extend_from_slice(value);
            }
        }
    }
}

/// Appends a row of values of its columns' types.
pub(super) fn encode_values<'a>(
    types: &[PhysicalType],
    values: impl Iterator<Item = &'a Value>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    out.resize(start + types.len().div_ceil(8), 0);
    for (number, (ty, value)) in types.iter().zip(values).enumerate() {
        match StoredValue::of(*ty, value).ok_or_else(wrong_type)? {
            StoredValue::Null => out[start + number / 8] |= 1 << (number % 8),
            StoredValue::Word(word) => out.extend_from_slice(&word.to_le_bytes()),
            StoredValue::Wide(unscaled) => out.extend_from_slice(&unscaled.to_le_bytes()),
            StoredValue::Wider(unscaled) => out.extend_from_slice(&unscaled.to_le_bytes()),
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
    let start = out.len();
    out.resize(start + types.len().div_ceil(8), 0);
    for (number, ty) in types.iter().enumerate() {
        let column = block.column(number)?;
        if column.is_null(row) {
            out[start + number / 8] |= 1 << (number % 8);
            continue;
        }
        match (ty, column.values) {
            (PhysicalType::Bytes, values) => {
                let value = values.text(row)?;
                out.extend_from_slice(&(value.len() as u32).to_le_bytes());
                out.extend_from_slice(value);
            }
            (_, Values::Narrow { base, width, bytes }) => {
                let value = Values::narrow(base, width, bytes, row)?;
                let length = ty_width(*ty);
                out.extend_from_slice(&value.to_le_bytes());
                let sign = if length > 8 && (value as i64) < 0 {
                    u8::MAX
                } else {
                    0
                };
                out.resize(out.len() + length.saturating_sub(8), sign);
            }
            (PhysicalType::Decimal128(_), Values::Wide(words)) => {
                out.extend_from_slice(words.get(row).ok_or(Damaged)?);
            }
            (PhysicalType::Decimal256(_), Values::Huge(words)) => {
                out.extend_from_slice(words.get(row).ok_or(Damaged)?);
            }
            _ => return Err(Damaged),
        }
    }
    Ok(())
}

fn ty_width(ty: PhysicalType) -> usize {
    match ty {
        PhysicalType::Decimal128(_) => 16,
        PhysicalType::Decimal256(_) => 32,
        _ => 8,
    }
}

/// Puts a row's value of a column of a block into `value`, whose memory is used again.
pub(super) fn read_from_block(
    ty: PhysicalType,
    block: &Block<'_>,
    column: usize,
    row: usize,
    value: &mut Value,
) -> Checked<()> {
    let column = block.column(column)?;
    if column.is_null(row) {
        *value = Value::Null;
        return Ok(());
    }
    match column.values {
        values @ (Values::Strings(_) | Values::Coded(_)) => {
            read_bytes(ty, values.text(row)?, value)
        }
        Values::Narrow { base, width, bytes } => {
            let word = Values::narrow(base, width, bytes, row)?;
            match ty {
                PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                    let unscaled = i256::from(word.cast_signed());
                    *value = Value::Decimal { unscaled, scale };
                    Ok(())
                }
                _ => read_bytes(ty, &word.to_le_bytes(), value),
            }
        }
        Values::Wide(words) => read_bytes(ty, words.get(row).ok_or(Damaged)?, value),
        Values::Huge(words) => read_bytes(ty, words.get(row).ok_or(Damaged)?, value),
    }
}

/// The same, of the bytes that [`RowReader`] gives.
pub(super) fn read_bytes(ty: PhysicalType, bytes: &[u8], value: &mut Value) -> Checked<()> {
    let word = || {
        bytes
            .try_into()
            .map(u64::from_le_bytes)
            .map_err(|_| Damaged)
    };
    match ty {
        PhysicalType::Bool | PhysicalType::Int64 => *value = Value::Int(word()?.cast_signed()),
        PhysicalType::UInt64 => *value = Value::UInt(word()?),
        PhysicalType::Float64 => *value = Value::Float(f64::from_bits(word()?)),
        PhysicalType::Decimal128(scale) => {
            let unscaled = i128::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?);
            let unscaled = i256::from_i128(unscaled);
            *value = Value::Decimal { unscaled, scale };
        }
        PhysicalType::Decimal256(scale) => {
            let unscaled = i256::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?);
            *value = Value::Decimal { unscaled, scale };
        }
        PhysicalType::Bytes => match value {
            Value::Bytes(before) => {
                before.clear();
                before.extend_from_slice(bytes);
            }
            other => *other = Value::Bytes(bytes.to_vec()),
        },
    }
    Ok(())
}

/// Reads the values of a row, one column after the other.
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

    /// The bytes of the next column's value; `None` for NULL.
    #[inline]
    pub(super) fn next_value(&mut self, ty: PhysicalType) -> Checked<Option<&'a [u8]>> {
        let number = self.column;
        self.column += 1;
        let bits = self.row.get(number / 8).ok_or(Damaged)?;
        if bits >> (number % 8) & 1 == 1 {
            return Ok(None);
        }
        let length = match ty {
            PhysicalType::Bytes => {
                let word = self.row.get(self.at..self.at + 4).ok_or(Damaged)?;
                self.at += 4;
                u32::from_le_bytes(word.try_into().map_err(|_| Damaged)?) as usize
            }
            _ => ty_width(ty),
        };
        let value = self.row.get(self.at..self.at + length).ok_or(Damaged)?;
        self.at += length;
        Ok(Some(value))
    }
}
