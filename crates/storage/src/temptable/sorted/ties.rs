//! Sorting of rows with equal prefixes: "Customer#000000001" and "Customer#000000002" differ behind the length of a
//! prefix.
//!
//! The common part of the keys of such rows is determined, and they are sorted by a prefix of what follows it; rows
//! that are equal again go on from there. That is a radix sort of strings from the most significant end, with prefixes
//! as its digits (Wickremesinghe, Heiman and Zobel, "Using compact tries for cache-efficient sorting of integers",
//! 2004, has the idea of cached digits; Bentley and Sedgewick, 1997, that of going on behind what is equal).

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::cmp::Ordering;

use mayfly_memory::Budget;
use mayfly_types::PhysicalType;

use super::cutoff::Prefix;
use super::keys::{Key, PREFIX_ROWS, Place, PrefixBuffer, SortKeys};
use crate::temptable::rows::Resolver;

/// Number of rows below which they are compared by their cells.
const ROWS_MIN: usize = 16;

/// Row among those that have one prefix, with the prefix of what follows.
struct Tied<T> {
    prefix: Prefix,
    row: *const u8,
    item: T,
}

impl SortKeys {
    /// Sorts items whose rows have equal prefixes; those that are equal in all keys are ordered by the items
    /// themselves. Uses memory for that, or more time if there is none.
    ///
    /// # Safety
    /// The rows are of the layout; `values` resolves their values.
    pub(super) unsafe fn sort_tied<T: Copy + Ord>(
        &self,
        items: &mut [T],
        row: impl Fn(T) -> *const u8,
        values: Resolver<'_>,
        memory: &Budget,
    ) {
        let mut held = memory.reservation();
        let bytes = items.len() * size_of::<Tied<T>>();
        if items.len() < ROWS_MIN || held.try_grow(bytes as u64).is_err() {
            // SAFETY: as promised by the caller.
            let order = |a: &T, b: &T| unsafe { self.compare_cells(row(*a), row(*b), values) };
            items.sort_unstable_by(|a, b| order(a, b).then_with(|| a.cmp(b)));
            return;
        }
        let tied = |item: &T| Tied {
            prefix: (0, 0),
            row: row(*item),
            item: *item,
        };
        let mut tied: Vec<Tied<T>> = items.iter().map(tied).collect();
        // SAFETY: as promised by the caller.
        unsafe {
            self.sort_from(
                Place::default(),
                &mut tied,
                values,
                &mut PrefixBuffer::default(),
            )
        };
        for (item, tied) in items.iter_mut().zip(tied) {
            *item = tied.item;
        }
    }

    /// Sorts rows that are equal up to a place.
    ///
    /// # Safety
    /// The rows are of the layout; `values` resolves their values.
    unsafe fn sort_from<T: Copy + Ord>(
        &self,
        before: Place,
        rows: &mut [Tied<T>],
        values: Resolver<'_>,
        buffer: &mut PrefixBuffer,
    ) {
        // SAFETY: as promised by the caller.
        let by_cells = |a: &Tied<T>, b: &Tied<T>| unsafe {
            let order = self.compare_cells(a.row, b.row, values);
            order.then_with(|| a.item.cmp(&b.item))
        };
        // SAFETY: as above.
        let place = unsafe { self.place_behind(before, rows.iter().map(|it| it.row), values) };
        if place == before {
            rows.sort_unstable_by(by_cells);
            return;
        }
        if place.key == self.keys().len() {
            rows.sort_unstable_by_key(|tied| tied.item);
            return;
        }
        for rows in rows.chunks_mut(PREFIX_ROWS) {
            let of = rows.iter().map(|tied| tied.row);
            // SAFETY: as above; all rows have the string that is skipped.
            let prefixes = unsafe { self.prefixes(place, of, values, buffer) };
            for (tied, prefix) in rows.iter_mut().zip(prefixes) {
                tied.prefix = prefix.prefix();
            }
        }
        rows.sort_unstable_by_key(|tied| (tied.prefix, tied.item));
        for equal in rows.chunk_by_mut(|a, b| a.prefix == b.prefix) {
            match equal.len() {
                1 => {}
                2..ROWS_MIN => equal.sort_unstable_by(by_cells),
                // SAFETY: as above.
                _ => unsafe { self.sort_from(place, equal, values, buffer) },
            }
        }
    }

    /// The next place at which some of these rows, equal up to `before`, may differ; a lower bound.
    ///
    /// # Safety
    /// As for [`Self::sort_from`].
    unsafe fn place_behind(
        &self,
        mut place: Place,
        rows: impl Iterator<Item = *const u8> + Clone,
        values: Resolver<'_>,
    ) -> Place {
        loop {
            let Some(key) = self.keys().get(place.key) else {
                return place;
            };
            // SAFETY: as promised by the caller.
            match unsafe { key.shared_by(rows.clone(), values) } {
                Shared::All => {
                    place = Place {
                        key: place.key + 1,
                        skipped: 0,
                    };
                }
                Shared::Beginning(bytes) => {
                    let skipped = bytes.max(place.skipped);
                    return Place { skipped, ..place };
                }
            }
        }
    }
}

/// Common part of the values of a key.
enum Shared {
    All,
    /// Strings with this many common leading bytes, behind which they are ordered as their rests are.
    Beginning(usize),
}

impl Key {
    /// The common part of the values of rows.
    ///
    /// # Safety
    /// The rows are of the layout; `values` resolves their values.
    unsafe fn shared_by(
        &self,
        mut rows: impl Iterator<Item = *const u8>,
        values: Resolver<'_>,
    ) -> Shared {
        let Some(first) = rows.next() else {
            return Shared::All;
        };
        let cell = self.cell();
        // SAFETY: as promised by the caller.
        let is_equal = |row| unsafe { self.compare(first, row, values) == Ordering::Equal };
        // SAFETY: as above.
        if cell.ty != PhysicalType::Bytes || unsafe { cell.is_null(first) } {
            return if rows.all(is_equal) {
                Shared::All
            } else {
                Shared::Beginning(0)
            };
        }
        // SAFETY: as above.
        let first = unsafe { cell.view(first) };
        // SAFETY: as above.
        let first = unsafe { values.bytes(&first) };
        let (mut shared, mut all) = (first.len(), true);
        for row in rows {
            // SAFETY: as above.
            if unsafe { cell.is_null(row) } {
                return Shared::Beginning(0);
            }
            // SAFETY: as above.
            let text = unsafe { cell.view(row) };
            // SAFETY: as above.
            let text = unsafe { values.bytes(&text) };
            all &= text.len() == first.len();
            shared = common(&first[..shared], text);
            if shared == 0 && !first.is_empty() {
                return Shared::Beginning(0);
            }
        }
        if all && shared == first.len() {
            return Shared::All;
        }
        Shared::Beginning(match self.collation() {
            None => shared,
            Some(collation) => collation.collation().divisible_beginning(&first[..shared]),
        })
    }
}

/// Length of the common prefix of two strings.
fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let words = 8 * words.take_while(|(a, b)| a == b).count();
    let rest = a[words..].iter().zip(&b[words..]);
    words + rest.take_while(|(a, b)| a == b).count()
}
