//! Unique keys, checked by sets of key values.
//!
//! Each PRIMARY or UNIQUE key keeps the set of its rows' values as sort keys of their collations, so
//! that two values are equal exactly when MySQL's index holds them equal. Rows with a NULL in a
//! UNIQUE key are not in its set. The sets grow with the table; their bytes are charged to it.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use mayfly_memory::Reservation;
use mayfly_storage::{BaseTableContext, Resources};
use mayfly_types::{Batch, CollationId, PhysicalType, Result, SqlType};

use super::definition::{KeyTarget, TableDefinition};

/// Memory is reserved in steps of this.
const STEP_BYTES: u64 = 64 << 10;
/// What a row of a set costs besides its bytes: the set's slot and the allocation.
const SLOT_BYTES: u64 = 40;

/// The unique keys of a table.
#[derive(Debug)]
pub(crate) struct UniqueKeys {
    /// The table, as messages name it.
    table: String,
    keys: Vec<UniqueKey>,
    /// At least `bytes`.
    memory: Reservation,
    bytes: u64,
    resources: Resources,
    /// Values added by the statement that writes now, to be taken back if it fails.
    pending: Vec<(usize, Box<[u8]>)>,
}

#[derive(Debug)]
struct UniqueKey {
    /// Among the unique keys of the definition.
    place: usize,
    columns: Vec<KeyColumn>,
    values: HashSet<Box<[u8]>>,
}

#[derive(Debug)]
struct KeyColumn {
    position: usize,
    ty: SqlType,
    prefix: Option<u64>,
}

impl UniqueKeys {
    /// The keys of a table without rows.
    pub(crate) fn new(definition: &TableDefinition, context: &BaseTableContext) -> Self {
        let column = |part: &super::definition::KeyPart| match part.target {
            KeyTarget::Column(position) => Some(KeyColumn {
                position,
                ty: definition.columns[position].ty.clone(),
                prefix: part.prefix,
            }),
            KeyTarget::Expression(_) => None,
        };
        let keys = definition.unique_keys().enumerate();
        let keys = keys.filter_map(|(place, key)| {
            Some(UniqueKey {
                place,
                columns: key.parts.iter().map(column).collect::<Option<_>>()?,
                values: HashSet::new(),
            })
        });
        Self {
            keys: keys.collect(),
            table: definition.name.clone(),
            memory: context.memory.reservation(),
            bytes: 0,
            resources: context.resources.clone(),
            pending: Vec::new(),
        }
    }

    /// For a table whose store keeps its keys unique: nothing to check.
    pub(crate) fn none(definition: &TableDefinition, context: &BaseTableContext) -> Self {
        Self {
            keys: Vec::new(),
            table: definition.name.clone(),
            memory: context.memory.reservation(),
            bytes: 0,
            resources: context.resources.clone(),
            pending: Vec::new(),
        }
    }

    /// The same keys of the table under another definition, in which names may differ.
    pub(crate) fn rename(&mut self, definition: &TableDefinition) {
        self.table.clone_from(&definition.name);
        let is_column =
            |part: &super::definition::KeyPart| matches!(part.target, KeyTarget::Column(_));
        let places = definition.unique_keys().enumerate();
        let places = places.filter(|(_, key)| key.parts.iter().all(is_column));
        for (key, (place, _)) in self.keys.iter_mut().zip(places) {
            key.place = place;
        }
    }

    /// Whether there is nothing to check.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Adds a row's values to every key; a row that is there already adds none, and the first key
    /// in which it is comes back, by its place.
    pub(crate) fn add(&mut self, batch: &Batch, row: usize) -> Result<Option<usize>> {
        let first = self.pending.len();
        for index in 0..self.keys.len() {
            let key = &self.keys[index];
            let Some(value) = key_bytes(&key.columns, batch, row) else {
                continue;
            };
            let value = value.into_boxed_slice();
            if key.values.contains(&value) {
                let place = key.place;
                self.take_back(first);
                return Ok(Some(place));
            }
            if let Err(error) = self.resize(self.bytes + SLOT_BYTES + value.len() as u64) {
                self.take_back(first);
                return Err(error);
            }
            self.keys[index].values.insert(value.clone());
            self.pending.push((index, value));
        }
        Ok(None)
    }

    fn resize(&mut self, bytes: u64) -> Result<()> {
        let reserved = bytes.next_multiple_of(STEP_BYTES);
        if reserved != self.memory.bytes() {
            self.resources
                .resize_working_set(&mut self.memory, reserved, &self.table)?;
        }
        self.bytes = bytes;
        Ok(())
    }

    fn take_back(&mut self, first: usize) {
        let mut bytes = self.bytes;
        for (index, value) in self.pending.drain(first..) {
            if self.keys[index].values.remove(&value) {
                bytes -= SLOT_BYTES + value.len() as u64;
            }
        }
        // Giving back is never refused.
        let _ = self.resize(bytes);
    }

    /// The rows that were added are visible now.
    pub(crate) fn commit(&mut self) {
        self.pending = Vec::new();
    }

    /// The rows that were added never came to be.
    pub(crate) fn roll_back(&mut self) {
        self.take_back(0);
        self.pending = Vec::new();
    }

    /// The table has no rows any more.
    pub(crate) fn clear(&mut self) {
        for key in &mut self.keys {
            key.values = HashSet::new();
        }
        self.pending = Vec::new();
        self.memory.free();
        self.bytes = 0;
    }
}

/// A row's key as bytes; `None` when a part is NULL.
fn key_bytes(columns: &[KeyColumn], batch: &Batch, row: usize) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(16 * columns.len());
    for column in columns {
        let array = batch.column(column.position);
        if array.is_null(row) {
            return None;
        }
        append_part(&mut key, array, row, column);
    }
    Some(key)
}

fn append_part(key: &mut Vec<u8>, array: &ArrayRef, row: usize, column: &KeyColumn) {
    match column.ty.physical() {
        PhysicalType::Int64 | PhysicalType::Bool => {
            key.extend(array.as_primitive::<Int64Type>().value(row).to_be_bytes());
        }
        PhysicalType::UInt64 => {
            key.extend(array.as_primitive::<UInt64Type>().value(row).to_be_bytes());
        }
        PhysicalType::Float64 => {
            // Both zeroes are equal.
            let number = array.as_primitive::<Float64Type>().value(row);
            let number = if number == 0.0 { 0.0 } else { number };
            key.extend(number.to_be_bytes());
        }
        PhysicalType::Decimal128(_) => {
            key.extend(
                array
                    .as_primitive::<Decimal128Type>()
                    .value(row)
                    .to_be_bytes(),
            );
        }
        PhysicalType::Decimal256(_) => {
            key.extend(
                array
                    .as_primitive::<Decimal256Type>()
                    .value(row)
                    .to_be_bytes(),
            );
        }
        PhysicalType::Bytes => {
            let bytes = prefix(array.as_binary_view().value(row), column);
            let start = key.len();
            key.extend([0; 4]);
            column.ty.collation.append_sort_key(bytes, key);
            // The length in front keeps ('a', 'bc') and ('ab', 'c') apart.
            let length = u32::try_from(key.len() - start - 4).unwrap_or(u32::MAX);
            key[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
}

fn prefix<'a>(bytes: &'a [u8], column: &KeyColumn) -> &'a [u8] {
    let Some(prefix) = column
        .prefix
        .and_then(|prefix| usize::try_from(prefix).ok())
    else {
        return bytes;
    };
    if column.ty.collation == CollationId::BINARY {
        return &bytes[..prefix.min(bytes.len())];
    }
    let text = std::str::from_utf8(bytes).unwrap_or("");
    let end = text
        .char_indices()
        .nth(prefix)
        .map_or(bytes.len(), |(end, _)| end);
    &bytes[..end]
}
