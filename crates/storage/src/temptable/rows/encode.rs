//! Encoding of columns as rows.
//!
//! A batch is prepared once (its arrays inspected, the buffers of its strings numbered) and then written in runs of
//! rows, column by column, into a scratch area that stays in the cache. From there whole rows are copied to their
//! destination.

#![expect(
    unsafe_code,
    reason = "rows are raw bytes that are written column by column, with a stride; see the layout"
)]

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::{Buffer, NullBuffer};
use mayfly_memory::StableRanges;

use super::directory::{Directory, TRANSIENT};
use super::equality::Resolver;
use super::layout::{Cell, HASH_MASK, RowLayout, View};
use crate::values::ArrayValues;

/// Buffers of the strings of rows being encoded.
#[derive(Debug)]
pub(crate) struct Sources {
    stable: StableRanges,
    /// Numbers and lengths of the stable buffers seen before, by address. The directory keeps those buffers alive, so
    /// an address means the same bytes as long as it is listed.
    known: HashMap<usize, (u32, usize)>,
    transient: Vec<*const u8>,
    /// Transient buffers, while their batch is appended.
    transient_buffers: Vec<Buffer>,
}

// SAFETY: the addresses point into buffers that this value keeps alive and that are Send and Sync.
unsafe impl Send for Sources {}
// SAFETY: as above.
unsafe impl Sync for Sources {}

impl Sources {
    pub(crate) fn new(stable: StableRanges) -> Self {
        Self {
            stable,
            known: HashMap::new(),
            transient: Vec::new(),
            transient_buffers: Vec::new(),
        }
    }

    /// Sources for rows that are looked up and never stored.
    pub(crate) fn transient_only() -> Self {
        Self::new(StableRanges::new())
    }

    /// Removes the buffers of the last batch.
    pub(crate) fn begin_batch(&mut self) {
        self.transient.clear();
        self.transient_buffers.clear();
    }

    /// Whether any string of the batch is in a transient buffer.
    pub(crate) fn has_transient(&self) -> bool {
        !self.transient.is_empty()
    }

    /// Addresses of the transient buffers.
    pub(crate) fn addresses(&self) -> &[*const u8] {
        &self.transient
    }

    /// Resolver of the values of the batch's rows and of the directory's.
    pub(crate) fn resolver<'a>(&'a self, directory: &'a Directory) -> Resolver<'a> {
        Resolver {
            directory,
            transient: &self.transient,
        }
    }

    /// The number of a transient buffer for a value that lives until the next batch begins.
    pub(super) fn number_of_value(&mut self, value: &[u8]) -> u32 {
        self.transient.push(value.as_ptr());
        TRANSIENT | (self.transient.len() - 1) as u32
    }

    fn number(&mut self, buffer: &Buffer, directory: &Directory) -> u32 {
        let address = buffer.as_ptr() as usize;
        if let Some((number, length)) = self.known.get(&address)
            && *length >= buffer.len()
        {
            return *number;
        }
        if self.stable.contains(address, buffer.len()) {
            let number = directory.add_source(buffer.clone());
            self.known.insert(address, (number, buffer.len()));
            return number;
        }
        self.transient.push(buffer.as_ptr());
        self.transient_buffers.push(buffer.clone());
        TRANSIENT | (self.transient.len() - 1) as u32
    }
}

struct Column<'a> {
    values: ArrayValues<'a>,
    /// Numbers of the buffers of the column's strings.
    numbers: Vec<u32>,
    nulls: Option<&'a NullBuffer>,
}

/// Encoder of one batch.
pub(crate) struct Encoder<'a> {
    columns: Vec<Column<'a>>,
}

impl<'a> Encoder<'a> {
    /// Inspects a batch's arrays and numbers the buffers of its strings.
    pub(crate) fn new(
        arrays: &'a [ArrayRef],
        sources: &mut Sources,
        directory: &Directory,
    ) -> Self {
        let mut column = |array: &'a ArrayRef| {
            let values = ArrayValues::new(array);
            let numbers = match values {
                // Columns of inline views need no renumbering: they are copied as they are.
                ArrayValues::Bytes(strings) if !are_all_inline(strings.views()) => {
                    let buffers = strings.data_buffers().iter();
                    let number = |buffer| sources.number(buffer, directory);
                    buffers.map(number).collect()
                }
                _ => Vec::new(),
            };
            Column {
                values,
                numbers,
                nulls: array.nulls().filter(|nulls| nulls.null_count() > 0),
            }
        };
        Self {
            columns: arrays.iter().map(&mut column).collect(),
        }
    }

    /// Writes rows `start .. start + count` of the batch to `rows`.
    ///
    /// # Safety
    /// `rows` has room for `count` rows of `layout`, the batch has the layout's columns and these rows, and `hashes`,
    /// if given, has `count` elements.
    pub(crate) unsafe fn write(
        &self,
        layout: &RowLayout,
        start: usize,
        count: usize,
        hashes: Option<&[u64]>,
        rows: *mut u8,
    ) {
        let width = layout.width;
        // SAFETY: `rows` has room for `count` rows of `width` bytes; headers, NULL bytes and cells
        // lie inside of a row.
        unsafe {
            match hashes {
                Some(hashes) => {
                    debug_assert_eq!(hashes.len(), count);
                    for (row, hash) in hashes.iter().enumerate() {
                        rows.add(row * width)
                            .cast::<u64>()
                            .write_unaligned(hash & HASH_MASK);
                    }
                }
                None => {
                    for row in 0..count {
                        rows.add(row * width).cast::<u64>().write_unaligned(0);
                    }
                }
            }
            if layout.extra_null_bytes > 0 {
                for row in 0..count {
                    rows.add(row * width + 8)
                        .write_bytes(0, layout.extra_null_bytes);
                }
            }
            for (column, cell) in self.columns.iter().zip(layout.cells()) {
                let cells = rows.add(cell.offset);
                let run = start..start + count;
                match column.values {
                    ArrayValues::Words(values) => scatter(&values[run], cells, width, |v| *v),
                    ArrayValues::Decimal128(values) => scatter(&values[run], cells, width, |v| *v),
                    ArrayValues::Decimal256(values) => scatter(&values[run], cells, width, |v| *v),
                    ArrayValues::Bools(values) => {
                        for row in 0..count {
                            let value = u64::from(values.value(start + row));
                            cells.add(row * width).cast::<u64>().write_unaligned(value);
                        }
                    }
                    ArrayValues::Bytes(strings) => {
                        scatter_views(&strings.views()[run], &column.numbers, cells, width);
                    }
                }
                if let Some(nulls) = column.nulls {
                    set_nulls(nulls, start, count, cell, rows, width);
                }
            }
        }
    }
}

/// Whether no view refers to a buffer. A column of long strings is recognised by its first one.
fn are_all_inline(views: &[u128]) -> bool {
    let longest = |longest: u32, view: &u128| longest.max(View(*view).length());
    let [first, ..] = views else { return true };
    View(*first).is_inline() && views.iter().fold(0, longest) <= View::INLINE_MAX
}

/// Writes each value to its row's cell.
///
/// # Safety
/// `cells` points to the first of as many cells as there are values, `width` bytes apart, each with room for a `U`.
#[inline(always)]
unsafe fn scatter<T, U>(values: &[T], cells: *mut u8, width: usize, cell: impl Fn(&T) -> U) {
    for (row, value) in values.iter().enumerate() {
        // SAFETY: the caller's scratch area has a row for each value.
        unsafe {
            cells
                .add(row * width)
                .cast::<U>()
                .write_unaligned(cell(value))
        };
    }
}

/// Writes the view of each string to its row's cell, with the numbers of the batch's buffers.
///
/// # Safety
/// As for [`scatter`], with cells of 16 bytes.
unsafe fn scatter_views(views: &[u128], numbers: &[u32], cells: *mut u8, width: usize) {
    // SAFETY: as for `scatter`.
    unsafe {
        match numbers {
            // No view refers to a buffer.
            [] => scatter(views, cells, width, |view| *view),
            [number] => scatter(views, cells, width, |view| {
                let view = View(*view);
                if view.is_inline() {
                    view.0
                } else {
                    view.in_buffer(*number).0
                }
            }),
            numbers => scatter(views, cells, width, |view| {
                let view = View(*view);
                if view.is_inline() {
                    view.0
                } else {
                    view.in_buffer(numbers[view.buffer() as usize]).0
                }
            }),
        }
    }
}

/// Sets the NULL bits of a column and zeroes its NULL cells, so that they refer to no value.
///
/// # Safety
/// `rows` has `count` rows of `width` bytes, of the layout that `cell` is of.
unsafe fn set_nulls(
    nulls: &NullBuffer,
    start: usize,
    count: usize,
    cell: &Cell,
    rows: *mut u8,
    width: usize,
) {
    let bytes = cell.byte_width();
    for row in 0..count {
        if nulls.is_null(start + row) {
            // SAFETY: NULL byte and cell lie inside of the row.
            unsafe {
                let row = rows.add(row * width);
                *row.add(cell.null_byte) |= cell.null_mask;
                row.add(cell.offset).write_bytes(0, bytes);
            }
        }
    }
}
