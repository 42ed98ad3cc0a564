//! Hash table with open addressing from hashes to numbers, used by groups and joins.
//!
//! A slot is 8 bytes: 32 bits of the hash, and the number plus one (0 is a vacant slot). Numbers stand for rows or
//! groups that the caller keeps; the caller also decides whether a number whose hash bits agree has the sought key.
//! Linear probing, at most two thirds full.

use std::cell::Cell;

use mayfly_memory::{Block, Result, prefetch};

use super::context::TempTableContext;
use super::store::Store;

/// Result of a lookup.
pub(crate) enum Slot {
    /// The number of the key.
    Found(u32),
    /// The key is absent; it belongs in this slot.
    Vacant(usize),
}

/// Counter of key comparisons, which checks now and then whether the statement is to end: keys with one hash are
/// compared one by one.
pub(crate) struct Comparisons<'a> {
    context: &'a TempTableContext,
    count: Cell<u32>,
}

const COMPARISONS_UNASKED: u32 = 64 << 10;

impl<'a> Comparisons<'a> {
    pub(crate) fn new(context: &'a TempTableContext) -> Self {
        Self {
            context,
            count: Cell::new(0),
        }
    }

    /// Counts a comparison of two keys.
    #[inline(always)]
    pub(crate) fn count(&self) {
        self.count.set(self.count.get() + 1);
    }

    /// Checks the interrupt; to be called between lookups.
    #[inline(always)]
    pub(crate) fn check(&self) -> Result<()> {
        if self.count.get() >= COMPARISONS_UNASKED {
            self.count.set(0);
            return self.context.check_interrupt();
        }
        Ok(())
    }
}

/// Hash table from hashes to numbers.
#[derive(Debug)]
pub(crate) struct Slots {
    block: Block,
    /// Binary logarithm of the number of slots.
    bits: u32,
    used: usize,
}

const SLOT_BYTES: usize = 8;
const BITS_MIN: u32 = 9;

impl Slots {
    /// A table with room for `expected` keys. It is the working set of its reader, so soft limits do not refuse it.
    pub(crate) fn new(expected: usize, store: &Store) -> Result<Self> {
        let wanted = (expected + expected / 2 + 1)
            .next_power_of_two()
            .ilog2()
            .max(BITS_MIN);
        Self::with_bits(wanted, store)
    }

    fn with_bits(bits: u32, store: &Store) -> Result<Self> {
        let mut block = store.take_working_set(SLOT_BYTES << bits)?;
        block.as_mut_slice()[..SLOT_BYTES << bits].fill(0);
        Ok(Self {
            block,
            bits,
            used: 0,
        })
    }

    /// Memory in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.block.len()
    }

    #[expect(
        unsafe_code,
        reason = "a block seen as slots; casting per access would be slower"
    )]
    fn slots(&self) -> &[u64] {
        // SAFETY: a block is aligned to a page and has 2^bits slots of initialised bytes.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr().cast(), 1 << self.bits) }
    }

    #[expect(unsafe_code, reason = "as for `slots`")]
    fn slots_mut(&mut self) -> &mut [u64] {
        // SAFETY: as for `slots`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr().cast(), 1 << self.bits) }
    }

    /// First slot of the probe sequence of a hash (a row's header).
    #[inline(always)]
    pub(crate) fn start(&self, header: u64) -> usize {
        ((header >> 16).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - self.bits)) as usize
    }

    /// Looks up a key by its hash; `equal` tells whether a number has the key.
    #[inline(always)]
    pub(crate) fn find(&self, header: u64, mut equal: impl FnMut(u32) -> bool) -> Slot {
        let slots = self.slots();
        let mask = slots.len() - 1;
        let tag = (header >> 16) as u32;
        let mut at = self.start(header);
        loop {
            let slot = slots[at & mask];
            if slot as u32 == 0 {
                return Slot::Vacant(at & mask);
            }
            if (slot >> 32) as u32 == tag && equal(slot as u32 - 1) {
                return Slot::Found(slot as u32 - 1);
            }
            at += 1;
        }
    }

    /// Prefetches the first slot of the probe sequence of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, header: u64) {
        prefetch(std::ptr::from_ref(&self.slots()[self.start(header)]));
    }

    /// A number that may have the key of a hash, for prefetching what it refers to.
    #[inline(always)]
    pub(crate) fn candidate(&self, header: u64) -> Option<u32> {
        let slots = self.slots();
        let mask = slots.len() - 1;
        let start = self.start(header);
        let tag = (header >> 16) as u32;
        // Few probe sequences are longer than a cache line.
        for at in start..start + 8 {
            let slot = slots[at & mask];
            if slot as u32 == 0 {
                return None;
            }
            if (slot >> 32) as u32 == tag {
                return Some(slot as u32 - 1);
            }
        }
        None
    }

    /// Puts a number into a slot that [`Self::find`] found vacant.
    #[inline(always)]
    pub(crate) fn fill(&mut self, at: usize, header: u64, number: u32) {
        let tag = (header >> 16) as u32;
        self.slots_mut()[at] = u64::from(tag) << 32 | u64::from(number + 1);
        self.used += 1;
    }

    /// Whether the next key needs a larger table.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.used * 3 >= (2 << self.bits)
    }

    /// Makes the table four times as large; `header` gives the hash of a number.
    pub(crate) fn grow(&mut self, store: &Store, header: impl Fn(u32) -> u64) -> Result<()> {
        let mut larger = Self::with_bits(self.bits + 2, store)?;
        let comparisons = Comparisons::new(&store.context);
        for slot in self.slots() {
            if *slot as u32 != 0 {
                let number = *slot as u32 - 1;
                let header = header(number);
                let equal = |_| {
                    comparisons.count();
                    false
                };
                if let Slot::Vacant(at) = larger.find(header, equal) {
                    larger.fill(at, header, number);
                }
                comparisons.check()?;
            }
        }
        *self = larger;
        Ok(())
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.slots_mut().fill(0);
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::temptable::{Access, Purpose, TempTable, TempTableContext, TempTableSpec};

    #[test]
    fn finds_what_a_map_finds() {
        let context = TempTableContext::for_tests();
        let spec = TempTableSpec {
            purpose: Purpose::Buffer,
            cause: "a test".into(),
            operator: None,
            columns: Vec::new(),
            access: Access::Plain,
        };
        let table = TempTable::create(&context, spec).unwrap();
        let store = &table.0.store;
        for collide in [false, true] {
            let mut slots = Slots::new(10, store).unwrap();
            let mut model = HashMap::new();
            let mut keys: Vec<u64> = Vec::new();
            let header = |key: u64| {
                if collide {
                    0
                } else {
                    key.wrapping_mul(0x1234_5678_9ABC_DEF1)
                }
            };
            let count = if collide { 700 } else { 30_000 };
            for n in 0..count {
                let key = (n * n) % (count / 2 + 7);
                match slots.find(header(key), |number| keys[number as usize] == key) {
                    Slot::Found(number) => assert_eq!(model.get(&key), Some(&number)),
                    Slot::Vacant(at) => {
                        let number = keys.len() as u32;
                        assert_eq!(model.insert(key, number), None);
                        keys.push(key);
                        slots.fill(at, header(key), number);
                        if slots.is_full() {
                            slots.grow(store, |n| header(keys[n as usize])).unwrap();
                        }
                    }
                }
            }
        }
        assert_eq!(store.memory.used(), 0);
    }
}
