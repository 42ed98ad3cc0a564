//! Random choices that a seed repeats.

use crate::groups::Groups;

/// A generator that the same seed repeats (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// A seed that no other run has; the caller prints it.
    #[must_use]
    pub fn new_seed() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanos = now.map_or(0, |since| since.as_nanos() as u64);
        Self(nanos ^ u64::from(std::process::id()) << 32).next_number() % 1_000_000_000
    }

    /// Any number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next_number() % end as u64) as usize
    }

    /// True once in so many times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of several.
    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// Words and signs that make almost-statements.
#[must_use]
pub fn words() -> Vec<String> {
    let lists = Groups::read(include_str!("words.txt"));
    let words = lists.items("words").iter();
    words.map(|word| word.replace("\\0", "\0")).collect()
}

/// The same numbers as whole ones, for tests that count in them.
#[derive(Debug, Clone)]
pub struct Numbers(Random);

impl Numbers {
    /// Those of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Random(seed))
    }

    /// Below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.next_number() % limit
    }
}
