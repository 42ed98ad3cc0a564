//! Direct-addressed group numbers: an array instead of a hash table for integers from a narrow range.
//!
//! Keys such as a day, a shop or an `INT` of few values lie close together. As long as all keys seen lie within
//! [`WINDOW_MAX`] of each other, the number of a key is read from an array at the key's distance from the smallest: no
//! hash, no comparison.

use mayfly_memory::{Block, BlockPool, Budget};

/// Maximum width of the range of keys: the array then has 4 MiB.
const WINDOW_MAX: u64 = 1 << 20;
/// Denominator: the array takes at most this part of the memory limit, since the groups need the rest.
const LIMIT_SHARE: u64 = 8;
/// Minimum width of the array.
const WINDOW_MIN: u64 = 1 << 10;

/// Direct-addressed array. Keys are `u64`s whose order does not matter, only their distance.
#[derive(Debug)]
pub(super) struct Dense {
    block: Block,
    base: u64,
    window: u64,
}

impl Dense {
    /// An array for keys within `least ..= greatest` in their type's order, given the bits of `least` and the distance
    /// of `greatest`.
    pub(super) fn new(
        least: u64,
        distance: u64,
        pool: &BlockPool,
        budget: &Budget,
    ) -> Option<Self> {
        if distance >= WINDOW_MAX {
            return None;
        }
        // Spare room on both sides, so that the next batch seldom needs another array.
        let window = ((distance + 1) * 2).clamp(WINDOW_MIN, WINDOW_MAX);
        let base = least.wrapping_sub((window - distance - 1) / 2);
        let bytes = window as usize * size_of::<u32>();
        if bytes as u64 > budget.effective_limit() / LIMIT_SHARE {
            return None;
        }
        let mut block = pool.take(bytes, budget).ok()?;
        block.as_mut_slice()[..bytes].fill(0);
        Some(Self {
            block,
            base,
            window,
        })
    }

    /// Whether all keys of a range have a slot.
    pub(super) fn covers(&self, least: u64, distance: u64) -> bool {
        let start = least.wrapping_sub(self.base);
        start < self.window && distance < self.window - start
    }

    /// A copy of the array that also covers another range.
    pub(super) fn extended(
        &self,
        least: u64,
        greatest: u64,
        signed: bool,
        pool: &BlockPool,
        budget: &Budget,
    ) -> Option<Self> {
        // In the order of the type: signed numbers are ordered by their bits with the sign bit inverted.
        let flip = if signed { 1 << 63 } else { 0 };
        let own_end = self.base.wrapping_add(self.window - 1);
        if (self.base ^ flip) > (own_end ^ flip) {
            return None;
        }
        let start = (self.base ^ flip).min(least ^ flip);
        let end = (own_end ^ flip).max(greatest ^ flip);
        let mut larger = Self::new(start ^ flip, end - start, pool, budget)?;
        for index in 0..self.window {
            let number = self.slots()[index as usize];
            if number != 0 {
                let at = self.base.wrapping_add(index).wrapping_sub(larger.base);
                larger.slots_mut()[at as usize] = number;
            }
        }
        Some(larger)
    }

    #[expect(unsafe_code, reason = "a block seen as numbers")]
    fn slots(&self) -> &[u32] {
        // SAFETY: the block is aligned to a page and holds `window` initialised numbers.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr().cast(), self.window as usize) }
    }

    #[expect(unsafe_code, reason = "as for `slots`")]
    fn slots_mut(&mut self) -> &mut [u32] {
        // SAFETY: as for `slots`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr().cast(), self.window as usize) }
    }

    /// The number of a key, from 0; `None` if it has none.
    #[inline]
    pub(super) fn group(&self, key: u64) -> Option<u32> {
        let at = usize::try_from(key.wrapping_sub(self.base)).ok()?;
        self.slots().get(at)?.checked_sub(1)
    }

    /// The slot of a covered key: its number plus one, or 0 when it has none.
    #[inline(always)]
    pub(super) fn slot(&mut self, key: u64) -> &mut u32 {
        let at = key.wrapping_sub(self.base) as usize;
        &mut self.slots_mut()[at]
    }

    /// Removes all keys.
    pub(super) fn clear(&mut self) {
        self.slots_mut().fill(0);
    }

    /// Memory in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.block.len()
    }
}

/// Minimum and maximum of some numbers in the order of their type.
pub(super) fn range_of(values: &[u64], signed: bool) -> Option<(u64, u64)> {
    let flip = if signed { 1 << 63 } else { 0 };
    let (first, rest) = values.split_first()?;
    let start = (first ^ flip, first ^ flip);
    let (least, greatest) = rest.iter().fold(start, |(least, greatest), value| {
        (least.min(value ^ flip), greatest.max(value ^ flip))
    });
    Some((least ^ flip, greatest ^ flip))
}

#[cfg(test)]
mod tests {
    use mayfly_memory::{BudgetKind, PoolOptions};

    use super::*;

    #[test]
    fn numbers_stay_with_their_keys_when_the_array_grows() {
        let pool = BlockPool::new(PoolOptions::keeping(0));
        let budget = Budget::unlimited(BudgetKind::Memory);
        let bits = |value: i64| value as u64;
        let mut dense = Dense::new(bits(-5), 10, &pool, &budget).unwrap();
        assert!(dense.covers(bits(-5), 10) && !dense.covers(bits(-5), 1 << 30));
        for key in -5..=5_i64 {
            *dense.slot(bits(key)) = (key + 6) as u32;
        }
        let mut larger = dense
            .extended(bits(-2000), bits(300_000), true, &pool, &budget)
            .unwrap();
        assert!(larger.covers(bits(-2000), 302_000));
        for key in -5..=5_i64 {
            assert_eq!(*larger.slot(bits(key)), (key + 6) as u32);
        }
        assert_eq!(*larger.slot(bits(7)), 0);
        assert!(
            larger
                .extended(bits(-2000), bits(3_000_000), true, &pool, &budget)
                .is_none()
        );
        // Ranges at the ends of the type.
        let mut low = Dense::new(bits(i64::MIN), 3, &pool, &budget).unwrap();
        *low.slot(bits(i64::MIN)) = 1;
        assert!(low.covers(bits(i64::MIN), 3));
        drop((dense, larger, low));
        assert_eq!(budget.used(), 0);
        assert_eq!(range_of(&[bits(3), bits(-1)], true), Some((bits(-1), 3)));
        assert_eq!(range_of(&[3, u64::MAX, 2], false), Some((2, u64::MAX)));
    }
}
