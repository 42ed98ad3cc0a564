//! Random choices that a seed repeats.

use crate::groups::Groups;

/// A generator that the same seed repeats (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
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

    /// A number below `end`, which is not 0.
    pub fn below_u64(&mut self, end: u64) -> u64 {
        self.next_number() % end
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Puts a list into another order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// A setting of a random test: a number in the environment.
#[must_use]
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seed of a random test: the number of this name in the environment, or one that no other run has. It is printed
/// for whoever repeats the run.
#[must_use]
pub fn first_seed(name: &str) -> u64 {
    let seed = setting(name).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanos = now.map_or(0, |since| since.as_nanos() as u64);
        Random(nanos ^ u64::from(std::process::id()) << 32).below_u64(1_000_000_000)
    });
    eprintln!("{name}={seed}");
    seed
}

/// Words and signs that make almost-statements.
#[must_use]
pub fn words() -> Vec<String> {
    let lists = Groups::read(include_str!("words.txt"));
    let words = lists.items("words").iter();
    words.map(|word| word.replace("\\0", "\0")).collect()
}
