//! Rows in memory, put in order: those of a partition, which one thread sorts for itself.
//!
//! What is sorted are numbers of 16 bytes: of the prefixes of the rows' keys the first 96 bits behind those that all rows
//! share, then the number of the row. Rows that have the same bits are compared by their cells afterwards, unless the
//! prefix is their whole key. So whatever the keys are, most of the work is the sorting of plain numbers.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use mayfly_memory::Result;

use super::keys::{PREFIX_ROWS, Place, PrefixBuffer, PrefixBytes, SortKeys};
use crate::temptable::rows::Resolver;
use crate::temptable::spec::SortKey;
use crate::temptable::store::StoreRef;

/// The low bits of a record: the row's number.
const ROW_BITS: u32 = u32::BITS;
/// A row's record, and its address in order.
const BYTES_PER_ROW: u64 = 24;

/// Puts rows into the order of keys; those that are equal in all of them stay in the order in which they are.
///
/// # Safety
/// `rows` are rows of the store whose values are in memory.
pub(crate) unsafe fn sort_rows(
    store: &StoreRef,
    keys: &[SortKey],
    rows: &mut Vec<*const u8>,
) -> Result<()> {
    let keys = SortKeys::new(&store.layout, keys);
    let values = Resolver::stored(&store.directory);
    // SAFETY: as promised by the caller.
    let by_cells = |a: *const u8, b: *const u8| unsafe { keys.compare_cells(a, b, values) };
    if u32::try_from(rows.len()).is_err() {
        rows.sort_by(|a, b| by_cells(*a, *b));
        return Ok(());
    }
    let _records = store.reserve_working_set(rows.len() as u64 * BYTES_PER_ROW)?;
    let mut buffer = PrefixBuffer::default();
    let mut records: Vec<u128> = Vec::with_capacity(rows.len());
    for rows in rows.chunks(PREFIX_ROWS) {
        let (place, rows) = (Place::default(), rows.iter().copied());
        // SAFETY: as promised by the caller.
        let prefixes = unsafe { keys.prefixes(place, rows, values, &mut buffer) };
        records.extend(prefixes.iter().map(PrefixBytes::bits));
    }
    let (any, all) = records
        .iter()
        .fold((0, u128::MAX), |(any, all), bits| (any | bits, all & bits));
    let shared = (any ^ all).leading_zeros();
    let row_mask = u128::from(u32::MAX);
    let mut cut = 0;
    for (row, record) in records.iter_mut().enumerate() {
        let bits = record.checked_shl(shared).unwrap_or(0);
        cut |= bits & row_mask;
        *record = bits & !row_mask | row as u128;
    }
    records.sort_unstable();
    let row_of = |record: u128| rows[(record & row_mask) as usize];
    for equal in records.chunk_by_mut(|a, b| (a ^ b) >> ROW_BITS == 0) {
        if let [first, _, ..] = *equal {
            let differing = (first & !row_mask).checked_shr(shared).unwrap_or(0);
            let bits = all & !u128::MAX.checked_shr(shared).unwrap_or(0) | differing;
            if cut != 0 || !keys.is_whole(((bits >> 64) as u64, bits as u64)) {
                // SAFETY: as above.
                unsafe { keys.sort_tied(equal, row_of, values, &store.memory) };
            }
        }
    }
    *rows = records.into_iter().map(row_of).collect();
    Ok(())
}
