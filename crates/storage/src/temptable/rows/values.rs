//! Conversion of single rows from and to values, without arrays.

use mayfly_types::{PhysicalType, Value};

use super::encode::Sources;
use super::equality::Resolver;
use super::layout::{Cell, RowLayout, View};
use crate::values::StoredValue;

/// Access to one cell of a row's bytes.
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
impl Cell {
    /// Sets the column of a row. A long value stays where it is, which `sources` remembers until its next batch: it
    /// must live that long. Returns false, and sets nothing, when the value is not of the column's type.
    #[inline]
    pub(crate) fn set(&self, row: &mut [u8], value: &Value, sources: &mut Sources) -> bool {
        let Some(value) = StoredValue::of(self.ty, value) else {
            return false;
        };
        match value {
            StoredValue::Null => row[self.offset..self.offset + self.byte_width()].fill(0),
            StoredValue::Word(word) => self.put(row, word.to_le_bytes()),
            StoredValue::Decimal128(unscaled) => self.put(row, unscaled.to_le_bytes()),
            StoredValue::Decimal256(unscaled) => self.put(row, unscaled.to_le_bytes()),
            StoredValue::Bytes(bytes) => {
                let Ok(length) = u32::try_from(bytes.len()) else {
                    return false;
                };
                let buffer = if length > View::INLINE_MAX {
                    sources.number_of_value(bytes)
                } else {
                    0
                };
                let view = View::of(bytes, buffer, 0);
                self.put(row, view.0.to_le_bytes());
            }
        }
        match value {
            StoredValue::Null => row[self.null_byte] |= self.null_mask,
            _ => row[self.null_byte] &= !self.null_mask,
        }
        true
    }

    /// Sets all bytes of the cell.
    #[inline(always)]
    fn put<const WIDTH: usize>(&self, row: &mut [u8], bytes: [u8; WIDTH]) {
        debug_assert_eq!(WIDTH, self.byte_width());
        row[self.offset..self.offset + WIDTH].copy_from_slice(&bytes);
    }

    /// The value of the column of a row.
    ///
    /// # Safety
    /// `row` points to a row of the layout of the cell. Row and long values, which `resolver` finds in memory, stay
    /// there for `'v`.
    #[inline(always)]
    pub(crate) unsafe fn get<'v>(&self, row: *const u8, resolver: Resolver<'_>) -> StoredValue<'v> {
        // SAFETY: as promised by the caller; wide reads are of wide cells.
        unsafe {
            if self.is_null(row) {
                return StoredValue::Null;
            }
            match self.ty {
                PhysicalType::Bool
                | PhysicalType::Int64
                | PhysicalType::UInt64
                | PhysicalType::Float64 => StoredValue::Word(self.word(row)),
                PhysicalType::Decimal128(_) => {
                    StoredValue::Decimal128(self.wide(row).cast_signed())
                }
                PhysicalType::Decimal256(_) => StoredValue::Decimal256(self.wider(row)),
                PhysicalType::Bytes => {
                    let view = self.view(row);
                    let start = if view.is_inline() {
                        row.add(self.offset + 4)
                    } else {
                        resolver.address(view)
                    };
                    let length = view.length() as usize;
                    StoredValue::Bytes(std::slice::from_raw_parts(start, length))
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
    use arrow_buffer::i256;

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
                let stored = unsafe { cell.get(row.as_ptr(), sources.resolver(&directory)) };
                stored.read_into(cell.ty, &mut got);
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
