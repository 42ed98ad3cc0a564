//! Order-independent sums of doubles: the result depends neither on the order of the numbers nor on how they were
//! distributed over threads and partial states.
//!
//! A sum is kept as a set of doubles whose exact (real) sum is the exact sum of everything added:
//! each addition is an error-free transformation (Knuth's TwoSum), so nothing is ever rounded away.
//! Only the end rounds, once and correctly: Shewchuk, "Adaptive Precision Floating-Point Arithmetic
//! and Fast Robust Geometric Predicates" (1997).
//!
//! A few doubles per group, by decreasing magnitude, hold nearly every sum of ordinary data exactly: two for sums,
//! three for sums of squares, which have twice as many digits. The rest goes into an expansion in a side table, which
//! therefore stays small.
//!
//! Numbers so large that adding them could overflow are kept apart, scaled down by a power of two.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::growth::lengthen;
use super::state::{States, add_in_lanes, pays_in_lanes, with_states_ahead};
use crate::output;

/// Magnitude from which numbers are kept scaled.
const HUGE: f64 = 1e270;
/// A power of two; scaling by it is exact.
const SCALE: f64 = 1.0 / (1_u128 << 100) as f64;

/// Independent partial sums of a run, for instruction-level parallelism.
const RUN_LANES: usize = 4;

/// `a + b` and its rounding error; exact together.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// `a × b` and its rounding error.
#[inline]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// Range in which the halves of a square neither overflow nor underflow.
const PLAIN_SQUARES: std::ops::Range<f64> = 1e-140..1e150;
/// Splits a double into halves of at most 26 bits.
const SPLITTER: f64 = ((1_u64 << 27) + 1) as f64;

/// [`two_product`] of a number with itself, without a call: on processors not known to have a fused multiplication,
/// that is a function call (Dekker, "A floating-point technique for extending the available precision", 1971).
#[inline]
pub(crate) fn two_square(a: f64) -> (f64, f64) {
    if !PLAIN_SQUARES.contains(&a.abs()) {
        return two_product(a, a);
    }
    let square = a * a;
    let scaled = SPLITTER * a;
    let high = scaled - (scaled - a);
    let low = a - high;
    (
        square,
        ((high * high - square) + 2.0 * high * low) + low * low,
    )
}

/// An exact sum as doubles that do not overlap, by increasing magnitude.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Expansion(Vec<f64>);

impl Expansion {
    /// Adds a number exactly.
    pub(crate) fn add(&mut self, mut value: f64) {
        let mut kept = 0;
        for index in 0..self.0.len() {
            let (sum, error) = two_sum(value, self.0[index]);
            if error != 0.0 {
                self.0[kept] = error;
                kept += 1;
            }
            value = sum;
        }
        self.0.truncate(kept);
        if value != 0.0 || self.0.is_empty() {
            self.0.push(value);
        }
    }

    /// Adds another expansion exactly.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for part in &other.0 {
            self.add(*part);
        }
    }

    /// The product with a number, exactly (short of underflow).
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let mut result = Self::default();
        for part in &self.0 {
            let (product, error) = two_product(*part, factor);
            result.add(error);
            result.add(product);
        }
        result
    }

    /// The product with another expansion, exactly (short of underflow).
    pub(crate) fn product(&self, other: &Self) -> Self {
        let mut result = Self::default();
        for part in &other.0 {
            result.add_all(&self.scaled(*part));
        }
        result
    }

    /// The nearest double.
    pub(crate) fn round(&self) -> f64 {
        let mut parts = self.0.iter().rev().copied();
        let Some(mut high) = parts.next() else {
            return 0.0;
        };
        let mut low = 0.0;
        for part in parts.by_ref() {
            let (sum, error) = two_sum(high, part);
            high = sum;
            low = error;
            if low != 0.0 {
                break;
            }
        }
        // Exactly half way: the next part decides the direction.
        if let Some(rest) = parts.next()
            && (low < 0.0) == (rest < 0.0)
        {
            let twice = low * 2.0;
            let candidate = high + twice;
            if twice == candidate - high {
                high = candidate;
            }
        }
        high
    }
}

/// The part of a sum that does not fit its doubles.
#[derive(Debug, Clone, Default)]
struct Rest {
    ordinary: Expansion,
    /// Numbers of at least [`HUGE`], times [`SCALE`].
    huge: Expansion,
}

/// Exact sums for groups `0 .. n`.
#[derive(Debug, Default)]
pub(crate) struct ExactSums<const PARTS: usize = 2> {
    /// The doubles of each group, adjacent: a sum is in one cache line.
    parts: Vec<[f64; PARTS]>,
    rest: HashMap<u32, Rest>,
}

/// Adds a number to the parts of a sum; returns what does not fit them.
#[inline]
fn add_to<const PARTS: usize>(parts: &mut [f64; PARTS], value: f64) -> f64 {
    let mut rest = value;
    for part in parts {
        (*part, rest) = two_sum(*part, rest);
    }
    rest
}

/// Adds a number to a group's parts and rest.
#[inline(always)]
fn add_to_all<const PARTS: usize>(
    parts: &mut [f64; PARTS],
    rest: &mut HashMap<u32, Rest>,
    group: u32,
    value: f64,
) {
    if value.abs() >= HUGE {
        add_huge(rest, group, value);
        return;
    }
    let error = add_to(parts, value);
    if error != 0.0 {
        add_rest(rest, group, error);
    }
}

#[cold]
#[inline(never)]
fn add_huge(rest: &mut HashMap<u32, Rest>, group: u32, value: f64) {
    rest.entry(group).or_default().huge.add(value * SCALE);
}

#[cold]
#[inline(never)]
fn add_rest(rest: &mut HashMap<u32, Rest>, group: u32, error: f64) {
    rest.entry(group).or_default().ordinary.add(error);
}

impl<const PARTS: usize> ExactSums<PARTS> {
    pub(crate) fn resize(&mut self, group_count: usize) {
        lengthen(&mut self.parts, group_count, [0.0; PARTS]);
    }

    /// The address of the sums, for prefetching.
    pub(crate) fn places(&self) -> States {
        States::of(&self.parts)
    }

    /// Adds a number to a group.
    #[inline]
    pub(crate) fn add(&mut self, group: u32, value: f64) {
        add_to_all(
            &mut self.parts[group as usize],
            &mut self.rest,
            group,
            value,
        );
    }

    /// Adds the numbers of rows to their groups, and counts them.
    #[inline]
    pub(crate) fn add_batch(&mut self, groups: &[u32], values: &[f64], counts: &mut [i64]) {
        let places = [self.places(), States::of(counts)];
        if pays_in_lanes(groups.len(), counts.len()) && self.add_few(groups, values, counts) {
            return;
        }
        let (sums, rest) = (&mut self.parts[..], &mut self.rest);
        with_states_ahead(groups, places, |first, groups| {
            for (row, group) in groups.iter().enumerate() {
                add_to_all(
                    &mut sums[*group as usize],
                    rest,
                    *group,
                    values[first + row],
                );
                counts[*group as usize] += 1;
            }
        });
    }

    /// Adds values to few groups; `false`, and nothing done, if a value does not fit the doubles of its lane.
    fn add_few(&mut self, groups: &[u32], values: &[f64], counts: &mut [i64]) -> bool {
        // One test for the batch in place of two for each row.
        let mut has_rest = false;
        let add = |(parts, count): &mut ([f64; PARTS], i64), _, row: usize| {
            let value = values[row];
            let error = add_to(parts, value);
            has_rest |= (error != 0.0) | (value.abs() >= HUGE);
            *count += 1;
        };
        let lanes = add_in_lanes(groups, ([0.0; PARTS], 0), add);
        if has_rest {
            return false;
        }
        for (group, (parts, count)) in lanes.of_groups(counts.len()) {
            for part in parts {
                self.add(group, part);
            }
            counts[group as usize] += count;
        }
        true
    }

    /// Adds many numbers to one group.
    #[inline]
    pub(crate) fn add_all(&mut self, group: u32, values: impl Iterator<Item = f64>) {
        let index = group as usize;
        let mut parts = self.parts[index];
        for value in values {
            add_to_all(&mut parts, &mut self.rest, group, value);
        }
        self.parts[index] = parts;
    }

    /// Adds the `terms` of many numbers to one group, in independent lanes: no addition waits for the result of the
    /// one before it.
    #[inline]
    pub(crate) fn add_run<const N: usize>(
        &mut self,
        group: u32,
        values: &[f64],
        terms: impl Fn(f64) -> [f64; N],
    ) {
        let (whole, rest) = values.as_chunks::<RUN_LANES>();
        let mut sums = [[0.0; RUN_LANES]; PARTS];
        let mut has_rest = false;
        for values in whole {
            let terms = values.map(&terms);
            for term in 0..N {
                let mut value = terms.map(|terms| terms[term]);
                has_rest |= value.iter().any(|value| value.abs() >= HUGE);
                for sum in &mut sums {
                    for lane in 0..RUN_LANES {
                        (sum[lane], value[lane]) = two_sum(sum[lane], value[lane]);
                    }
                }
                has_rest |= value.iter().any(|value| *value != 0.0);
            }
        }
        let all = |values: &[f64]| {
            values
                .iter()
                .flat_map(|value| terms(*value))
                .collect::<Vec<_>>()
        };
        if has_rest {
            self.add_all(group, all(values).into_iter());
            return;
        }
        let sums = sums.into_iter().flatten();
        self.add_all(group, sums.chain(all(rest)));
    }

    /// Both doubles of a group without a rest.
    #[inline]
    fn pair(&self, group: usize) -> Option<(f64, f64)> {
        let is_all = self.rest.is_empty() || !self.rest.contains_key(&(group as u32));
        match self.parts[group].as_slice() {
            [high, low, rest @ ..] if is_all && rest.iter().all(|part| *part == 0.0) => {
                Some((*high, *low))
            }
            _ => None,
        }
    }

    /// The exact sum of a group, without the huge numbers.
    fn ordinary(&self, group: usize) -> Expansion {
        let mut exact = match self.rest.get(&(group as u32)) {
            Some(rest) => rest.ordinary.clone(),
            None => Expansion::default(),
        };
        for part in self.parts[group].iter().rev() {
            exact.add(*part);
        }
        exact
    }

    /// The exact sum of a group as an expansion; infinite when it has huge numbers.
    pub(crate) fn expansion(&self, group: usize) -> Expansion {
        let mut exact = self.ordinary(group);
        if let Some(rest) = self.rest.get(&(group as u32)) {
            exact.add_all(&rest.huge.scaled(1.0 / SCALE));
        }
        exact
    }

    /// The sum of a group, rounded once.
    pub(crate) fn round(&self, group: usize) -> f64 {
        if let Some((high, low)) = self.pair(group) {
            // An addition of two doubles rounds once, too.
            return high + low;
        }
        let ordinary = self.ordinary(group).round();
        match self.rest.get(&(group as u32)) {
            Some(rest) if rest.huge.round() != 0.0 => {
                let mut total = rest.huge.clone();
                total.add(ordinary * SCALE);
                total.round() / SCALE
            }
            _ => ordinary,
        }
    }

    /// The exact sums of all groups in a form that [`ExactSums::merge`] reads.
    pub(crate) fn states(&self) -> Result<ArrayRef> {
        output::states(self.parts.len(), |group, out| {
            self.append_state(group, out);
            true
        })
    }

    /// Appends the exact sum of a group in a form that [`ExactSums::merge`] reads.
    fn append_state(&self, group: usize, out: &mut Vec<u8>) {
        if let Some((high, low)) = self.pair(group) {
            let (sum, error) = two_sum(high, low);
            if error != 0.0 {
                out.extend_from_slice(&error.to_le_bytes());
            }
            out.extend_from_slice(&sum.to_le_bytes());
            return;
        }
        for part in self.ordinary(group).0 {
            out.extend_from_slice(&part.to_le_bytes());
        }
        if let Some(rest) = self.rest.get(&(group as u32)) {
            // Huge numbers are written unscaled: their magnitude identifies them. A part outside of that range is
            // written scaled, after a NaN as its marker.
            for part in &rest.huge.0 {
                let value = part / SCALE;
                if value.abs() >= HUGE && value.is_finite() {
                    out.extend_from_slice(&value.to_le_bytes());
                } else {
                    out.extend_from_slice(&f64::NAN.to_le_bytes());
                    out.extend_from_slice(&part.to_le_bytes());
                }
            }
        }
    }

    /// Adds a sum that [`ExactSums::append_state`] wrote.
    pub(crate) fn merge(&mut self, group: u32, state: &[u8]) {
        let mut parts = state
            .chunks_exact(8)
            .map(|part| f64::from_le_bytes(part.try_into().unwrap_or_default()));
        while let Some(part) = parts.next() {
            if part.is_nan() {
                let scaled = parts.next().unwrap_or_default();
                self.rest.entry(group).or_default().huge.add(scaled);
            } else {
                self.add(group, part);
            }
        }
    }

    /// Resets every sum to zero.
    pub(crate) fn restart(&mut self) {
        self.parts.fill([0.0; PARTS]);
        self.rest.clear();
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.parts.capacity() * size_of::<[f64; PARTS]>() + self.rest.len() * 256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_in<const PARTS: usize>(values: &[f64]) -> f64 {
        let mut sums = ExactSums::<PARTS>::default();
        sums.resize(1);
        for value in values {
            sums.add(0, *value);
        }
        sums.round(0)
    }

    fn sum(values: &[f64]) -> f64 {
        let sum = sum_in::<2>(values);
        assert_eq!(
            sum,
            sum_in::<3>(values),
            "the number of doubles does not matter"
        );
        sum
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[1e16, 1.0, 1.0, -1e16, 1e-30]), 2.0);
        assert_eq!(sum(&[1.7e308, 1.7e308, -1.7e308, 3.0, -1.7e308]), 3.0);
        assert_eq!(sum(&[1.7e308, 1.7e308]), f64::INFINITY);
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(
            sum(&[1.0, 2_f64.powi(-53), 2_f64.powi(-106)]),
            1.0 + f64::EPSILON
        );
    }

    #[test]
    fn squares_are_exact() {
        let mut seed = crate::context::MysqlRandom::from_seed(3);
        for exponent in -308..=308 {
            for _ in 0..50 {
                let value = (seed.next() - 0.5) * 10_f64.powi(exponent);
                let (square, error) = two_square(value);
                assert_eq!(square, value * value);
                if square.is_finite() {
                    assert_eq!(error, value.mul_add(value, -square), "{value}");
                }
            }
        }
        assert_eq!(two_square(0.0), (0.0, 0.0));
    }

    #[test]
    fn batches_of_few_and_many_groups_give_what_their_rows_give() {
        let mut seed = crate::context::MysqlRandom::from_seed(11);
        for (group_count, rows) in [(1, 1000), (2, 63), (5, 4099), (16, 777), (17, 900)] {
            // Sums that fit two doubles, and sums that do not.
            for decades in [4.0, 60.0] {
                let groups: Vec<u32> = (0..rows).map(|row| row * 7 % group_count).collect();
                let mut number = || {
                    let power = 10_f64.powf((seed.next() - 0.5) * decades);
                    (seed.next() - 0.5) * power
                };
                let mut values: Vec<f64> = groups.iter().map(|_| number()).collect();
                if decades > 4.0 {
                    values[7] = 1.5e300;
                }
                let mut by_batch = ExactSums::<2>::default();
                by_batch.resize(group_count as usize);
                let mut counts = vec![3; group_count as usize];
                by_batch.add_batch(&groups, &values, &mut counts);
                assert_eq!(by_batch.rest.is_empty(), decades == 4.0);
                for group in 0..group_count {
                    let of_group = |row: &usize| groups[*row] == group;
                    let rows: Vec<usize> = (0..values.len()).filter(of_group).collect();
                    let values: Vec<f64> = rows.iter().map(|row| values[*row]).collect();
                    assert_eq!(by_batch.round(group as usize), sum(&values));
                    assert_eq!(counts[group as usize], 3 + rows.len() as i64);
                }
            }
        }
    }

    #[test]
    fn runs_give_what_their_numbers_give() {
        let mut seed = crate::context::MysqlRandom::from_seed(13);
        for count in [0, 1, 3, 4, 64, 1001] {
            for (decades, last) in [(4.0, 1.0), (60.0, 1.0), (4.0, 1.5e300)] {
                let mut number = |at: usize| {
                    if at + 1 == count {
                        last
                    } else {
                        (seed.next() - 0.5) * 10_f64.powf((seed.next() - 0.5) * decades)
                    }
                };
                let values: Vec<f64> = (0..count).map(&mut number).collect();
                let terms = |value: f64| [value, value / 3.0];
                let (mut by_run, mut by_number) =
                    (ExactSums::<3>::default(), ExactSums::<3>::default());
                for sums in [&mut by_run, &mut by_number] {
                    sums.resize(1);
                    sums.add(0, 0.7);
                }
                by_run.add_run(0, &values, terms);
                for value in values.iter().flat_map(|value| terms(*value)) {
                    by_number.add(0, value);
                }
                assert_eq!(by_run.round(0), by_number.round(0), "{count} numbers");
            }
        }
    }

    #[test]
    fn order_and_partition_do_not_matter() {
        check_order_and_partition::<2>();
        check_order_and_partition::<3>();
    }

    fn check_order_and_partition<const PARTS: usize>() {
        let mut seed = crate::context::MysqlRandom::from_seed(7);
        let mut values: Vec<f64> = (0..2000)
            .map(|_| (seed.next() - 0.5) * 10_f64.powi((seed.next() * 60.0) as i32 - 30))
            .collect();
        values.extend([1e300, -1e300, 1.5e308, 1.5e308, -1.5e308]);
        let expected = sum(&values);
        for _ in 0..20 {
            for index in 0..values.len() {
                let other = (seed.next() * values.len() as f64) as usize;
                values.swap(index, other);
            }
            let mut total = ExactSums::<PARTS>::default();
            total.resize(1);
            for part in values.chunks(1 + (seed.next() * 300.0) as usize) {
                let mut partial = ExactSums::<PARTS>::default();
                partial.resize(1);
                partial.add_all(0, part.iter().copied());
                let mut state = Vec::new();
                partial.append_state(0, &mut state);
                total.merge(0, &state);
            }
            assert_eq!(total.round(0), expected);
        }
    }
}
