//! Process-local randomness, unpredictable from outside.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A fresh random number.
pub(super) fn number() -> u64 {
    RandomState::new().hash_one(0)
}

/// Randomly keyed hash of a string that users choose: collisions in one process do not carry over to another. Nothing
/// that is stored depends on it.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(number);
    xxh3_64_with_seed(bytes, *SEED)
}
