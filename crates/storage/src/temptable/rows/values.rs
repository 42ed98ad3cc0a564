//! Single rows from values and to values, without arrays.

use arrow_buffer::i256;
use mayfly_types::{PhysicalType, Value};

use super::encode::Sources;
use super::equality::Resolver;
use super::layout::{Cell, RowLayout, View};

/// The digits of a decimal at a scale that is not smaller than its own.
fn rescaled(unscaled: i256, from: u8, to: u8) -> Option<i256> {
    if from == to {
        return Some(unscaled);
    }
    let power = i256::from(10_i64).checked_pow(u32::from(to.checked_sub(from)?))?;
    unscaled.checked_mul(power)
}

/// Reads and writes one row's bytes.
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
impl Cell {
    /// Sets the column of a row. A long value stays where it is, which `sources` remembers until its
    /// next batch: it must live so long. False, and nothing is set, when the value is not of the
    /// column's type.
    #[inline]
    pub(crate) fn set(&self, row: &mut [u8], value: &Value, sources: &mut Sources) -> bool {
        let cell = &mut row[self.offset..self.offset + self.byte_width()];
        match (value, self.ty) {
            (Value::Null, _) => cell.fill(0),
            (_, PhysicalType::Int64 | PhysicalType::Bool) => {
                let word = match value {
                    Value::Int(value) => *value,
                    Value::UInt(value) if i64::try_from(*value).is_ok() => value.cast_signed(),
                    _ => return false,
                };
                cell.copy_from_slice(&word.to_le_bytes());
            }
            (_, PhysicalType::UInt64) => {
                let word = match value {
                    Value::UInt(value) => *value,
                    Value::Int(value) if *value >= 0 => value.cast_unsigned(),
                    _ => return false,
                };
                cell.copy_from_slice(&word.to_le_bytes());
            }
            (Value::Float(value), PhysicalType::Float64) => {
                cell.copy_from_slice(&value.to_le_bytes());
            }
            (Value::Decimal { unscaled, scale }, PhysicalType::Decimal128(its)) => {
                match rescaled(*unscaled, *scale, its).and_then(i256::to_i128) {
                    Some(unscaled) => cell.copy_from_slice(&unscaled.to_le_bytes()),
                    None => return false,
                }
            }
            (Value::Decimal { unscaled, scale }, PhysicalType::Decimal256(its)) => {
                match rescaled(*unscaled, *scale, its) {
                    Some(unscaled) => cell.copy_from_slice(&unscaled.to_le_bytes()),
                    None => return false,
                }
            }
            (Value::Bytes(bytes), PhysicalType::Bytes) => {
                let Ok(length) = u32::try_from(bytes.len()) else {
                    return false;
                };
                cell[..4].copy_from_slice(&length.to_le_bytes());
                if length <= View::INLINE_MAX {
                    cell[4..4 + bytes.len()].copy_from_slice(bytes);
                    cell[4 + bytes.len()..].fill(0);
                } else {
                    cell[4..8].copy_from_slice(&bytes[..4]);
                    let buffer = sources.number_of_value(bytes);
                    cell[8..12].copy_from_slice(&buffer.to_le_bytes());
                    cell[12..].fill(0);
                }
            }
            _ => return false,
        }
        match value {
            Value::Null => row[self.null_byte] |= self.null_mask,
            _ => row[self.null_byte] &= !self.null_mask,
        }
        true
    }

    /// Puts the column of a row into `value`, whose memory is used again.
    ///
    /// # Safety
    /// `row` points to a row of the layout of the cell, whose long values are in memory where
    /// `resolver` finds them.
    #[inline]
    pub(crate) unsafe fn get(&self, row: *const u8, resolver: Resolver<'_>, value: &mut Value) {
        // SAFETY: as promised by the caller.
        unsafe {
            if self.is_null(row) {
                *value = Value::Null;
                return;
            }
            match self.ty {
                PhysicalType::Bool | PhysicalType::Int64 => {
                    *value = Value::Int(self.word(row).cast_signed());
                }
                PhysicalType::UInt64 => *value = Value::UInt(self.word(row)),
                PhysicalType::Float64 => *value = Value::Float(f64::from_bits(self.word(row))),
                PhysicalType::Decimal128(scale) => {
                    let unscaled = i256::from_i128(self.wide(row).cast_signed());
                    *value = Value::Decimal { unscaled, scale };
                }
                PhysicalType::Decimal256(scale) => {
                    let unscaled = row.add(self.offset).cast::<i256>().read_unaligned();
                    *value = Value::Decimal { unscaled, scale };
                }
                PhysicalType::Bytes => {
                    let view = self.view(row);
                    let bytes = resolver.bytes(&view);
                    match value {
                        Value::Bytes(before) => {
                            before.clear();
                            before.extend_from_slice(bytes);
                        }
                        other => *other = Value::Bytes(bytes.to_vec()),
                    }
                }
            }
        }
    }
}

impl RowLayout {
    /// Writes a row of values, as [`Cell::set`] does; false when one is not of its column's type.
    pub(crate) fn write(&self, row: &mut [u8], values: &[Value], sources: &mut Sources) -> bool {
        row[..8 + self.extra_null_bytes].fill(0);
        let mut cells = self.cells().iter().zip(values);
        values.len() == self.cells().len()
            && cells.all(|(cell, value)| cell.set(row, value, sources))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
mod tests {
    use super::*;
    use crate::temptable::rows::Directory;

    #[test]
    fn what_was_set_is_got() {
        let columns = [
            PhysicalType::Int64,
            PhysicalType::UInt64,
            PhysicalType::Float64,
            PhysicalType::Decimal128(2),
            PhysicalType::Decimal256(3),
            PhysicalType::Bytes,
            PhysicalType::Bytes,
        ];
        let layout = RowLayout::new(&columns);
        let decimal = |unscaled: i128, scale| Value::Decimal {
            unscaled: i256::from_i128(unscaled),
            scale,
        };
        let values = [
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Float(-0.5),
            decimal(-1234, 2),
            decimal(i128::MIN, 3),
            Value::from("twelve bytes"),
            Value::from("thirteen byte"),
        ];
        let nulls = vec![Value::Null; values.len()];
        let mut row = vec![0xFF; layout.width];
        for values in [&values[..], &nulls, &values] {
            let mut sources = Sources::transient_only();
            assert!(layout.write(&mut row, values, &mut sources));
            let directory = Directory::default();
            for (cell, value) in layout.cells().iter().zip(values) {
                let mut got = Value::from("before");
                // SAFETY: the row was written above, its values live.
                unsafe { cell.get(row.as_ptr(), sources.resolver(&directory), &mut got) };
                assert_eq!(got, *value);
            }
        }
        let mut sources = Sources::transient_only();
        let cell = &layout.cells()[0];
        assert!(cell.set(&mut row, &Value::UInt(1), &mut sources));
        assert!(!cell.set(&mut row, &Value::UInt(u64::MAX), &mut sources));
        let cell = &layout.cells()[1];
        assert!(!cell.set(&mut row, &Value::Int(-1), &mut sources));
        let cell = &layout.cells()[3];
        assert!(cell.set(&mut row, &decimal(1, 1), &mut sources));
        assert!(!cell.set(&mut row, &decimal(1, 3), &mut sources));
    }
}
