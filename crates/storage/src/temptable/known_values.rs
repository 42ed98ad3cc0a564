//! The groups of values that came before, by the bits of the values: no hash of a string, no comparison by a
//! collation.
//!
//! A column that is grouped by often has few values. The bits of a number, a decimal, or a string that is its
//! own view ([short strings](crate::temptable)) are a value in any batch, so a table of these bits tells the
//! group. Equal values of other bits, as a collation has them, are several entries of one
//! group. What is not in the table is looked up in the index; a column of many values soon ends the attempt.

use arrow_array::{Array, ArrayRef};

use mayfly_memory::Reservation;

use super::rows::View;
use crate::values::ArrayValues;

/// So many values are known at most: 6 MiB. Beyond the cache of the processor the table is still quicker than the index,
/// which reads a slot, an address and a row for each value.
const VALUES_MAX: usize = 128 << 10;
/// Slots at first, as a power of two.
const BITS_MIN: u32 = 7;
/// A value is in one of so many slots behind its own, or not known.
const PROBES_MAX: usize = 16;
/// So many values may be looked up in the index in vain ...
const CREDIT: i64 = 8 << 10;
/// ... and one more for so many that were known ...
const KNOWN_A_MISS: i64 = 4;
/// ... or so many more for each of them, until so many were in vain: of 100,000 values that come in any order few are
/// known at first, and none of those that never repeat.
const MISSES_A_KNOWN: i64 = 16;
const LEARNED_VALUES: i64 = 64 << 10;

/// A value's bits, and its group plus one; 0 is a vacant slot.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// The lower and the upper half: 24 bytes a slot, not 32.
    bits: [u64; 2],
    group: u32,
}

#[inline(always)]
fn halves(bits: u128) -> [u64; 2] {
    [bits as u64, (bits >> 64) as u64]
}

/// The table; see the module.
#[derive(Debug)]
pub(super) struct KnownValues {
    slots: Vec<Slot>,
    count: usize,
    null: Option<u32>,
    /// Memory of the slots.
    held: Reservation,
    /// For each byte the group of the string of it alone, plus one: flags and codes need not even a search.
    of_bytes: Box<[u32; 256]>,
    /// How many more misses are worth it; less than 0: no attempt is made any more.
    credit: i64,
    /// How many were in vain.
    missed: i64,
    /// The rows of the last batch whose values are not known.
    pub(super) misses: Vec<u32>,
}

impl KnownValues {
    /// The group of a value that is not known.
    const MISS: u32 = u32::MAX;

    /// No value; memory for others is taken as they come.
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

    /// Puts the groups of the values that are known into `groups` (cleared first), and the rows of all others
    /// into [`Self::misses`].
    pub(super) fn find(&mut self, values: &ArrayRef, groups: &mut Vec<u32>) {
        groups.clear();
        groups.reserve(values.len());
        let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
        match ArrayValues::new(values) {
            ArrayValues::Words(words) => {
                groups.extend(words.iter().map(|word| self.group(u128::from(*word))));
            }
            ArrayValues::Decimal128(values) => {
                groups.extend(values.iter().map(|value| self.group(value.cast_unsigned())));
            }
            // The bits of a long string are those of none that is known: its length is among them.
            ArrayValues::Bytes(strings) => {
                groups.extend(strings.views().iter().map(|view| match only_byte(*view) {
                    Some(byte) => self.of_bytes[usize::from(byte)].wrapping_sub(1),
                    None => self.group(*view),
                }));
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
        let gained = match self.missed < LEARNED_VALUES {
            true => known * MISSES_A_KNOWN,
            false => known / KNOWN_A_MISS,
        };
        self.missed += missed;
        self.credit = CREDIT.min(self.credit - missed + gained);
    }

    /// Where the search for a value begins.
    #[inline(always)]
    fn start(&self, bits: [u64; 2]) -> usize {
        let word = bits[0] ^ bits[1].rotate_left(32);
        let mixed = (word ^ (word >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[inline(always)]
    fn group(&self, bits: u128) -> u32 {
        if self.slots.is_empty() {
            return Self::MISS;
        }
        let bits = halves(bits);
        let mask = self.slots.len() - 1;
        let start = self.start(bits);
        for at in start..start + PROBES_MAX {
            let slot = &self.slots[at & mask];
            if slot.bits == bits || slot.group == 0 {
                // A vacant slot's group is the one of a miss.
                return slot.group.wrapping_sub(1);
            }
        }
        Self::MISS
    }

    /// Keeps the group of the value of a row, if it is one to be known.
    pub(super) fn add(&mut self, values: &ArrayRef, row: usize, group: u32) {
        if values.is_null(row) {
            self.null = Some(group);
            return;
        }
        match ArrayValues::new(values) {
            ArrayValues::Words(words) => self.insert(u128::from(words[row]), group),
            ArrayValues::Decimal128(values) => self.insert(values[row].cast_unsigned(), group),
            ArrayValues::Bytes(strings) if View(strings.views()[row]).is_inline() => {
                let view = strings.views()[row];
                match only_byte(view) {
                    Some(byte) => self.of_bytes[usize::from(byte)] = group + 1,
                    None => self.insert(view, group),
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, bits: u128, group: u32) {
        let is_full = self.count >= self.slots.len() / 4 * 3;
        if self.count >= VALUES_MAX || is_full && !self.has_memory_for_more() {
            self.credit = i64::MIN / 2;
            return;
        }
        if is_full {
            let slots = vec![Slot::default(); self.wanted_slots()];
            let old = std::mem::replace(&mut self.slots, slots);
            self.count = 0;
            for slot in old.into_iter().filter(|slot| slot.group > 0) {
                self.put(slot);
            }
        }
        self.put(Slot {
            bits: halves(bits),
            group: group + 1,
        });
    }

    fn wanted_slots(&self) -> usize {
        (self.slots.len() * 2).max(1 << BITS_MIN)
    }

    fn has_memory_for_more(&mut self) -> bool {
        let bytes = self.wanted_slots() * size_of::<Slot>();
        self.held.try_resize(bytes as u64).is_ok()
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val(&*self.slots) as u64
    }

    /// Puts a value into a vacant slot, if one is near.
    fn put(&mut self, new: Slot) {
        let (start, mask) = (self.start(new.bits), self.slots.len() - 1);
        for at in start..start + PROBES_MAX {
            let slot = &mut self.slots[at & mask];
            if slot.group > 0 && slot.bits != new.bits {
                continue;
            }
            self.count += usize::from(slot.group == 0);
            *slot = new;
            return;
        }
    }

    /// Forgets all groups.
    pub(super) fn clear(&mut self) {
        self.slots.fill(Slot::default());
        self.of_bytes.fill(0);
        self.count = 0;
        self.null = None;
    }
}

/// The byte of a string of one.
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

    /// Groups batches with the table in front of a map of texts, and checks every number.
    fn check(batches: impl Iterator<Item = ArrayRef>) -> bool {
        let memory = Budget::unlimited(BudgetKind::Memory);
        let mut known = KnownValues::new(memory.reservation());
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut groups = Vec::new();
        let text = |array: &ArrayRef, row: usize| match array.is_null(row) {
            true => "NULL".to_owned(),
            false => format!("{:?}", ArrayValues::new(array).get(row)),
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
        (0..200_u64).map(move |batch| {
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
            let decimals = numbers(many).map(|values| {
                let values = values
                    .iter()
                    .map(|value| Some(-i128::from((*value)?) << 70));
                Arc::new(values.collect::<Decimal128Array>()) as ArrayRef
            });
            assert_eq!(check(decimals), is_of_use, "{many}");
            // Every third is longer than a view.
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
