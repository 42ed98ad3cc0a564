//! Exact sums in integers that hardly ever overflow, each with its count: both adjacent, so that a row of a group
//! touches one cache line. A sum that overflows its integer moves to a side table of wider ones, and starts over.

use std::collections::HashMap;

use arrow_buffer::i256;

use super::growth::lengthen;
use super::state::{States, add_in_lanes, pays_in_lanes, with_states_ahead};

/// Integer type of a sum.
pub(super) trait Word: Copy + Default + Into<i128> {
    /// The value in this type, if it fits.
    fn of(value: i128) -> Option<Self>;
    fn checked_add(self, other: Self) -> Option<Self>;
}

impl Word for i64 {
    #[inline(always)]
    fn of(value: i128) -> Option<Self> {
        Self::try_from(value).ok()
    }

    #[inline(always)]
    fn checked_add(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

impl Word for i128 {
    #[inline(always)]
    fn of(value: i128) -> Option<Self> {
        Some(value)
    }

    #[inline(always)]
    fn checked_add(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Total<T> {
    sum: T,
    count: i64,
}

impl<T: Word> Total<T> {
    /// Adds a value to a group's sum, or the sum of `count` values.
    #[inline(always)]
    fn add(&mut self, rest: &mut HashMap<u32, i256>, group: u32, value: i128, count: i64) {
        self.count += count;
        match T::of(value).and_then(|value| self.sum.checked_add(value)) {
            Some(sum) => self.sum = sum,
            None => self.move_to(rest, group, i256::from_i128(value)),
        }
    }

    /// Moves the sum to the side table, together with a value that overflowed it.
    #[cold]
    #[inline(never)]
    fn move_to(&mut self, rest: &mut HashMap<u32, i256>, group: u32, value: i256) {
        let sum = std::mem::take(&mut self.sum);
        let rest = rest.entry(group).or_default();
        *rest = rest
            .wrapping_add(value)
            .wrapping_add(i256::from_i128(sum.into()));
    }
}

/// Sums and counts of groups `0 .. n`.
#[derive(Debug, Default)]
pub(super) struct SmallSums<T> {
    totals: Vec<Total<T>>,
    /// Overflowed parts of sums, by group.
    rest: HashMap<u32, i256>,
}

impl<T: Word> SmallSums<T> {
    pub(super) fn resize(&mut self, group_count: usize) {
        lengthen(&mut self.totals, group_count, Total::default());
    }

    /// The address of the sums, for prefetching.
    pub(super) fn places(&self) -> States {
        States::of(&self.totals)
    }

    /// Adds a value to a group's sum, or the sum of `count` values.
    #[inline(always)]
    pub(super) fn add(&mut self, group: u32, value: i128, count: i64) {
        self.totals[group as usize].add(&mut self.rest, group, value, count);
    }

    /// Adds the numbers of rows, less than 2^95 each, to their groups.
    #[inline]
    pub(super) fn add_batch(&mut self, groups: &[u32], value: impl Fn(usize) -> i128) {
        let places = [self.places()];
        let (totals, rest) = (&mut self.totals[..], &mut self.rest);
        if pays_in_lanes(groups.len(), totals.len()) {
            // A batch has fewer than 2^32 rows.
            let add = |(sum, count): &mut (i128, i64), _, row| {
                *sum += value(row);
                *count += 1;
            };
            let lanes = add_in_lanes(groups, (0, 0), add);
            for (group, (sum, count)) in lanes.of_groups(totals.len()) {
                totals[group as usize].add(rest, group, sum, count);
            }
            return;
        }
        with_states_ahead(groups, places, |first, groups| {
            for (row, group) in groups.iter().enumerate() {
                totals[*group as usize].add(rest, *group, value(first + row), 1);
            }
        });
    }

    /// [`Self::add`] for values that may be wider.
    #[inline]
    pub(super) fn add_wide(&mut self, group: u32, value: i256, count: i64) {
        match value.to_i128() {
            Some(value) => self.add(group, value, count),
            None => {
                let total = &mut self.totals[group as usize];
                total.count += count;
                total.move_to(&mut self.rest, group, value);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.totals.len()
    }

    pub(super) fn count(&self, group: usize) -> i64 {
        self.totals[group].count
    }

    pub(super) fn sum(&self, group: usize) -> i256 {
        let sum = i256::from_i128(self.totals[group].sum.into());
        if self.rest.is_empty() {
            return sum;
        }
        let rest = self.rest.get(&(group as u32));
        rest.map_or(sum, |rest| rest.wrapping_add(sum))
    }

    /// Whether no sum has overflowed.
    pub(super) fn is_narrow(&self) -> bool {
        self.rest.is_empty()
    }

    /// The sums with their counts, if none has overflowed.
    pub(super) fn narrow(&self) -> Option<Vec<(i128, i64)>> {
        let totals = self.totals.iter();
        let sums = totals.map(|total| (total.sum.into(), total.count));
        self.is_narrow().then(|| sums.collect())
    }

    /// The low 128 bits of a group's sum.
    pub(super) fn narrow_sum(&self, group: usize) -> i128 {
        if self.is_narrow() {
            return self.totals[group].sum.into();
        }
        self.sum(group).as_i128()
    }

    pub(super) fn counts(&self) -> Vec<i64> {
        self.totals.iter().map(|total| total.count).collect()
    }

    pub(super) fn clear(&mut self) {
        self.totals = Vec::new();
        self.rest.clear();
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.totals.capacity() * size_of::<Total<T>>() + self.rest.len() * 80
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Word>(wide_by: u32) {
        let mut random = crate::context::MysqlRandom::from_seed(5);
        let mut sums = SmallSums::<T> {
            totals: Vec::new(),
            rest: HashMap::new(),
        };
        sums.resize(4);
        let (mut expected, mut counts) = ([i256::ZERO; 4], [0_i64; 4]);
        for n in 0..20_000_u32 {
            let group = n % 4;
            let part = i128::from((random.next() * 2e18) as i64 - 900_000_000_000_000_000);
            let (value, count) = match n % 7 {
                0 => (i128::from(i64::MAX) << wide_by, 1),
                1 => (part << wide_by, 1),
                2 => (part << 3, 5),
                _ => (part, 1),
            };
            let mut value = i256::from_i128(value);
            if n % 1000 == 3 {
                value = value.wrapping_mul(i256::from_i128(1 << 100));
                sums.add_wide(group, value, count);
            } else if n % 2 == 0 {
                sums.add_wide(group, value, count);
            } else {
                sums.add(group, value.as_i128(), count);
            }
            expected[group as usize] = expected[group as usize].wrapping_add(value);
            counts[group as usize] += count;
        }
        for group in 0..4 {
            assert_eq!(sums.sum(group), expected[group]);
            assert_eq!(sums.count(group), counts[group]);
        }
        assert_eq!(sums.counts(), counts);
        assert!(!sums.rest.is_empty());
    }

    #[test]
    fn batches_of_few_groups_give_what_their_rows_give() {
        for (groups, rows) in [(1, 1000), (4, 63), (4, 4099), (16, 777), (17, 900)] {
            let ids: Vec<u32> = (0..rows).map(|row| row * 7 % groups).collect();
            let value = |row: usize| (1_i128 << 62) * if row.is_multiple_of(3) { -1 } else { 1 };
            let mut by_batch = SmallSums::<i64>::default();
            let mut by_row = SmallSums::<i64>::default();
            by_batch.resize(groups as usize);
            by_row.resize(groups as usize);
            by_batch.add_batch(&ids, value);
            for (row, group) in ids.iter().enumerate() {
                by_row.add(*group, value(row), 1);
            }
            for group in 0..groups as usize {
                assert_eq!(by_batch.sum(group), by_row.sum(group));
                assert_eq!(by_batch.count(group), by_row.count(group));
            }
        }
    }

    #[test]
    fn sums_that_outgrow_their_integers_are_exact() {
        check::<i64>(40);
        check::<i128>(63);
    }
}
