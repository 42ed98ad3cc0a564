//! Rows and indexes of a table, and changes of single rows.
//!
//! A change is atomic: what may fail for lack of memory or because of a file is done first, and where a later index
//! fails the earlier ones are restored. Only when that fails too is the table lost: [`Failure::Broken`].

use std::convert::Infallible;

use mayfly_memory::{MemoryError, Result};
use mayfly_types::PhysicalType;

use super::blobs::{Blobs, Loaded};
use super::heap::Heap;
use super::pages::Pager;
use super::tree::{Position, Tree, push_id, shorten_key};
use crate::key_encoding::KeyEncoder;
use crate::table::{IndexId, IndexSpec};
use crate::temptable::rows::{Cell, Resolver, RowLayout, View};

/// Definition of a table, fixed at its creation.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) columns: Vec<PhysicalType>,
    pub(super) indexes: Vec<IndexSpec>,
    pub(super) encoders: Vec<KeyEncoder>,
    /// The columns of each index.
    pub(super) key_columns: Vec<ColumnSet>,
    pub(super) layout: RowLayout,
}

/// Parts of a table beside its rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed<'a> {
    pub(super) shape: &'a Shape,
    pub(super) pager: &'a Pager,
}

/// Set of columns; those from the 64th on share one bit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColumnSet(u64);

impl ColumnSet {
    /// Every column.
    pub(super) const ALL: Self = Self(u64::MAX);

    #[inline]
    pub(super) fn add(&mut self, column: usize) {
        self.0 |= 1 << column.min(63);
    }

    /// Whether two sets have a column in common.
    #[inline]
    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl FromIterator<usize> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = usize>>(columns: I) -> Self {
        let mut set = Self::default();
        columns.into_iter().for_each(|column| set.add(column));
        set
    }
}

/// Reason why a row was not changed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another row, of this number, has an equal key in this index.
    Duplicate(IndexId, u64),
    /// Memory or a file failed; nothing was changed.
    Memory(MemoryError),
    /// Memory or a file failed, and indexes and rows do not fit together any more.
    Broken(MemoryError),
}

/// Result of a change of a row.
pub(super) type Changed<T> = std::result::Result<T, Failure>;

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

/// Buffers reused from row to row.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Entries to be changed.
    changes: EntryChanges,
    key: Vec<u8>,
    page: Vec<u8>,
    row: Vec<u8>,
}

/// List of entries to be changed, with reusable buffers behind its end.
#[derive(Debug, Default)]
struct EntryChanges {
    changes: Vec<EntryChange>,
    len: usize,
}

/// Entry of an index that is added, and one that is removed, when a row is changed: their keys, or empty ones.
#[derive(Debug)]
struct EntryChange {
    index: usize,
    new: Vec<u8>,
    old: Vec<u8>,
    /// Position of the new entry, if known.
    new_at: Position,
    /// Position of the old entry, if known.
    old_at: Position,
}

impl Default for EntryChange {
    fn default() -> Self {
        Self {
            index: 0,
            new: Vec::new(),
            old: Vec::new(),
            new_at: Position::UNKNOWN,
            old_at: Position::UNKNOWN,
        }
    }
}

impl EntryChanges {
    fn clear(&mut self) {
        self.len = 0;
    }

    fn as_slice(&self) -> &[EntryChange] {
        &self.changes[..self.len]
    }

    /// Adds a change of an entry of an index; both of its keys are empty.
    fn add(&mut self, index: usize) -> &mut EntryChange {
        if self.len == self.changes.len() {
            self.changes.push(EntryChange::default());
        }
        let change = &mut self.changes[self.len];
        self.len += 1;
        change.index = index;
        change.new.clear();
        change.old.clear();
        (change.new_at, change.old_at) = (Position::UNKNOWN, Position::UNKNOWN);
        change
    }
}

impl Scratch {
    /// A buffer for a page.
    pub(super) fn page(&mut self) -> &mut Vec<u8> {
        &mut self.page
    }

    /// Whether the buffers are small enough to keep.
    pub(super) fn is_small(&self) -> bool {
        let changes = self.changes.changes.iter();
        let keys = changes.flat_map(|change| [&change.new, &change.old]);
        let keys: usize = keys.map(Vec::capacity).sum();
        keys + self.key.capacity() + self.page.capacity() + self.row.capacity() < 16 << 10
    }
}

/// Calls `each` with the key of each entry that a row, which is added or removed, has in an index, in ascending order.
/// `key` is a buffer.
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
#[inline]
fn each_entry<E>(
    shape: &Shape,
    index: usize,
    (row, resolver): (&[u8], Resolver<'_>),
    key: &mut Vec<u8>,
    each: impl FnMut(&mut Vec<u8>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    debug_assert_eq!(row.len(), shape.layout.width);
    let cells = shape.layout.cells();
    // SAFETY: the row is of the layout; the resolver finds its long values in memory, where they stay until the key is
    // made.
    let value = |column: usize| unsafe { Ok(cells[column].get(row.as_ptr(), resolver)) };
    shape.encoders[index].each_entry(value, key, each)
}

/// Calls `each` with the keys of a stored row in an index, as trees hold them.
pub(super) fn entries_of(
    shape: &Shape,
    index: usize,
    source: (&[u8], Resolver<'_>),
    key: &mut Vec<u8>,
    mut each: impl FnMut(&mut Vec<u8>),
) {
    let Ok::<(), Infallible>(()) = each_entry(shape, index, source, key, |key| {
        shorten_key(key);
        each(key);
        Ok(())
    });
}

/// Exchanges `to` with a key, as trees hold it.
fn set_key(to: &mut Vec<u8>, key: &mut Vec<u8>) {
    shorten_key(key);
    std::mem::swap(to, key);
}

/// A string's view in a row.
#[inline(always)]
pub(super) fn view_of(cell: &Cell, row: &[u8]) -> View {
    match row[cell.offset..].first_chunk::<16>() {
        Some(bytes) => View(u128::from_le_bytes(*bytes)),
        None => View(0),
    }
}

fn set_view(cell: &Cell, row: &mut [u8], view: View) {
    row[cell.offset..cell.offset + 16].copy_from_slice(&view.0.to_le_bytes());
}

/// Rows and indexes of a table. A clone is a snapshot.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) heap: Heap,
    pub(super) trees: Vec<Tree>,
    pub(super) blobs: Blobs,
    /// Whether the indexes that are not unique have no entries yet: see [`super::bulk`].
    pub(super) is_unsorted: bool,
    /// Index of the part that is asked first to release memory.
    turn: usize,
}

impl Content {
    /// No rows, with pages of `page_length` bytes, and blocks of `block_length` bytes for long values.
    pub(super) fn new(shape: &Shape, page_length: usize, block_length: usize) -> Self {
        Self {
            heap: Heap::new(shape.layout.width, page_length),
            trees: shape.indexes.iter().map(|_| Tree::new()).collect(),
            blobs: Blobs::new(block_length),
            is_unsorted: false,
            turn: 0,
        }
    }

    /// Removes all rows of a table of a page for each of its parts, and keeps the pages for the next rows. Returns false,
    /// and changes nothing, if the table is larger, has overflowed or has snapshots.
    pub(super) fn clear(&mut self) -> bool {
        let is_clearable = self.heap.is_clearable()
            && self.trees.iter_mut().all(Tree::is_clearable)
            && self.blobs.is_clearable();
        if is_clearable {
            self.heap.clear();
            self.trees.iter_mut().for_each(Tree::clear);
            self.blobs.clear();
            self.is_unsorted = false;
        }
        is_clearable
    }

    /// Resolver of the long values of stored rows.
    pub(super) fn resolver(&self) -> Resolver<'_> {
        Resolver::stored(&self.blobs.directory)
    }

    /// Resolver of the long values of stored rows and of a row that is not stored yet.
    fn resolver_of<'a>(&'a self, transient: &'a [*const u8]) -> Resolver<'a> {
        Resolver {
            directory: &self.blobs.directory,
            transient,
        }
    }

    /// Pins the long values of a row in memory.
    pub(super) fn load_values(&self, fixed: Fixed<'_>, row: &[u8]) -> Result<Loaded> {
        let cells = fixed.shape.layout.bytes_cells.iter();
        self.blobs
            .load(fixed.pager, cells.map(|cell| view_of(cell, row)))
    }

    /// [`Self::load_values`], but does nothing for a table that never overflowed.
    #[inline]
    pub(super) fn load_overflowed(&self, fixed: Fixed<'_>, row: &[u8]) -> Result<Option<Loaded>> {
        if fixed.pager.has_overflowed() {
            self.load_values(fixed, row).map(Some)
        } else {
            Ok(None)
        }
    }

    fn free_value(&mut self, view: View) {
        if !view.is_inline() {
            self.blobs.free(view);
        }
    }

    fn free_values(&mut self, shape: &Shape, row: &[u8]) {
        for cell in &shape.layout.bytes_cells {
            self.free_value(view_of(cell, row));
        }
    }

    /// The position for the key of a new row in an index, if it is determined; error 1062 for a duplicate of a unique
    /// key.
    fn position_of_new(
        &self,
        fixed: Fixed<'_>,
        row: &[u8],
        index: usize,
        key: &[u8],
    ) -> Changed<Position> {
        if !fixed.shape.indexes[index].unique {
            return Ok(Position::UNKNOWN);
        }
        let is_null = |column: usize| {
            let cell = &fixed.shape.layout.cells()[column];
            row[cell.null_byte] & cell.null_mask != 0
        };
        let mut parts = fixed.shape.indexes[index].parts.iter();
        if parts.any(|part| is_null(part.column)) {
            return Ok(Position::UNKNOWN);
        }
        match self.trees[index].find(fixed.pager, key)? {
            // Another entry of the row may come before it.
            (_, None) if fixed.shape.encoders[index].is_multi_valued() => Ok(Position::UNKNOWN),
            (position, None) => Ok(position),
            (_, Some(id)) => Err(Failure::Duplicate(IndexId(index), id)),
        }
    }

    /// Computes the new entries of a row in every index; `is_checked` also finds their positions.
    fn find_new_keys(
        &self,
        fixed: Fixed<'_>,
        row: &[u8],
        transient: &[*const u8],
        scratch: &mut Scratch,
        is_checked: bool,
    ) -> Changed<()> {
        let Scratch { changes, key, .. } = scratch;
        changes.clear();
        for index in 0..self.trees.len() {
            if self.is_left_out(fixed, index) {
                continue;
            }
            let source = (row, self.resolver_of(transient));
            each_entry(fixed.shape, index, source, key, |key| {
                let change = changes.add(index);
                set_key(&mut change.new, key);
                if is_checked {
                    change.new_at = self.position_of_new(fixed, row, index, &change.new)?;
                }
                Ok::<_, Failure>(())
            })?;
        }
        Ok(())
    }

    /// Adds the changes of a row's entries in an index: the old ones that the new row, whose long values are at
    /// `transient`, does not have, and its own.
    fn find_changed_keys(
        &self,
        fixed: Fixed<'_>,
        index: usize,
        (row, transient): (&[u8], &[*const u8]),
        scratch: &mut Scratch,
    ) -> Changed<()> {
        let Scratch {
            changes,
            key,
            row: old,
            ..
        } = scratch;
        let (old, new) = (
            (old.as_slice(), self.resolver()),
            (row, self.resolver_of(transient)),
        );
        let first = changes.len;
        let Ok::<(), Infallible>(()) = each_entry(fixed.shape, index, old, key, |key| {
            set_key(&mut changes.add(index).old, key);
            Ok(())
        });
        let end = changes.len;
        each_entry(fixed.shape, index, new, key, |key| {
            shorten_key(key);
            let mut olds = changes.changes[first..end].iter_mut();
            if let Some(same) = olds.find(|change| change.old == *key) {
                same.old.clear();
                return Ok(());
            }
            let new_at = self.position_of_new(fixed, row, index, key)?;
            let change = match fixed.shape.encoders[index].is_multi_valued() {
                true => changes.add(index),
                // The entry replaces the old one.
                false => &mut changes.changes[first],
            };
            std::mem::swap(&mut change.new, key);
            change.new_at = new_at;
            Ok::<_, Failure>(())
        })
    }

    /// Adds a row, whose long values are at `transient`, and returns its number. The row's views are changed to the
    /// stored values.
    pub(super) fn insert(
        &mut self,
        fixed: Fixed<'_>,
        row: &mut [u8],
        transient: &[*const u8],
        scratch: &mut Scratch,
    ) -> Changed<u64> {
        self.find_new_keys(fixed, row, transient, scratch, true)?;
        self.store_values(fixed, None, row, transient)?;
        let id = match self.heap.insert(fixed.pager, row) {
            Ok(id) => id,
            Err(error) => {
                self.free_values(fixed.shape, row);
                return Err(error.into());
            }
        };
        if let Err(error) = self.change_entries(fixed.pager, id, scratch) {
            self.heap.remove(fixed.pager, id).map_err(Failure::Broken)?;
            self.free_values(fixed.shape, row);
            return Err(error);
        }
        Ok(id)
    }

    /// Deletes a row, which may have been found by an index entry; false if there is no such row. `before` is called
    /// with the row and its resolver before anything is changed.
    pub(super) fn delete(
        &mut self,
        fixed: Fixed<'_>,
        (id, found): (u64, Option<(IndexId, Position)>),
        scratch: &mut Scratch,
        before: impl FnOnce(&[u8], Resolver<'_>) -> Result<()>,
    ) -> Changed<bool> {
        let Some(row) = self.heap.read(fixed.pager, id)? else {
            return Ok(false);
        };
        scratch.row.clear();
        scratch.row.extend_from_slice(row);
        let loaded = self.load_overflowed(fixed, row)?;
        let Scratch {
            changes, key, row, ..
        } = &mut *scratch;
        changes.clear();
        for index in 0..self.trees.len() {
            if self.is_left_out(fixed, index) {
                continue;
            }
            let source = (row.as_slice(), self.resolver());
            let Ok::<(), Infallible>(()) = each_entry(fixed.shape, index, source, key, |key| {
                let change = changes.add(index);
                set_key(&mut change.old, key);
                // A row is found by an index that has one entry for it.
                if let Some((by, position)) = found
                    && by.0 == index
                {
                    change.old_at = position;
                }
                Ok(())
            });
        }
        // The page is made writable before the row is removed from the indexes.
        self.heap.write(fixed.pager, id)?;
        before(&scratch.row, self.resolver())?;
        self.change_entries(fixed.pager, id, scratch)?;
        self.heap.remove(fixed.pager, id).map_err(Failure::Broken)?;
        drop(loaded);
        let row = std::mem::take(&mut scratch.row);
        self.free_values(fixed.shape, &row);
        scratch.row = row;
        Ok(true)
    }

    /// Replaces a row by a new one, from which it may differ in `columns`; false if there is no such row. `row`,
    /// `transient` and its views are as for [`Self::insert`], `before` as for [`Self::delete`].
    pub(super) fn update(
        &mut self,
        fixed: Fixed<'_>,
        id: u64,
        (row, transient, columns): (&mut [u8], &[*const u8], ColumnSet),
        scratch: &mut Scratch,
        before: impl FnOnce(&[u8], Resolver<'_>) -> Result<()>,
    ) -> Changed<bool> {
        let Some(old) = self.heap.read(fixed.pager, id)? else {
            return Ok(false);
        };
        scratch.row.clear();
        scratch.row.extend_from_slice(old);
        let loaded = self.load_overflowed(fixed, old)?;
        scratch.changes.clear();
        for index in 0..self.trees.len() {
            if !self.is_left_out(fixed, index)
                && fixed.shape.key_columns[index].meets(columns)
                && !has_same_key(fixed.shape, index, row, &scratch.row)
            {
                self.find_changed_keys(fixed, index, (&*row, transient), scratch)?;
            }
        }
        self.heap.write(fixed.pager, id)?;
        before(&scratch.row, self.resolver())?;
        let old_row = std::mem::take(&mut scratch.row);
        let stored = self.store_values(fixed, Some(&old_row), row, transient);
        drop(loaded);
        scratch.row = old_row;
        stored?;
        let changed = self.change_entries(fixed.pager, id, scratch);
        let goes: &[u8] = if changed.is_ok() { &scratch.row } else { row };
        let stays: &[u8] = if changed.is_ok() { row } else { &scratch.row };
        for cell in &fixed.shape.layout.bytes_cells {
            let (going, staying) = (view_of(cell, goes), view_of(cell, stays));
            if going != staying && !going.is_inline() {
                self.blobs.free(going);
            }
        }
        changed?;
        let stored = self.heap.write(fixed.pager, id).map_err(Failure::Broken)?;
        stored.copy_from_slice(row);
        Ok(true)
    }

    /// Copies the long values of a new row, which are at `transient`, to blocks of the table; values that equal those
    /// of the old row, if there is one, stay where they are.
    fn store_values(
        &mut self,
        fixed: Fixed<'_>,
        old: Option<&[u8]>,
        row: &mut [u8],
        transient: &[*const u8],
    ) -> Result<()> {
        let cells = &fixed.shape.layout.bytes_cells;
        let old_of = |cell: &Cell| old.map_or(View(0), |old| view_of(cell, old));
        for (index, cell) in cells.iter().enumerate() {
            let (view, old_view) = (view_of(cell, row), old_of(cell));
            if view.is_inline() || view == old_view {
                continue;
            }
            let value = value_bytes(self.resolver_of(transient), &view);
            let is_same = view.0 as u64 == old_view.0 as u64
                && value == value_bytes(self.resolver(), &old_view);
            let stored = if is_same {
                Ok(old_view)
            } else {
                self.blobs.append(fixed.pager, view, value)
            };
            match stored {
                Ok(view) => set_view(cell, row, view),
                Err(error) => {
                    for cell in &cells[..index] {
                        let view = view_of(cell, row);
                        if view != old_of(cell) {
                            self.free_value(view);
                        }
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Replaces a row's old entries by its new ones, in all indexes or in none.
    fn change_entries(&mut self, pager: &Pager, id: u64, scratch: &mut Scratch) -> Changed<()> {
        let Scratch { changes, page, .. } = scratch;
        for number in 0..changes.len {
            let EntryChange {
                index,
                new,
                old,
                new_at,
                old_at,
            } = &mut changes.changes[number];
            for entry in [&mut *new, &mut *old] {
                if !entry.is_empty() {
                    push_id(entry, id);
                }
            }
            let (old, new) = ((old.as_slice(), *old_at), (new.as_slice(), *new_at));
            if let Err(error) = self.trees[*index].exchange(pager, old, new, page) {
                for change in &changes.as_slice()[..number] {
                    let old = (change.new.as_slice(), Position::UNKNOWN);
                    let new = (change.old.as_slice(), Position::UNKNOWN);
                    let undone = self.trees[change.index].exchange(pager, old, new, page);
                    undone.map_err(Failure::Broken)?;
                }
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Puts a deleted row back under its number.
    pub(super) fn restore(
        &mut self,
        fixed: Fixed<'_>,
        id: u64,
        (row, transient): (&mut [u8], &[*const u8]),
        scratch: &mut Scratch,
    ) -> Changed<()> {
        self.find_new_keys(fixed, row, transient, scratch, false)?;
        self.store_values(fixed, None, row, transient)?;
        self.heap.restore(fixed.pager, id, row)?;
        self.change_entries(fixed.pager, id, scratch)
    }

    /// Compaction: moves long values out of blocks that mostly belong to deleted rows.
    pub(super) fn compact(&mut self, fixed: Fixed<'_>) -> Result<()> {
        if !self.blobs.is_sparse() {
            return Ok(());
        }
        let mut moved: Vec<u64> = Vec::new();
        for page in 0..self.heap.page_numbers() {
            let Some(view) = self.heap.view(fixed.pager, page)? else {
                continue;
            };
            moved.clear();
            let bytes = view.bytes();
            let width = fixed.shape.layout.width;
            self.heap.rows_of(page, bytes, 0, |id, row| {
                let offset = row as usize - bytes.as_ptr() as usize;
                let row = &bytes[offset..offset + width];
                let is_in_sparse = |cell: &Cell| {
                    let view = view_of(cell, row);
                    !view.is_inline() && self.blobs.is_in_sparse_block(view)
                };
                if fixed.shape.layout.bytes_cells.iter().any(is_in_sparse) {
                    moved.push(id);
                }
                true
            });
            drop(view);
            for id in &moved {
                self.move_values(fixed, *id)?;
                self.relieve(fixed.pager)?;
            }
        }
        Ok(())
    }

    fn move_values(&mut self, fixed: Fixed<'_>, id: u64) -> Result<()> {
        let mut row = self.heap.write(fixed.pager, id)?.to_vec();
        let loaded = self.load_values(fixed, &row)?;
        let directory = std::sync::Arc::clone(&self.blobs.directory);
        let mut old = Vec::new();
        for cell in &fixed.shape.layout.bytes_cells {
            let view = view_of(cell, &row);
            if view.is_inline() || !self.blobs.is_in_sparse_block(view) {
                continue;
            }
            let value = value_bytes(Resolver::stored(&directory), &view);
            let moved = self.blobs.append(fixed.pager, view, value)?;
            set_view(cell, &mut row, moved);
            old.push(view);
        }
        drop(loaded);
        self.heap.write(fixed.pager, id)?.copy_from_slice(&row);
        for view in old {
            self.blobs.free(view);
        }
        Ok(())
    }

    /// Evicts pages when the limit was passed. Called before each row change, while no page is in use.
    #[inline]
    pub(super) fn relieve(&mut self, pager: &Pager) -> Result<()> {
        if pager.is_pressed()
            && let Some(wanted) = pager.excess()
        {
            self.evict(pager, wanted)?;
        }
        Ok(())
    }

    /// Evicts about `wanted` bytes to the file, the coldest first.
    pub(super) fn evict(&mut self, pager: &Pager, wanted: u64) -> Result<u64> {
        let mut freed = pager.evict_old(wanted)?;
        for any in [false, true] {
            for _ in 0..self.trees.len() + 2 {
                if freed >= wanted {
                    return Ok(freed);
                }
                self.turn = (self.turn + 1) % (self.trees.len() + 2);
                let more = wanted - freed;
                freed += match self.turn {
                    0 => self.heap.pages_mut().evict(pager, more, any)?,
                    1 => self.blobs.evict(pager, more, any)?,
                    tree => self.trees[tree - 2].pages_mut().evict(pager, more, any)?,
                };
            }
        }
        Ok(freed)
    }
}

/// A string's bytes.
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
pub(super) fn value_bytes<'a>(resolver: Resolver<'_>, view: &'a View) -> &'a [u8] {
    // SAFETY: the callers' resolver keeps the rows' values in memory while they are used.
    unsafe { resolver.bytes(view) }
}

/// Whether two rows have equal keys, as far as their cells tell.
fn has_same_key(shape: &Shape, index: usize, a: &[u8], b: &[u8]) -> bool {
    shape.indexes[index].parts.iter().all(|part| {
        let cell = &shape.layout.cells()[part.column];
        let nulls = (a[cell.null_byte] ^ b[cell.null_byte]) & cell.null_mask;
        let bytes = cell.offset..cell.offset + cell.byte_width();
        let is_long = cell.ty == PhysicalType::Bytes && !view_of(cell, a).is_inline();
        nulls == 0 && !is_long && a[bytes.clone()] == b[bytes]
    })
}
