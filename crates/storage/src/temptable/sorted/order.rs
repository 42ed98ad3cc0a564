//! In-memory sort of a partition's rows, by one thread.
//!
//! What is sorted are numbers of 16 bytes: 96 bits of the prefixes of the rows' keys, behind the bits that all rows
//! share, then the index of the row. Rows with equal bits are compared by their cells afterwards, unless the prefix is
//! their whole key. So whatever the keys are, most of the work is sorting plain numbers.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use mayfly_memory::Result;

use super::keys::{PREFIX_ROWS, Place, PrefixBuffer, PrefixBytes, SortKeys};
use crate::temptable::rows::Resolver;
use crate::temptable::spec::SortKey;
use crate::temptable::store::StoreRef;

/// Low bits of a record: the row's index.
const ROW_BITS: u32 = u32::BITS;
/// Memory per row: its record, and its address in order.
const BYTES_PER_ROW: u64 = 24;

/// Stable sort of rows by keys.
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
    sort_records(&mut records, store);
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

/// Minimum number of records that are divided by digits rather than sorted by comparisons.
const DIVIDED_RECORDS_MIN: usize = 2048;
const DIGIT_BITS: u32 = 8;

/// Sorts records: many of them are divided by their bytes, from the most significant on, into parts that fit in the
/// cache. Without memory for that, all are sorted by comparisons.
fn sort_records(records: &mut [u128], store: &StoreRef) {
    let mut held = store.memory.reservation();
    let bytes = size_of_val(records) as u64;
    if records.len() < DIVIDED_RECORDS_MIN || held.try_grow(bytes).is_err() {
        records.sort_unstable();
        return;
    }
    let mut other = records.to_vec();
    divide(records, &mut other, u128::BITS);
}

/// Sorts records that agree in all bits but the lowest `bits`. `other` is a buffer of the length of `records`.
fn divide(records: &mut [u128], other: &mut [u128], mut bits: u32) {
    let digit =
        |record: u128, bits: u32| (record >> (bits - DIGIT_BITS)) as usize % (1 << DIGIT_BITS);
    loop {
        if records.len() < DIVIDED_RECORDS_MIN || bits <= ROW_BITS {
            records.sort_unstable();
            return;
        }
        let mut ends = [0_usize; 1 << DIGIT_BITS];
        for record in &*records {
            ends[digit(*record, bits)] += 1;
        }
        // If all records have one digit, the next digit decides.
        if ends[digit(records[0], bits)] == records.len() {
            bits -= DIGIT_BITS;
            continue;
        }
        let mut next = 0;
        for end in &mut ends {
            next += std::mem::replace(end, next);
        }
        for record in &*records {
            let place = &mut ends[digit(*record, bits)];
            other[*place] = *record;
            *place += 1;
        }
        records.copy_from_slice(other);
        let mut start = 0;
        for end in ends {
            divide(
                &mut records[start..end],
                &mut other[start..end],
                bits - DIGIT_BITS,
            );
            start = end;
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_records_are_in_order() {
        let spread = |row: u128| row.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let rows = DIVIDED_RECORDS_MIN as u128 * 5;
        for shared in [0, 3, 40, 90] {
            for values in [2, 1000, u128::MAX] {
                let value = |row| ((spread(row) % values) << ROW_BITS) << shared >> shared;
                let record = |row: u128| value(row) & !u128::from(u32::MAX) | row;
                let mut records: Vec<u128> = (0..rows).map(record).collect();
                let mut sorted = records.clone();
                sorted.sort_unstable();
                let mut other = records.clone();
                divide(&mut records, &mut other, u128::BITS);
                assert_eq!(records, sorted, "{values} values behind {shared} bits");
            }
        }
    }
}
