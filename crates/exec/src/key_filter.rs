//! Filters of columns that operators push to the scans below: of the keys of a hash join's build side for the scans of its
//! probe side, and of the first key of a sort with a limit.
//!
//! A row whose key is nowhere in the build side finds no partner. Where that means that it does not come
//! out, the scan can leave it out before its other columns are read, and before it takes part in the joins
//! between ("sideways information passing"; Bloom filters of semi-joins, after Mackert and Lohman, 1986).
//!
//! A filter has the least and the greatest key, and one bit for each key at its lowest bits, into which its higher bits
//! are mixed: consecutive numbers have a bit each, and are filtered exactly; others mostly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_memory::{Budget, Reservation};
use mayfly_storage::{FirstKeyBound, NumberRange};
use mayfly_types::PhysicalType;

/// Bits of a filter for each expected row.
const BITS_PER_ROW: u64 = 16;
/// Minimum and maximum number of bits of a filter, as powers of two.
const BITS_MIN: u32 = 16;
const BITS_MAX: u32 = 26;
/// A filter takes at most 1/16 of free memory.
const MEMORY_SHARE: u64 = 16;

/// A filter of the keys of a build side. Filled by several workers, then read by several.
#[derive(Debug)]
pub(crate) struct KeyFilter {
    /// Mask that flips the sign bit, so that keys have the order of their bits.
    flip: u64,
    least: AtomicU64,
    greatest: AtomicU64,
    words: Vec<AtomicU64>,
    bits: u32,
    _reservation: Reservation,
}

impl KeyFilter {
    /// An empty filter for about `rows` keys, if their type has filters and there is memory.
    pub(crate) fn new(ty: PhysicalType, rows: u64, memory: &Budget) -> Option<Self> {
        let flip = match ty {
            PhysicalType::Int64 => 1 << 63,
            PhysicalType::UInt64 => 0,
            _ => return None,
        };
        let wanted = rows.saturating_mul(BITS_PER_ROW).max(2);
        let bits = (u64::BITS - (wanted - 1).leading_zeros()).clamp(BITS_MIN, BITS_MAX);
        let bytes = 1_u64 << (bits - 3);
        if bytes > memory.available() / MEMORY_SHARE {
            return None;
        }
        let mut reservation = memory.reservation();
        reservation.try_grow(bytes).ok()?;
        Some(Self {
            flip,
            least: AtomicU64::new(u64::MAX),
            greatest: AtomicU64::new(0),
            words: (0..1_u64 << (bits - 6))
                .map(|_| AtomicU64::new(0))
                .collect(),
            bits,
            _reservation: reservation,
        })
    }

    /// (word, bit) of a key.
    #[inline(always)]
    fn place(&self, key: u64) -> (usize, u64) {
        let high = (key >> self.bits).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bit = (key ^ high ^ (high >> 32)) & ((1 << self.bits) - 1);
        ((bit >> 6) as usize, 1 << (bit & 63))
    }

    /// Adds the keys of some rows; NULL is skipped.
    pub(crate) fn add(&self, keys: &ArrayRef) {
        let nulls = keys.nulls().filter(|nulls| nulls.null_count() > 0);
        let (mut least, mut greatest) = (u64::MAX, 0);
        for (row, key) in numbers(keys).iter().enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                continue;
            }
            let ordered = key ^ self.flip;
            least = least.min(ordered);
            greatest = greatest.max(ordered);
            let (word, bit) = self.place(*key);
            let word = &self.words[word];
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        self.least.fetch_min(least, Ordering::Relaxed);
        self.greatest.fetch_max(greatest, Ordering::Relaxed);
    }

    /// Distance between the least and the greatest key; `None` without a key.
    pub(crate) fn span(&self) -> Option<u64> {
        let greatest = self.greatest.load(Ordering::Relaxed);
        greatest.checked_sub(self.least.load(Ordering::Relaxed))
    }

    /// Range from the least to the greatest key.
    pub(crate) fn range(&self) -> NumberRange {
        let least = self.least.load(Ordering::Relaxed);
        let greatest = self.greatest.load(Ordering::Relaxed);
        if least > greatest {
            return NumberRange::EMPTY;
        }
        let number = |key: u64| match self.flip {
            0 => i128::from(key),
            flip => i128::from((key ^ flip).cast_signed()),
        };
        NumberRange {
            least: number(least),
            greatest: number(greatest),
        }
    }

    /// Rows whose key may be in the filter.
    pub(crate) fn kept(&self, keys: &ArrayRef) -> BooleanBuffer {
        let keys_of = numbers(keys);
        let least = self.least.load(Ordering::Relaxed);
        let Some(span) = self.span() else {
            return BooleanBuffer::new_unset(keys_of.len());
        };
        let kept = BooleanBuffer::collect_bool(keys_of.len(), |row| {
            let key = keys_of[row];
            let (word, bit) = self.place(key);
            let is_set = self.words[word].load(Ordering::Relaxed) & bit != 0;
            is_set & ((key ^ self.flip).wrapping_sub(least) <= span)
        });
        match keys.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => kept,
            Some(nulls) => &kept & nulls.inner(),
        }
    }
}

/// Bits of integers; those of NULLs are arbitrary.
fn numbers(keys: &ArrayRef) -> &[u64] {
    match keys.data_type() {
        DataType::UInt64 => keys.as_primitive::<UInt64Type>().values(),
        _ => keys
            .as_primitive::<Int64Type>()
            .values()
            .inner()
            .typed_data(),
    }
}

/// A filter of a column of numbers. Both are filled while scans apply them.
#[derive(Debug, Clone)]
pub(crate) enum ColumnFilter {
    /// Keys of a build side.
    Keys(Arc<KeyFilter>),
    /// Bound of the first key of a sort with a limit, once the sort has a table.
    First(Arc<OnceLock<FirstKeyBound>>),
}

impl ColumnFilter {
    /// Range of the values that pass, and NULL does not; `None` where all pass.
    pub(crate) fn range(&self) -> Option<NumberRange> {
        match self {
            Self::Keys(keys) => Some(keys.range()),
            Self::First(bound) => bound.get()?.range(),
        }
    }
}

/// A filter on its way down to the source of its column.
#[derive(Debug, Clone)]
pub(crate) struct GivenFilter {
    /// (operator, key) that made the filter: its next filter replaces this one.
    pub(crate) maker: (usize, usize),
    /// The filter; `None` where none was made in this run.
    pub(crate) filter: Option<ColumnFilter>,
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, UInt64Array};

    use super::*;
    use crate::testing;

    fn filter(ty: PhysicalType, rows: u64) -> KeyFilter {
        let statement = testing::World::new().statement(&testing::configs()[0]);
        KeyFilter::new(ty, rows, statement.temp.memory()).expect("numbers have filters")
    }

    fn kept(filter: &KeyFilter, keys: ArrayRef) -> Vec<bool> {
        filter.kept(&keys).iter().collect()
    }

    #[test]
    fn keys_that_were_added_are_kept() {
        let numbers = filter(PhysicalType::Int64, 4);
        let none: ArrayRef = Arc::new(Int64Array::from(vec![0, 5, -1, i64::MIN]));
        assert_eq!(kept(&numbers, none), [false; 4]);
        let keys = vec![Some(5), None, Some(-3), Some(7)];
        numbers.add(&(Arc::new(Int64Array::from(keys)) as ArrayRef));
        let asked = vec![Some(5), Some(6), None, Some(-3), Some(8), Some(-4), Some(7)];
        assert_eq!(
            kept(&numbers, Arc::new(Int64Array::from(asked))),
            [true, false, false, true, false, false, true]
        );
    }

    #[test]
    fn numbers_in_a_row_are_kept_without_error_and_strewn_ones_mostly() {
        let near = filter(PhysicalType::UInt64, 1000);
        let far = filter(PhysicalType::UInt64, 1000);
        let steps = |step: u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(
                (0..1000).map(|n| n * 7 * step),
            ))
        };
        near.add(&steps(1));
        far.add(&steps(1 << 40));
        let asked = |step: u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values((0..7000).map(|n| n * step)))
        };
        let expected: Vec<bool> = (0..7000).map(|n| n % 7 == 0).collect();
        assert_eq!(kept(&near, asked(1)), expected);
        let found = kept(&far, asked(1 << 40));
        assert!(
            expected
                .iter()
                .zip(&found)
                .all(|(added, found)| !added || *found)
        );
        assert!(found.iter().filter(|found| **found).count() < 2000);
    }
}
