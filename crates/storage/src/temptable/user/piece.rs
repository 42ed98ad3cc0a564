//! Rows that are read together and become a batch.
//!
//! A piece records the addresses of its rows while it borrows the content that they are in, so the rows and their long
//! values stay in memory until the columns are gathered. In a table that has overflowed a piece ends early, when the
//! pages that it read exceed the table's memory.

use mayfly_types::{Batch, PhysicalType};

use super::blobs::Loaded;
use super::content::{Content, view_of};
use super::positions::positions;
use super::table_core::Core;
use crate::scan_request::ColumnId;
use crate::temptable::rows::{Cell, Gather};

/// Rows that are pinned in memory until they are gathered.
pub(super) struct Piece<'a> {
    core: &'a Core,
    content: &'a Content,
    columns: &'a [ColumnId],
    /// Cells of the string columns among those gathered.
    strings: Vec<&'a Cell>,
    rows: Vec<*const u8>,
    ids: Vec<u64>,
    has_positions: bool,
    loaded: Loaded,
    forced: u64,
}

impl<'a> Piece<'a> {
    pub(super) fn new(core: &'a Core, content: &'a Content, columns: &'a [ColumnId]) -> Self {
        let cells = core.shape.layout.cells();
        let mut strings: Vec<&Cell> = Vec::new();
        if core.pager.has_overflowed() {
            strings.extend(columns.iter().filter_map(|column| cells.get(column.0)));
            strings.retain(|cell| cell.ty == PhysicalType::Bytes);
        }
        Self {
            core,
            content,
            columns,
            strings,
            rows: Vec::new(),
            ids: Vec::new(),
            has_positions: columns.contains(&ColumnId::POSITION),
            loaded: content.blobs.loaded(),
            forced: core.pager.times_forced(),
        }
    }

    /// Whether the piece should be gathered before more rows are read.
    #[inline]
    pub(super) fn is_enough(&self) -> bool {
        self.core.pager.has_read_enough(self.forced)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the row of a number; false if there is none.
    pub(super) fn add(&mut self, id: u64) -> mayfly_memory::Result<bool> {
        match self.content.heap.read(&self.core.pager, id)? {
            Some(row) => self.add_row(id, row).map(|()| true),
            None => Ok(false),
        }
    }

    /// Adds a row that stays in memory.
    #[inline]
    pub(super) fn add_row(&mut self, id: u64, row: &[u8]) -> mayfly_memory::Result<()> {
        if !self.strings.is_empty() {
            let views = self.strings.iter().map(|cell| view_of(cell, row));
            let blobs = &self.content.blobs;
            blobs.load_more(&self.core.pager, views, &mut self.loaded)?;
        }
        self.rows.push(row.as_ptr());
        if self.has_positions {
            self.ids.push(id);
        }
        Ok(())
    }

    /// The addresses of the rows, to add rows that stay in memory; `None` if more than that is recorded of them.
    pub(super) fn addresses(&mut self) -> Option<&mut Vec<*const u8>> {
        let is_free = self.strings.is_empty() && !self.has_positions;
        is_free.then_some(&mut self.rows)
    }

    /// The columns of the rows.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub(super) fn gather(self, scratch: &mut Gather) -> Batch {
        let (core, content) = (self.core, self.content);
        // SAFETY: the rows are in pages of the content, which is borrowed, or stay in memory as
        // the callers of `add_row` promise; their values were loaded.
        unsafe { gather(core, content, scratch, &self.rows, &self.ids, self.columns) }
    }
}

/// The rows of these numbers, without those that do not exist.
pub(super) fn fetch(
    core: &Core,
    content: &Content,
    scratch: &mut Gather,
    ids: &mut Vec<u64>,
    columns: &[ColumnId],
) -> mayfly_memory::Result<Batch> {
    let mut piece = Piece::new(core, content, columns);
    for id in &mut *ids {
        if !piece.add(*id)? {
            *id = u64::MAX;
        }
    }
    ids.retain(|id| *id != u64::MAX);
    Ok(piece.gather(scratch))
}

/// The columns of rows that are in memory with their values.
///
/// # Safety
/// Each of `rows` is a row of the table whose long values are in memory.
#[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
unsafe fn gather(
    core: &Core,
    content: &Content,
    gather: &mut Gather,
    rows: &[*const u8],
    ids: &[u64],
    columns: &[ColumnId],
) -> Batch {
    let layout = &core.shape.layout;
    let stored = columns
        .iter()
        .filter(|column| **column != ColumnId::POSITION);
    // SAFETY: as promised by the caller.
    let mut arrays = unsafe {
        gather.columns(
            layout,
            &content.blobs.directory,
            rows,
            stored.map(|column| column.0),
        )
    };
    for (index, column) in columns.iter().enumerate() {
        if *column == ColumnId::POSITION {
            arrays.insert(index, positions(ids));
        }
    }
    Batch::new(arrays, rows.len())
}
