//! Gathering of rows into columns.
//!
//! Strings are not copied: a returned batch shares the blocks and source buffers of its values, and keeps them alive.
//! Only when its rows are spread over very many buffers are the values copied together, since a share of a buffer
//! costs about as much as a short copy.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use mayfly_types::PhysicalType;

use super::directory::{Directory, SOURCE, is_source};
use super::equality::Resolver;
use super::layout::{Cell, RowLayout, View};
use crate::values::{decimal128_array, decimal256_array, word_array};

/// Number of shared buffers per batch up to which copying is never worth it.
const SHARED_BUFFERS_MIN: usize = 64;
/// Limit, in bytes per batch, up to which values are copied together.
const COPIED_BYTES_MAX: usize = 1 << 20;

/// Map from buffers of a directory to indexes in a batch's list of buffers. Its size follows the buffers of a batch, not
/// those of the directory: a table of many gigabytes has a gatherer for each of its many partitions.
#[derive(Debug, Default)]
struct BufferNumbers {
    /// Slots of a hash table with linear probing, a power of two; those of other batches are free.
    slots: Vec<BufferSlot>,
    /// Batch of the last number, and the count of its buffers.
    batch: u32,
    used: usize,
}

/// Index of a buffer in the list of a batch; batch 0 has none.
#[derive(Debug, Default, Clone, Copy)]
struct BufferSlot {
    batch: u32,
    number: u32,
    index: u32,
}

impl BufferNumbers {
    /// Index of buffer `number` in the list of a batch: `next` if it is not there yet.
    fn number(&mut self, number: u32, batch: u32, next: u32) -> u32 {
        if self.batch != batch {
            (self.batch, self.used) = (batch, 0);
        }
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        let at = self.place(number);
        let slot = &mut self.slots[at];
        if slot.batch != batch {
            *slot = BufferSlot {
                batch,
                number,
                index: next,
            };
            self.used += 1;
        }
        slot.index
    }

    /// The slot with a number, or the free one for it.
    fn place(&self, number: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (number.wrapping_mul(0x9E37_79B1) >> 7) as usize & mask;
        while self.slots[at].batch == self.batch && self.slots[at].number != number {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(SLOTS_MIN);
        let slots = std::mem::replace(&mut self.slots, vec![BufferSlot::default(); size]);
        for slot in slots.into_iter().filter(|slot| slot.batch == self.batch) {
            let at = self.place(slot.number);
            self.slots[at] = slot;
        }
    }
}

/// Minimum number of slots.
const SLOTS_MIN: usize = 64;

/// Gatherer of rows into columns, with scratch memory kept between batches.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    batch: u32,
    heap: BufferNumbers,
    sources: BufferNumbers,
    used: Vec<u32>,
}

impl Gather {
    /// The columns `columns` of the rows at `rows`, in that order.
    ///
    /// # Safety
    /// Each of `rows` is a row of `layout` whose values are in `directory` and in memory.
    pub(crate) unsafe fn columns(
        &mut self,
        layout: &RowLayout,
        directory: &Directory,
        rows: &[*const u8],
        columns: impl Iterator<Item = usize>,
    ) -> Vec<ArrayRef> {
        let header_nulls = rows.iter().fold(0_u16, |nulls, row| {
            // SAFETY: a row starts with its header.
            nulls | unsafe { row.cast::<u16>().read_unaligned() }
        });
        columns
            .map(|column| {
                let cell = &layout.cells()[column];
                let may_be_null = column >= 16 || header_nulls & (1 << column) != 0;
                // SAFETY: as promised by the caller.
                unsafe { self.column(cell, directory, rows, may_be_null) }
            })
            .collect()
    }

    /// The array of a column.
    ///
    /// # Safety
    /// Each of `rows` is a row of the layout that `cell` is of, whose values are in `directory` and in memory.
    unsafe fn column(
        &mut self,
        cell: &Cell,
        directory: &Directory,
        rows: &[*const u8],
        may_be_null: bool,
    ) -> ArrayRef {
        // SAFETY (here and below): each pointer is a row of the layout of `cell`; cells are read
        // with the width of their type.
        let nulls = may_be_null.then(|| unsafe { nulls(cell, rows) }).flatten();
        unsafe {
            match cell.ty {
                PhysicalType::Decimal128(_) => {
                    let values = rows.iter().map(|row| cell.wide(*row).cast_signed());
                    decimal128_array(cell.ty, values.collect(), nulls)
                }
                PhysicalType::Decimal256(_) => {
                    let values = rows.iter().map(|row| cell.wider(*row));
                    decimal256_array(cell.ty, values.collect(), nulls)
                }
                PhysicalType::Bytes => self.strings(cell, directory, rows, nulls),
                PhysicalType::Bool
                | PhysicalType::Int64
                | PhysicalType::UInt64
                | PhysicalType::Float64 => {
                    let words = rows.iter().map(|row| cell.word(*row));
                    word_array(cell.ty, words.collect(), nulls)
                }
            }
        }
    }

    /// The array of a column of strings.
    ///
    /// # Safety
    /// As for [`Self::column`].
    unsafe fn strings(
        &mut self,
        cell: &Cell,
        directory: &Directory,
        rows: &[*const u8],
        nulls: Option<NullBuffer>,
    ) -> ArrayRef {
        self.batch = self.batch.wrapping_add(1).max(1);
        self.used.clear();
        let mut longest = 0;
        let view_of = |row: &*const u8| {
            // SAFETY: the cell of a string is a view.
            let view = unsafe { cell.view(*row) };
            longest = longest.max(view.length());
            view.0
        };
        let mut views: Vec<u128> = rows.iter().map(view_of).collect();
        let long_bytes = if longest > View::INLINE_MAX {
            self.number_buffers(&mut views)
        } else {
            0
        };
        let strewn = self.used.len() > SHARED_BUFFERS_MIN.max(rows.len() / 8);
        let buffers = if strewn && long_bytes <= COPIED_BYTES_MAX {
            let mut values: Vec<u8> = Vec::with_capacity(long_bytes);
            let resolver = Resolver::stored(directory);
            for (row, view) in rows.iter().zip(&mut views) {
                // SAFETY: as above; the values are in memory, as the caller promises.
                let stored = unsafe { cell.view(*row) };
                if !stored.is_inline() {
                    *view = stored.at(0, values.len() as u32).0;
                    values.extend_from_slice(unsafe { resolver.bytes(&stored) });
                }
            }
            vec![Buffer::from_vec(values)]
        } else {
            directory.buffers(&self.used)
        };
        // SAFETY: every view was valid in the array it came from, and names the same bytes in the
        // buffer at its new number.
        let array = unsafe {
            BinaryViewArray::new_unchecked(ScalarBuffer::from(views), buffers.into(), nulls)
        };
        Arc::new(array)
    }

    /// Numbers the buffers of long strings for the batch, and puts these numbers into the views. Returns the bytes of
    /// those strings.
    fn number_buffers(&mut self, views: &mut [u128]) -> usize {
        let mut long_bytes = 0;
        let mut last = (u32::MAX, 0);
        for bits in views {
            let view = View(*bits);
            if view.is_inline() {
                continue;
            }
            long_bytes += view.length() as usize;
            let number = view.buffer();
            if number != last.0 {
                let next = self.used.len() as u32;
                let in_batch = if is_source(number) {
                    self.sources.number(number & !SOURCE, self.batch, next)
                } else {
                    self.heap.number(number, self.batch, next)
                };
                if in_batch == next {
                    self.used.push(number);
                }
                last = (number, in_batch);
            }
            *bits = view.in_buffer(last.1).0;
        }
        long_bytes
    }
}

/// The NULLs of a column; `None` if there are none.
///
/// # Safety
/// Each of `rows` is a row of the layout that `cell` is of.
unsafe fn nulls(cell: &Cell, rows: &[*const u8]) -> Option<NullBuffer> {
    // SAFETY: each pointer is a row of the layout of `cell`.
    let valid = BooleanBuffer::collect_bool(rows.len(), |row| unsafe { !cell.is_null(rows[row]) });
    Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn buffers_are_numbered_in_the_memory_of_a_batch() {
        let mut numbers = BufferNumbers::default();
        for batch in 1..200_u32 {
            let mut known: HashMap<u32, u32> = HashMap::new();
            for step in 0..1500_u32 {
                // Numbers in a row, strewn ones, and large ones.
                let number = match step % 3 {
                    0 => batch + step % 300,
                    1 => (step % 111).wrapping_mul(0x9E37_79B9) & !SOURCE,
                    _ => !SOURCE - step % 200,
                };
                let next = known.len() as u32;
                let expected = *known.entry(number).or_insert(next);
                assert_eq!(numbers.number(number, batch, next), expected);
            }
        }
        assert!(numbers.slots.len() <= 2048, "{}", numbers.slots.len());
    }
}
