//! Fixed-length records: every value at its offset, strings with their maximum length.
//!
//! A record is a NULL bitmap, then the fields. A string is preceded by its length, in one byte if the maximum is up to
//! 255, else in two, like VARCHAR in MySQL.

use mayfly_storage::values::StoredValue;

use super::{Field, FieldKind, number};
use crate::refusal::{Outcome, Refusal};
use crate::spec::LegacyColumn;

#[derive(Debug, Clone, Copy)]
struct Place {
    field: Field,
    offset: usize,
    /// Bytes of the length before a string.
    prefix: usize,
    /// Bytes of the field behind the length.
    width: usize,
}

/// Layout of a record's fields.
#[derive(Debug, Clone)]
pub(crate) struct FixedLayout {
    places: Vec<Place>,
    length: usize,
}

/// Maximum length of a string in a record.
const TEXT_MAX: usize = u16::MAX as usize;

impl FixedLayout {
    /// The layout for columns that all have a maximum length; `None` for others.
    pub(crate) fn new(columns: &[LegacyColumn]) -> Option<Self> {
        let mut offset = columns.len().div_ceil(8);
        let mut places = Vec::with_capacity(columns.len());
        for column in columns {
            let field = Field::new(column, false);
            let (prefix, width) = match field.kind {
                FieldKind::Number(width) => (0, width),
                FieldKind::Text(Some(max)) if max <= 255 => (1, max),
                FieldKind::Text(Some(max)) if max <= TEXT_MAX => (2, max),
                FieldKind::Text(_) => return None,
            };
            places.push(Place {
                field,
                offset,
                prefix,
                width,
            });
            offset += prefix + width;
        }
        Some(Self {
            places,
            length: offset,
        })
    }

    /// Number of columns.
    pub(crate) fn column_count(&self) -> usize {
        self.places.len()
    }

    /// Bytes of a record.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Writes the values of the columns from `first` on.
    pub(crate) fn put(
        &self,
        first: usize,
        values: &[StoredValue<'_>],
        record: &mut [u8],
    ) -> Outcome<()> {
        for (number, value) in (first..).zip(values) {
            let place = &self.places[number];
            let (byte, bit) = (number / 8, 1 << (number % 8));
            let field = &mut record[place.offset..place.offset + place.prefix + place.width];
            match value {
                StoredValue::Null => {
                    field.fill(0);
                    record[byte] |= bit;
                    continue;
                }
                StoredValue::Bytes(text) => {
                    if text.len() > place.width {
                        return Err(Refusal::LongValue);
                    }
                    let length = (text.len() as u16).to_le_bytes();
                    field[..place.prefix].copy_from_slice(&length[..place.prefix]);
                    let (stored, padding) = field[place.prefix..].split_at_mut(text.len());
                    stored.copy_from_slice(text);
                    padding.fill(0);
                }
                value => {
                    if !number::put(place.field.ty, *value, field) {
                        return Err(Refusal::LongValue);
                    }
                }
            }
            record[byte] &= !bit;
        }
        Ok(())
    }

    /// A column's value.
    #[inline]
    pub(crate) fn get<'a>(&self, column: usize, record: &'a [u8]) -> StoredValue<'a> {
        let place = &self.places[column];
        if record[column / 8] & 1 << (column % 8) != 0 {
            return StoredValue::Null;
        }
        let field = &record[place.offset..place.offset + place.prefix + place.width];
        match place.field.kind {
            FieldKind::Number(_) => number::get(place.field.ty, field),
            FieldKind::Text(_) => {
                let (length, text) = field.split_at(place.prefix);
                let length = length.iter().rev();
                let length = length.fold(0, |length, byte| length << 8 | usize::from(*byte));
                StoredValue::Bytes(&text[..length.min(text.len())])
            }
        }
    }
}
