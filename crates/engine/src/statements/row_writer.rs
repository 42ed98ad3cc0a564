//! Where rows go: a table's writer, in whose way may be rows with the same keys.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray};
use mayfly_storage::{RowsWritten, Table, TableWriter};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result};

use crate::catalog::BaseTable;
use crate::catalog::definition::{KeyDefinition, KeyTarget};
use crate::catalog::indexes;
use crate::convert;

/// A row that cannot be written because its like is there already.
pub(super) struct Conflict<'t> {
    /// The key in which it is.
    key: Option<&'t KeyDefinition>,
    /// No other key can be in the way.
    pub(super) is_last_key: bool,
    /// The row that is there.
    pub(super) position: Vec<u8>,
}

/// Writes rows, as the session sees them, for one statement.
pub(super) struct RowWriter<'t> {
    table: &'t BaseTable,
    writer: Option<Box<dyn TableWriter>>,
    unique_indexes: usize,
}

impl<'t> RowWriter<'t> {
    /// A writer over a statement's handle to the table.
    pub(super) fn new(table: &'t BaseTable, handle: &dyn Table) -> Result<Self> {
        let indexes = handle.indexes().iter();
        Ok(Self {
            table,
            writer: Some(handle.writer()?),
            unique_indexes: indexes.filter(|index| index.unique).count(),
        })
    }

    fn writer(&mut self) -> Result<&mut Box<dyn TableWriter>> {
        let ended = || codes::ER_UNKNOWN_ERROR.with(&[&"the writer of a table has ended"]);
        self.writer.as_mut().ok_or_else(ended)
    }

    /// Adds rows up to the first that conflicts; how many.
    pub(super) fn insert(&mut self, rows: &Batch) -> Result<(usize, Option<Conflict<'t>>)> {
        let written = self.writer()?.insert(rows)?;
        Ok(self.written(written))
    }

    /// Puts rows in place of others up to the first that conflicts; how many.
    pub(super) fn update(
        &mut self,
        positions: &ArrayRef,
        rows: &Batch,
    ) -> Result<(usize, Option<Conflict<'t>>)> {
        let written = self.writer()?.update(positions, rows)?;
        Ok(self.written(written))
    }

    fn written(&self, written: RowsWritten) -> (usize, Option<Conflict<'t>>) {
        let conflict = written.duplicate.map(|duplicate| Conflict {
            key: indexes::key_of_index(&self.table.definition, duplicate.index),
            is_last_key: duplicate.index.0 + 1 == self.unique_indexes,
            position: duplicate.position,
        });
        (written.rows, conflict)
    }

    /// Removes rows; how many were there.
    pub(super) fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        self.writer()?.delete(positions)
    }

    /// The row at a position as it is now.
    pub(super) fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        self.writer()?.current(position)
    }

    /// Error 1062 for a row of a batch in which it stands as the session sees it.
    pub(super) fn duplicate_entry(
        &self,
        conflict: &Conflict<'_>,
        shown: &Batch,
        row: usize,
    ) -> Error {
        let definition = &self.table.definition;
        let Some(key) = conflict.key else {
            return codes::ER_DUP_ENTRY.with(&[&"", &definition.name]);
        };
        let mut entry = Vec::new();
        for (index, part) in key.parts.iter().enumerate() {
            if index > 0 {
                entry.push(b'-');
            }
            let KeyTarget::Column(position) = part.target else {
                continue;
            };
            let ty = &definition.columns[position].ty;
            let mut value = Vec::new();
            convert::display_row(shown.column(position), row, ty, &mut value);
            let value = key_prefix(&value, part.prefix);
            if ty.is_binary_string() {
                show_bytes(value, &mut entry);
            } else {
                entry.extend_from_slice(value);
            }
        }
        let entry = String::from_utf8_lossy(&entry).into_owned();
        let name = format!("{}.{}", definition.name, key.name);
        codes::ER_DUP_ENTRY.with(&[&entry, &name])
    }

    /// Makes the changes visible, all at once.
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(())
    }
}

/// Bytes as an error shows them: those that are no ASCII character as `\xNN`.
fn show_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b' '..=b'~' => out.push(*byte),
            _ => out.extend_from_slice(format!("\\x{byte:02X}").as_bytes()),
        }
    }
}

/// The characters of a value that are in a key.
fn key_prefix(value: &[u8], prefix: Option<u64>) -> &[u8] {
    let Some(length) = prefix.and_then(|prefix| usize::try_from(prefix).ok()) else {
        return value;
    };
    let end = match std::str::from_utf8(value) {
        Ok(text) => text.char_indices().nth(length).map(|(end, _)| end),
        Err(_) => Some(length),
    };
    &value[..end.unwrap_or(value.len()).min(value.len())]
}

/// A position as a batch of one.
pub(super) fn one_position(position: &[u8]) -> ArrayRef {
    Arc::new(BinaryViewArray::from_iter_values([position]))
}
