//! Rows by a whole number from a narrow range: an array instead of a hash table.
//!
//! Keys of tables are mostly numbers that were given one after the other. As long as there are not many
//! more numbers between the least and the greatest key than rows, the first row of a key is read from an
//! array at the key's distance from the least: no hash, no comparison, and neighbours in the probed
//! table are often neighbours here ("perfect hash join").

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::{Array, ArrayRef};
use mayfly_memory::{Block, Result};
use mayfly_types::PhysicalType;

use super::super::rows::Cell;
use super::super::spec::KeyColumn;
use super::super::store::Store;
use super::join_index::{NONE, PARALLEL_ROWS};
use crate::values::ArrayValues;

/// Numbers in the range for each row, at most: as many bytes as a hash table has.
const NUMBERS_PER_ROW_MAX: u64 = 5;
/// A range of so few numbers is always narrow.
const NUMBERS_MIN: u64 = 1 << 10;

/// The array; see the module. Numbers are bits whose order does not matter, only their distance.
pub(super) struct JoinWindow {
    /// For each number one more than its first row, or 0.
    block: Block,
    least: u64,
    numbers: u64,
}

/// Rows to be indexed.
#[derive(Clone, Copy)]
struct Rows<'a> {
    rows: &'a [*const u8],
    key: &'a Cell,
    least: u64,
}

// SAFETY: the rows are only read, and outlive the threads that build.
unsafe impl Sync for Rows<'_> {}
// SAFETY: as above.
unsafe impl Send for Rows<'_> {}

impl JoinWindow {
    /// Indexes rows, if their key is one number from a narrow range: fills `chain` with the next row of the
    /// same key for each. Also says whether a row has no key.
    pub(super) fn build(
        store: &Store,
        keys: &[KeyColumn],
        rows: &[*const u8],
        chain: &mut [u32],
    ) -> Result<Option<(Self, bool)>> {
        let [key] = keys else {
            return Ok(None);
        };
        let cell = &store.layout.cells()[key.column];
        let flip = match cell.ty {
            PhysicalType::Int64 => 1_u64 << 63,
            PhysicalType::UInt64 => 0,
            _ => return Ok(None),
        };
        if key.null_safe {
            return Ok(None);
        }
        let numbers_max = NUMBERS_MIN.max(rows.len() as u64 * NUMBERS_PER_ROW_MAX);
        let (mut least, mut greatest, mut has_null) = (u64::MAX, 0, false);
        for row in rows {
            // SAFETY: each is a row of the store's layout, in memory.
            match unsafe { number(cell, *row) } {
                None => has_null = true,
                Some(number) => {
                    least = least.min(number ^ flip);
                    greatest = greatest.max(number ^ flip);
                    if greatest - least >= numbers_max {
                        return Ok(None);
                    }
                }
            }
        }
        let Some(distance) = greatest.checked_sub(least) else {
            return Ok(None);
        };
        let numbers = distance + 1;
        let bytes = numbers as usize * size_of::<u32>();
        let mut block = store.take_working_set(bytes)?;
        block.as_mut_slice()[..bytes].fill(0);
        let window = Self {
            block,
            least: least ^ flip,
            numbers,
        };
        let rows = Rows {
            rows,
            key: cell,
            least: window.least,
        };
        window.link_all(rows, chain, store);
        Ok(Some((window, has_null)))
    }

    fn link_all(&self, rows: Rows<'_>, chain: &mut [u32], store: &Store) {
        let threads = store.context.options().threads;
        if chain.len() < PARALLEL_ROWS || threads < 2 {
            // From the last to the first, so that a chain is in the order of the rows.
            let slots = self.slots();
            rows.link(slots, 0, chain, |slot, row| {
                let next = slot.load(Ordering::Relaxed);
                slot.store(row, Ordering::Relaxed);
                next
            });
            return;
        }
        let each = chain.len().div_ceil(threads);
        let pieces = chain.chunks_mut(each).enumerate().collect();
        let workers = &store.context.resources().workers;
        workers.map(pieces, |(piece, chain): (usize, &mut [u32])| {
            let slots = self.slots();
            rows.link(slots, piece * each, chain, |slot, row| {
                slot.swap(row, Ordering::Relaxed)
            });
        });
    }

    fn slots(&self) -> &[AtomicU32] {
        // SAFETY: the block is aligned to a page and holds so many initialised numbers, which are only
        // changed through this.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr().cast(), self.numbers as usize) }
    }

    /// The first row of each key, or [`NONE`].
    pub(super) fn first_matches(&self, keys: &ArrayRef, first: &mut Vec<u32>) {
        let ArrayValues::Words(numbers) = ArrayValues::new(keys) else {
            unreachable!("keys that are compared are of one type");
        };
        let slots = self.slots();
        let first_of = |number: u64| {
            let slot = usize::try_from(number.wrapping_sub(self.least)).ok();
            let slot = slot.and_then(|slot| slots.get(slot));
            slot.map_or(NONE, |slot| slot.load(Ordering::Relaxed).wrapping_sub(1))
        };
        match keys.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => first.extend(numbers.iter().map(|number| first_of(*number))),
            Some(nulls) => {
                first.extend(
                    numbers
                        .iter()
                        .zip(nulls)
                        .map(|(number, is_valid)| match is_valid {
                            true => first_of(*number),
                            false => NONE,
                        }),
                )
            }
        }
    }
}

/// A row's key; `None` for NULL.
///
/// # Safety
/// `row` points to an initialised row of the layout that `cell` is of.
unsafe fn number(cell: &Cell, row: *const u8) -> Option<u64> {
    // SAFETY: as promised by the caller.
    unsafe { (!cell.is_null(row)).then(|| cell.word(row)) }
}

impl Rows<'_> {
    /// Puts the rows from `start` on into the slots of their keys; `put` gives what stood there.
    fn link(
        self,
        slots: &[AtomicU32],
        start: usize,
        chain: &mut [u32],
        put: impl Fn(&AtomicU32, u32) -> u32,
    ) {
        let rows = &self.rows[start..start + chain.len()];
        for (index, (row, next)) in rows.iter().zip(chain).enumerate().rev() {
            // SAFETY: each is a row of the layout, in memory.
            if let Some(number) = unsafe { number(self.key, *row) } {
                let slot = &slots[number.wrapping_sub(self.least) as usize];
                *next = put(slot, (start + index) as u32 + 1).wrapping_sub(1);
            }
        }
    }
}
