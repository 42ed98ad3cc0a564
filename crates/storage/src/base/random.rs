//! Numbers that nobody outside of the process can know.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Another one each time.
pub(super) fn number() -> u64 {
    RandomState::new().hash_one(0)
}

/// The hash of a string that users choose: what collides in one process does not in another. Nothing that is
/// stored depends on it.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(number);
    xxh3_64_with_seed(bytes, *SEED)
}
