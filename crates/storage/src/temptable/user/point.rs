//! Point access by a unique key: for statements that read or change one row and need neither a handle nor batches.
//! Changes are recorded like those of writers.

use std::sync::Arc;

use mayfly_types::{PhysicalType, Result, Value};

use super::UserTable;
use super::content::{ColumnSet, Content, value_bytes, view_of};
use super::pin::ChangeBy;
use super::table_core::Core;
use super::tree::Position;
use super::undo::UndoLog;
use super::writer::{Change, Done, Stopped};
use crate::error::wrong_type;
use crate::key_encoding::{KeyEncoder, RowKeyEncoder};
use crate::table::{IndexId, RowChange, no_index};
use crate::temptable::rows::{Cell, Resolver};

/// The bytes of a slice of words.
#[expect(unsafe_code, reason = "rows are written into aligned memory")]
pub(super) fn bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: words are bytes of any value.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// Whether two rows have equal values in a column.
fn is_same(cell: &Cell, a: (&[u8], Resolver<'_>), b: (&[u8], Resolver<'_>)) -> bool {
    if (a.0[cell.null_byte] ^ b.0[cell.null_byte]) & cell.null_mask != 0 {
        return false;
    }
    if cell.ty == PhysicalType::Bytes {
        let (x, y) = (view_of(cell, a.0), view_of(cell, b.0));
        return x == y || x.0 as u64 == y.0 as u64 && value_bytes(a.1, &x) == value_bytes(b.1, &y);
    }
    let bytes = cell.offset..cell.offset + cell.byte_width();
    a.0[bytes.clone()] == b.0[bytes]
}

impl UserTable {
    /// Whether point access is possible: not if sessions share the table.
    pub fn has_single_rows(&self) -> bool {
        self.0.write_lock.is_none()
    }

    /// The encoder of the keys of rows in an index.
    pub fn row_keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>> {
        Self::row_keys_of(&self.0.shape.encoders, index)
    }

    /// The encoder of the keys of rows in an index of any table with these encoders, by index.
    pub fn row_keys_of(encoders: &[KeyEncoder], index: IndexId) -> Result<RowKeyEncoder<'_>> {
        let encoder = encoders.get(index.0).ok_or_else(no_index)?;
        Ok(RowKeyEncoder::new(encoder, super::tree::shorten_key))
    }

    /// Reads columns of the row with a key of a unique index into `values`, reusing its memory; returns whether the
    /// row exists.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub fn read_row(
        &self,
        (index, key): (IndexId, &[u8]),
        columns: &[usize],
        values: &mut Vec<Value>,
    ) -> Result<bool> {
        let core = &*self.0;
        core.see(|state| {
            let (content, pager) = (&state.content, &core.pager);
            let (_, Some(id)) = content.trees[index.0].find(pager, key)? else {
                return Ok(false);
            };
            let Some(row) = content.heap.read(pager, id)? else {
                return Ok(false);
            };
            let loaded = content.load_overflowed(core.fixed(), row)?;
            values.resize(columns.len(), Value::Null);
            for (value, column) in values.iter_mut().zip(columns) {
                let cell = &core.shape.layout.cells()[*column];
                // SAFETY: it is a row of the table, which is locked; its long values were loaded.
                let stored = unsafe { cell.get(row.as_ptr(), content.resolver()) };
                stored.read_into(cell.ty, value);
            }
            drop(loaded);
            Ok(true)
        })
    }

    /// Adds a row, given the values of all columns. Without `undo`, here and below, the change is permanent; it is
    /// atomic.
    pub fn insert_row(&self, values: &[Value], undo: Option<&UndoLog>) -> Result<RowChange> {
        self.change(undo, |change, row| {
            let layout = &change.core.shape.layout;
            row.resize(layout.width / 8, 0);
            let row = bytes(row);
            if !layout.write(row, values, change.sources) {
                return Err(Stopped::Error(wrong_type()));
            }
            change.insert(row)?;
            Ok(RowChange::Done)
        })
    }

    /// Updates columns of the row with a key of a unique index.
    pub fn update_row(
        &self,
        (index, key): (IndexId, &[u8]),
        columns: &[usize],
        values: &[Value],
        undo: Option<&UndoLog>,
    ) -> Result<RowChange> {
        self.change(undo, |change, row| {
            let core = change.core;
            let failed = |error| Stopped::Error(core.error(&error));
            let Some((_, id, old)) = find(core, change.content, index, key).map_err(failed)? else {
                return Ok(RowChange::Missing);
            };
            row.resize(core.shape.layout.width / 8, 0);
            let row = bytes(row);
            row.copy_from_slice(old);
            let loaded = change.content.load_overflowed(core.fixed(), old);
            let loaded = loaded.map_err(failed)?;
            let mut changed = ColumnSet::default();
            let mut same = true;
            for (column, value) in columns.iter().zip(values) {
                let cell = &core.shape.layout.cells()[*column];
                if !cell.set(row, value, change.sources) {
                    return Err(Stopped::Error(wrong_type()));
                }
                let resolver = change.sources.resolver(&change.content.blobs.directory);
                if !is_same(cell, (old, resolver), (row, resolver)) {
                    changed.add(*column);
                    same = false;
                }
            }
            drop(loaded);
            if same {
                return Ok(RowChange::Same);
            }
            change.update(id, row, changed)?;
            Ok(RowChange::Done)
        })
    }

    /// Deletes the row with a key of a unique index.
    pub fn delete_row(
        &self,
        (index, key): (IndexId, &[u8]),
        undo: Option<&UndoLog>,
    ) -> Result<RowChange> {
        self.change(undo, |change, _| {
            let core = change.core;
            let failed = |error| Stopped::Error(core.error(&error));
            let found = find(core, change.content, index, key).map_err(failed)?;
            let Some((position, id, _)) = found else {
                return Ok(RowChange::Missing);
            };
            change.delete(id, Some((index, position)))?;
            Ok(RowChange::Done)
        })
    }

    pub(super) fn change(
        &self,
        undo: Option<&UndoLog>,
        work: impl FnOnce(&mut Change<'_>, &mut Vec<u64>) -> Done<RowChange>,
    ) -> Result<RowChange> {
        let core: &Arc<Core> = &self.0;
        let (done, duplicate) = core.change(undo, ChangeBy::Nobody, |change, row| {
            // What may fail comes first: the change could not be undone.
            let compacted = change.content.compact(core.fixed());
            let compacted = compacted.map_err(|error| Stopped::Error(core.error(&error)));
            match compacted.and_then(|()| work(change, row)) {
                Ok(done) => (done, None),
                Err(stopped) => (RowChange::Duplicate, Some(stopped)),
            }
        })?;
        debug_assert_eq!(done == RowChange::Duplicate, duplicate.is_some());
        core.become_holder();
        Ok(done)
    }
}

/// The row with a key, and the position of the key's entry.
fn find<'c>(
    core: &Core,
    content: &'c Content,
    index: IndexId,
    key: &[u8],
) -> mayfly_memory::Result<Option<(Position, u64, &'c [u8])>> {
    let (position, Some(id)) = content.trees[index.0].find(&core.pager, key)? else {
        return Ok(None);
    };
    let row = content.heap.read(&core.pager, id)?;
    Ok(row.map(|row| (position, id, row)))
}
