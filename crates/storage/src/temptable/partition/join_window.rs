//! Perfect hash join: rows by an integer from a narrow range, in an array instead of a hash table.
//!
//! Keys of tables are mostly numbers that were assigned consecutively. As long as the range from the smallest to the
//! greatest key is not much larger than the number of rows, the first row of a key is read from an array at the key's
//! distance from the smallest: no hash, no comparison, and neighbours in the probed table are often neighbours here.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::{Array, ArrayRef};
use mayfly_memory::{Block, Result};
use mayfly_types::PhysicalType;

use super::super::rows::Cell;
use super::super::spec::KeyColumn;
use super::super::store::Store;
use super::join_index::{NONE, PARALLEL_ROWS};
use crate::values::ArrayValues;

/// Maximum width of the range per row: the array then takes as many bytes as a hash table.
const NUMBERS_PER_ROW_MAX: u64 = 5;
/// Width up to which a range always counts as narrow.
const NUMBERS_MIN: u64 = 1 << 10;

/// Maximum number of threads: each reads all rows, and more would link only few each.
const PARTS_MAX: usize = 4;
/// Number of rows that are assigned to parts at once.
const BLOCK_ROWS: usize = 128;

/// Direct-addressed array of first rows. Keys are bits whose order does not matter, only their distance.
pub(super) struct JoinWindow {
    /// For each key one more than its first row, or 0.
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
    /// Indexes rows, if their key is one integer from a narrow range: sets `chain` to the next row with an equal key
    /// for each row. Also returns whether a row has no key.
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

    /// Links all rows, from the last to the first, so that a chain is in row order. Each thread reads all rows and
    /// links those of its part of the range: no thread reads what another one changes, and no row waits.
    fn link_all(&self, rows: Rows<'_>, chain: &mut [u32], store: &Store) {
        let threads = store.context.options().threads;
        let parts = if rows.rows.len() < PARALLEL_ROWS {
            1
        } else {
            threads.clamp(1, PARTS_MAX)
        };
        let each = self.numbers.div_ceil(parts as u64);
        let starts = (0..parts as u64).map(|part| part * each);
        let (slots, chain) = (self.slots(), shared(chain));
        let workers = &store.context.resources().workers;
        let parts = starts.map(|start| start..start + each).collect();
        workers.map(parts, |part| rows.link(slots, part, chain));
    }

    fn slots(&self) -> &[AtomicU32] {
        // SAFETY: the block is aligned to a page and holds `numbers` initialised numbers, which are only changed
        // through this.
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
            Some(nulls) => first.extend(
                numbers
                    .iter()
                    .zip(nulls)
                    .map(|(number, is_valid)| if is_valid { first_of(*number) } else { NONE }),
            ),
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

/// A view of numbers that several threads change, each its own part.
fn shared(numbers: &mut [u32]) -> &[AtomicU32] {
    let count = numbers.len();
    // SAFETY: an AtomicU32 has the size and alignment of a u32, and these are borrowed for as long as they are shared.
    unsafe { std::slice::from_raw_parts(numbers.as_mut_ptr().cast(), count) }
}

impl Rows<'_> {
    /// Links the rows whose numbers lie in a part of the window: each becomes the head of its slot's chain.
    fn link(self, slots: &[AtomicU32], part: Range<u64>, links: &[AtomicU32]) {
        let mut own = [(0, 0); BLOCK_ROWS];
        for (block, rows) in self.rows.chunks(BLOCK_ROWS).enumerate().rev() {
            let mut count = 0;
            for (index, row) in rows.iter().enumerate().rev() {
                // SAFETY: each is a row of the layout, in memory.
                let Some(number) = (unsafe { number(self.key, *row) }) else {
                    continue;
                };
                let slot = number.wrapping_sub(self.least);
                // Which rows belong to the part is unpredictable, so there is no branch on it.
                own[count] = (slot as usize, block * BLOCK_ROWS + index);
                count += usize::from(part.contains(&slot));
            }
            for (slot, row) in &own[..count] {
                let next = slots[*slot].load(Ordering::Relaxed);
                links[*row].store(next.wrapping_sub(1), Ordering::Relaxed);
                slots[*slot].store(*row as u32 + 1, Ordering::Relaxed);
            }
        }
    }
}
