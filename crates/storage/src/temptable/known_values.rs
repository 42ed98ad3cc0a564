//! Cache of the groups of repeated values by their bits: no hash of a string, no comparison by a collation.
//!
//! A column that is grouped by often has few values. The bits of a number, a small decimal, or a string that is its
//! own view ([short strings](crate::temptable)) identify a value in any batch, so a table of these bits gives the
//! group. Values that are equal by a collation but have other bits are several entries of one group. What is not in
//! the table is looked up in the index; a column of many values soon ends the attempt.
//!
//! A slot is 16 bytes, so that a cache line holds four: 100 bits of value, and the group plus one (0 is a vacant
//! slot). A table larger than the near cache is prefetched for many rows at once, so that the misses overlap.

use arrow_array::{Array, ArrayRef};

use mayfly_memory::{Reservation, prefetch};

use super::rows::View;
use crate::values::ArrayValues;

/// Maximum number of known values: 4 MiB. Even beyond the processor's cache the table is quicker than the index, which
/// reads a slot, an address and a row for each value.
pub(super) const VALUES_MAX: usize = 192 << 10;
/// Binary logarithm of the initial number of slots.
const BITS_MIN: u32 = 7;
/// Maximum length of a probe sequence.
const PROBES_MAX: usize = 16;
/// Number of values that may be looked up in the index in vain ...
const CREDIT: i64 = 8 << 10;
/// ... and one more for this many that were known ...
const KNOWN_A_MISS: i64 = 4;
/// ... or this many more for each known one, up to a number of misses: of 100,000 values in random order few are known
/// at first, and none of those that never repeat.
const MISSES_A_KNOWN: i64 = 16;
const LEARNED_VALUES: i64 = 96 << 10;
/// Size in bytes up to which the slots are in the cache and need no prefetch.
const LARGE_BYTES: usize = 256 << 10;
/// Number of rows that are prefetched at once.
const ROWS_AHEAD: usize = 64;

/// Number of bits of a slot that hold the group.
const GROUP_BITS: u32 = 28;
const GROUP_MASK: u32 = (1 << GROUP_BITS) - 1;

/// Bits of a value in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits(u128);

impl Bits {
    /// Mark of a value that does not fit into a slot: no slot has these bits.
    const NONE: Self = Self(u128::MAX);

    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Self(word.into())
    }

    #[inline(always)]
    fn of_decimal(value: i128) -> Self {
        if value << GROUP_BITS >> GROUP_BITS == value {
            Self(value.cast_unsigned() << GROUP_BITS >> GROUP_BITS)
        } else {
            Self::NONE
        }
    }

    /// A view has its length in 32 bits, and 12 bytes of value, which are 0 behind the length.
    #[inline(always)]
    fn of_view(view: u128) -> Self {
        if View(view).is_inline() {
            Self(view >> 32 << 4 | u128::from(view as u32))
        } else {
            Self::NONE
        }
    }
}

/// Slot: a value's bits above its group plus one.
#[derive(Debug, Clone, Copy, Default)]
struct Slot(u128);

impl Slot {
    #[inline(always)]
    fn bits(self) -> Bits {
        Bits(self.0 >> GROUP_BITS)
    }

    /// The group plus one; 0 for a vacant slot.
    #[inline(always)]
    fn number(self) -> u32 {
        self.0 as u32 & GROUP_MASK
    }
}

/// Cache from values to groups.
#[derive(Debug)]
pub(super) struct KnownValues {
    slots: Vec<Slot>,
    count: usize,
    null: Option<u32>,
    /// Memory reservation of the slots.
    held: Reservation,
    /// The group plus one of each string of one byte: flags and codes need no search at all.
    of_bytes: Box<[u32; 256]>,
    /// Number of further misses before the attempt ends; below 0: ended.
    credit: i64,
    /// Number of misses.
    missed: i64,
    /// The rows of the last batch whose values are not known.
    pub(super) misses: Vec<u32>,
}

impl KnownValues {
    /// Group of a value that is not known.
    const MISS: u32 = u32::MAX;

    /// An empty cache, which reserves memory as values are added.
    pub(super) fn new(held: Reservation) -> Self {
        Self {
            slots: Vec::new(),
            count: 0,
            null: None,
            of_bytes: Box::new([0; 256]),
            held,
            credit: CREDIT,
            missed: 0,
            misses: Vec::new(),
        }
    }

    /// Whether the column has had few values so far.
    pub(super) fn is_of_use(&self) -> bool {
        self.credit >= 0
    }

    /// Sets `groups` to the groups of the known values, and [`Self::misses`] to the rows of all others.
    pub(super) fn find(&mut self, values: &ArrayRef, groups: &mut Vec<u32>) {
        groups.clear();
        groups.reserve(values.len());
        let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
        match ArrayValues::new(values) {
            ArrayValues::Words(words) => {
                self.find_all(words, |word| Bits::of_word(*word), |_| None, groups);
            }
            ArrayValues::Decimal128(values) => {
                self.find_all(values, |value| Bits::of_decimal(*value), |_| None, groups);
            }
            ArrayValues::Bytes(strings) => {
                let views = strings.views();
                self.find_all(
                    views,
                    |view| Bits::of_view(*view),
                    |view| only_byte(*view),
                    groups,
                );
            }
            ArrayValues::Bools(_) | ArrayValues::Decimal256(_) => {
                groups.resize(values.len(), Self::MISS);
            }
        }
        if let Some(nulls) = nulls {
            let null = self.null.unwrap_or(Self::MISS);
            for (row, group) in groups.iter_mut().enumerate() {
                if nulls.is_null(row) {
                    *group = null;
                }
            }
        }
        self.misses.clear();
        let has_misses = groups
            .iter()
            .fold(false, |any, group| any | (*group == Self::MISS));
        if has_misses {
            let rows = groups.iter().zip(0_u32..);
            let misses = rows.filter(|(group, _)| **group == Self::MISS);
            self.misses.extend(misses.map(|(_, row)| row));
        }
        let missed = self.misses.len() as i64;
        let known = groups.len() as i64 - missed;
        let gained = if self.missed < LEARNED_VALUES {
            known * MISSES_A_KNOWN
        } else {
            known / KNOWN_A_MISS
        };
        self.missed += missed;
        self.credit = CREDIT.min(self.credit - missed + gained);
    }

    /// Appends the groups of values; strings of one byte are found by it.
    #[inline(always)]
    fn find_all<T>(
        &self,
        values: &[T],
        bits: impl Fn(&T) -> Bits,
        only_byte: impl Fn(&T) -> Option<u8>,
        groups: &mut Vec<u32>,
    ) {
        let group = |value: &T| match only_byte(value) {
            Some(byte) => self.of_bytes[usize::from(byte)].wrapping_sub(1),
            None => self.group(bits(value)),
        };
        if self.memory_bytes() < LARGE_BYTES as u64 {
            groups.extend(values.iter().map(group));
            return;
        }
        for values in values.chunks(ROWS_AHEAD) {
            for value in values {
                prefetch(self.slots.as_ptr().wrapping_add(self.start(bits(value))));
            }
            groups.extend(values.iter().map(group));
        }
    }

    /// First slot of a value's probe sequence: every bit of the value counts.
    #[inline(always)]
    fn start(&self, Bits(bits): Bits) -> usize {
        let (low, high) = (bits as u64, (bits >> 64) as u64);
        let product =
            u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
        let mixed = product as u64 ^ (product >> 64) as u64;
        (mixed >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[inline(always)]
    fn group(&self, bits: Bits) -> u32 {
        if self.slots.is_empty() {
            return Self::MISS;
        }
        let mask = self.slots.len() - 1;
        let start = self.start(bits);
        for at in start..start + PROBES_MAX {
            let slot = self.slots[at & mask];
            if slot.bits() == bits || slot.number() == 0 {
                // A vacant slot gives [`MISS`].
                return slot.number().wrapping_sub(1);
            }
        }
        Self::MISS
    }

    /// Adds the group of a row's value, if it fits into a slot.
    pub(super) fn add(&mut self, values: &ArrayRef, row: usize, group: u32) {
        if values.is_null(row) {
            self.null = Some(group);
            return;
        }
        match ArrayValues::new(values) {
            ArrayValues::Words(words) => self.insert(Bits::of_word(words[row]), group),
            ArrayValues::Decimal128(values) => self.insert(Bits::of_decimal(values[row]), group),
            ArrayValues::Bytes(strings) => {
                let view = strings.views()[row];
                match only_byte(view) {
                    Some(byte) => self.of_bytes[usize::from(byte)] = group + 1,
                    None => self.insert(Bits::of_view(view), group),
                }
            }
            ArrayValues::Bools(_) | ArrayValues::Decimal256(_) => {}
        }
    }

    fn insert(&mut self, bits: Bits, group: u32) {
        if bits == Bits::NONE || group >= GROUP_MASK {
            return;
        }
        let is_full = self.count >= self.slots.len() / 4 * 3;
        if self.count >= VALUES_MAX || is_full && !self.has_memory_for_more() {
            self.credit = i64::MIN / 2;
            return;
        }
        if is_full {
            let slots = vec![Slot::default(); self.wanted_slots()];
            let old = std::mem::replace(&mut self.slots, slots);
            self.count = 0;
            for slot in old.into_iter().filter(|slot| slot.number() > 0) {
                self.put(slot);
            }
        }
        self.put(Slot(bits.0 << GROUP_BITS | u128::from(group + 1)));
    }

    fn wanted_slots(&self) -> usize {
        (self.slots.len() * 2).max(1 << BITS_MIN)
    }

    fn has_memory_for_more(&mut self) -> bool {
        let bytes = self.wanted_slots() * size_of::<Slot>();
        self.held.try_resize(bytes as u64).is_ok()
    }

    /// Memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val(&*self.slots) as u64
    }

    /// Puts a value into a vacant slot, if its probe sequence has one.
    fn put(&mut self, new: Slot) {
        let (start, mask) = (self.start(new.bits()), self.slots.len() - 1);
        for at in start..start + PROBES_MAX {
            let slot = &mut self.slots[at & mask];
            if slot.number() > 0 && slot.bits() != new.bits() {
                continue;
            }
            self.count += usize::from(slot.number() == 0);
            *slot = new;
            return;
        }
    }

    /// Removes all values.
    pub(super) fn clear(&mut self) {
        self.slots.fill(Slot::default());
        self.of_bytes.fill(0);
        self.count = 0;
        self.null = None;
    }
}

/// The byte of a string of length 1.
#[inline(always)]
fn only_byte(view: u128) -> Option<u8> {
    (view as u32 == 1).then_some((view >> 32) as u8)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow_array::{BinaryViewArray, Decimal128Array, Float64Array, Int64Array};
    use mayfly_memory::{Budget, BudgetKind};

    use super::*;

    /// Groups batches with the cache in front of a map of strings, and checks every number.
    fn check(batches: impl Iterator<Item = ArrayRef>) -> bool {
        let memory = Budget::unlimited(BudgetKind::Memory);
        let mut known = KnownValues::new(memory.reservation());
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut groups = Vec::new();
        let text = |array: &ArrayRef, row: usize| {
            if array.is_null(row) {
                "NULL".to_owned()
            } else {
                format!("{:?}", ArrayValues::new(array).get(row))
            }
        };
        for batch in batches {
            known.find(&batch, &mut groups);
            for row in std::mem::take(&mut known.misses) {
                let next = numbers.len() as u32;
                let text = text(&batch, row as usize);
                let group = *numbers.entry(text).or_insert(next);
                groups[row as usize] = group;
                known.add(&batch, row as usize, group);
            }
            for (row, group) in groups.iter().enumerate() {
                assert_eq!(*group, numbers[&text(&batch, row)], "row {row}");
            }
        }
        known.is_of_use()
    }

    /// Some numbers below `many`, spread over the batches.
    fn numbers(many: u64) -> impl Iterator<Item = Vec<Option<u64>>> {
        (0..400_u64).map(move |batch| {
            let number = |row: u64| {
                let spread = (batch * 500 + row).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17;
                (!spread.is_multiple_of(41)).then_some(spread % many)
            };
            (0..500).map(number).collect()
        })
    }

    #[test]
    fn few_values_are_known_and_many_end_the_attempt() {
        for (many, is_of_use) in [
            (1, true),
            (7, true),
            (900, true),
            (30_000, true),
            (1 << 20, false),
        ] {
            let words = numbers(many).map(|values| {
                let values = values
                    .iter()
                    .map(|value| Some((*value)? as i64 * 1_000_003));
                Arc::new(values.collect::<Int64Array>()) as ArrayRef
            });
            assert_eq!(check(words), is_of_use, "{many}");
            let doubles = numbers(many).map(|values| {
                let values = values
                    .iter()
                    .map(|value| Some((*value)? as f64 / 7.0 - 3.0));
                Arc::new(values.collect::<Float64Array>()) as ArrayRef
            });
            assert_eq!(check(doubles), is_of_use, "{many}");
            // Values that do not fit into a slot are looked up each time.
            for shift in [0, 70, 99] {
                let decimals = numbers(many).map(|values| {
                    let values = values
                        .iter()
                        .map(|value| Some(-i128::from((*value)?) << shift));
                    Arc::new(values.collect::<Decimal128Array>()) as ArrayRef
                });
                let found = check(decimals);
                assert!(shift == 99 || found == is_of_use, "{many} at {shift}");
            }
            // Every third string is longer than an inline view.
            let texts = numbers(many).map(|values| {
                let values = values.iter().map(|value| {
                    let width = if (*value)? % 3 == 0 { 20 } else { 9 };
                    Some(format!("{:0width$}", (*value)?).into_bytes())
                });
                Arc::new(values.collect::<BinaryViewArray>()) as ArrayRef
            });
            check(texts);
            let letters = numbers(many.min(200)).map(|values| {
                let values = values.iter().map(|value| {
                    let letter = (*value)? as u8;
                    Some(match letter % 9 {
                        0 => vec![],
                        1 => vec![letter, letter],
                        _ => vec![letter],
                    })
                });
                Arc::new(values.collect::<BinaryViewArray>()) as ArrayRef
            });
            assert!(check(letters), "{many}");
        }
    }

    #[test]
    fn forgotten_groups_are_not_known() {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None]));
        let memory = Budget::unlimited(BudgetKind::Memory);
        let (mut known, mut groups) = (KnownValues::new(memory.reservation()), Vec::new());
        known.add(&values, 0, 3);
        known.add(&values, 1, 4);
        known.find(&values, &mut groups);
        assert_eq!((groups.as_slice(), known.misses.len()), (&[3, 4][..], 0));
        known.clear();
        known.find(&values, &mut groups);
        assert_eq!(known.misses, [0, 1]);
    }
}
