//! Writer of one table's rows, which reports duplicate keys.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray};
use mayfly_storage::{RowsWritten, Table, TableWriter};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType, Value, json, typed_array};

use crate::catalog::definition::{KeyDefinition, TableDefinition};
use crate::catalog::{BaseTable, indexes};
use crate::convert;
use crate::session::StatementContext;
use crate::statements::writers::foreign_keys::Links;

/// A duplicate key: another row has the key of the row to be written.
pub(crate) struct Conflict {
    /// The key's index in the definition.
    key: Option<usize>,
    /// Whether no later key can have a duplicate.
    pub(crate) is_last_key: bool,
    /// The position of the row that has the key.
    pub(crate) position: Vec<u8>,
}

impl Conflict {
    /// The key that both rows have.
    pub(crate) fn key<'d>(&self, definition: &'d TableDefinition) -> Option<&'d KeyDefinition> {
        definition.keys.get(self.key?)
    }
}

/// Writer of rows, as the session sees them, for one statement.
pub(crate) struct RowWriter {
    pub(crate) table: Arc<BaseTable>,
    handle: Arc<dyn Table>,
    writer: Option<Box<dyn TableWriter>>,
    /// Whether a duplicate key only refuses or skips the row.
    pub(crate) refuses_duplicates: bool,
    /// The last unique index, if a row has one key in it.
    last_key: Option<usize>,
    /// Whether written rows stay if the statement fails.
    pub(crate) stays: bool,
    /// Whether foreign keys are not checked.
    pub(crate) is_apart: bool,
    /// The table's foreign keys, once they were read.
    pub(crate) links: Option<Arc<Links>>,
}

impl Drop for RowWriter {
    fn drop(&mut self) {
        if self.stays && !std::thread::panicking() {
            // The statement has failed already.
            let _ = self.flush();
        }
    }
}

impl RowWriter {
    /// A writer over a statement's handle to the table.
    pub(crate) fn new(
        context: &StatementContext<'_>,
        table: Arc<BaseTable>,
        handle: Arc<dyn Table>,
        is_apart: bool,
    ) -> Self {
        // In a multi-valued index a row may conflict with several others.
        let mut indexes = handle.indexes().iter();
        let last_key = indexes.rposition(|index| index.unique);
        let last_key = last_key.filter(|last| handle.indexes()[*last].method.has_each_row());
        Self {
            handle,
            writer: None,
            refuses_duplicates: false,
            last_key,
            stays: table.changes_directly(context),
            table,
            is_apart,
            links: None,
        }
    }

    /// The store's writer.
    pub(crate) fn writer(&mut self) -> Result<&mut Box<dyn TableWriter>> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let mut writer = self.handle.writer()?;
                if self.refuses_duplicates {
                    writer.refuses_duplicates();
                }
                writer
            }
        };
        Ok(self.writer.insert(writer))
    }

    /// Adds rows up to the first that conflicts; returns how many.
    pub(crate) fn insert(&mut self, rows: &Batch) -> Result<(usize, Option<Conflict>)> {
        let written = self.writer()?.insert(rows)?;
        Ok(self.written(written))
    }

    /// Replaces rows up to the first that conflicts; returns how many.
    pub(crate) fn update(
        &mut self,
        positions: &ArrayRef,
        rows: &Batch,
    ) -> Result<(usize, Option<Conflict>)> {
        let written = self.writer()?.update(positions, rows)?;
        Ok(self.written(written))
    }

    fn written(&self, written: RowsWritten) -> (usize, Option<Conflict>) {
        let statistics = &self.table.column_statistics;
        statistics.count_changes(written.rows as u64);
        let conflict = written.duplicate.map(|duplicate| Conflict {
            key: indexes::position_of_index(&self.table.definition, duplicate.index),
            is_last_key: Some(duplicate.index.0) == self.last_key,
            position: duplicate.position,
        });
        (written.rows, conflict)
    }

    /// Error 1062 for a row, with the values that the session sees.
    pub(crate) fn duplicate_entry(&self, conflict: &Conflict, shown: &Batch, row: usize) -> Error {
        let definition = &self.table.definition;
        let Some(key) = conflict.key(definition) else {
            return codes::ER_DUP_ENTRY.with(&[&"", &definition.name]);
        };
        let entry = key_text(definition, key, shown, row);
        let name = format!("{}.{}", definition.name, key.name);
        codes::ER_DUP_ENTRY.with(&[&entry, &name])
    }

    /// Discards what was written since the last flush.
    pub(crate) fn forget(&mut self) {
        self.writer = None;
    }

    /// Makes what was written visible to later statements. More can be written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match self.writer.take() {
            Some(writer) => writer.finish(),
            None => Ok(()),
        }
    }
}

/// The values of a row in a key's parts, as errors about duplicate keys show them.
pub(crate) fn key_text(
    definition: &TableDefinition,
    key: &KeyDefinition,
    shown: &Batch,
    row: usize,
) -> String {
    let mut entry = Vec::new();
    for (index, part) in key.parts.iter().enumerate() {
        if index > 0 {
            entry.push(b'-');
        }
        let position = part.stored_column();
        let column = &definition.columns[position];
        let ty = &column.ty;
        let mut value = Vec::new();
        if let Some(elements) = column.elements() {
            entry.extend(array_text(shown.column(position), row, elements));
            continue;
        }
        convert::display_row(shown.column(position), row, ty, &mut value);
        let value = key_prefix(&value, part.prefix);
        if ty.is_binary_string() {
            show_bytes(value, &mut entry);
        } else {
            entry.extend_from_slice(value);
        }
    }
    String::from_utf8_lossy(&entry).into_owned()
}

/// The array of a multi-valued key part as JSON, cut to the length of the key part as in MySQL.
fn array_text(column: &ArrayRef, row: usize, elements: &SqlType) -> Vec<u8> {
    let Value::Bytes(array) = convert::value_at(column, row) else {
        return b"NULL".to_vec();
    };
    let mut text = b"[".to_vec();
    for (index, element) in typed_array::elements(&array, elements.physical()).enumerate() {
        if index > 0 {
            text.extend_from_slice(b", ");
        }
        let value = convert::display(&element, elements);
        if elements.is_numeric() {
            text.extend_from_slice(&value);
        } else {
            json::append_quoted(&mut text, &value);
        }
    }
    text.push(b']');
    // A string's key part has two more bytes for its length.
    let length_bytes = if elements.is_string() { 2 } else { 0 };
    let most = elements.declared_bytes(None).saturating_sub(length_bytes);
    let mut end = text.len().min(usize::try_from(most).unwrap_or(usize::MAX));
    while text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// Bytes as an error shows them: non-ASCII bytes as `\xNN`.
fn show_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b' '..=b'~' => out.push(*byte),
            _ => out.extend_from_slice(format!("\\x{byte:02X}").as_bytes()),
        }
    }
}

/// The prefix of a value that is in a key.
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

/// A position as a batch of one row.
pub(crate) fn one_position(position: &[u8]) -> ArrayRef {
    Arc::new(BinaryViewArray::from_iter_values([position]))
}
