//! Reproducible randomness: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).

/// A pseudorandom sequence, determined by its seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The high half of the product: as good as uniform, since the ends are far below 2^64.
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Puts a list into a random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (2..=list.len()).rev() {
            let chosen = self.below(end as u64) as usize;
            list.swap(end - 1, chosen);
        }
    }
}

/// Pseudorandom number that another number determines.
pub(crate) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The first outputs of the authors' own program for the seed 1234567.
        let mut random = Random::new(1_234_567);
        let outputs = [random.next(), random.next(), random.next()];
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn a_shuffled_list_has_the_same_elements() {
        let mut list: Vec<u32> = (0..1000).collect();
        Random::new(1).shuffle(&mut list);
        assert!(
            list.iter()
                .enumerate()
                .filter(|(at, it)| *at as u32 == **it)
                .count()
                < 20
        );
        list.sort_unstable();
        assert!(list.into_iter().eq(0..1000));
    }
}
