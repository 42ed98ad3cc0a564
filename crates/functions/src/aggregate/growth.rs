//! Growth of vectors by group.
//!
//! The states of groups are charged by the capacity of vectors, and a vector that doubles wastes half of the limit.
//! So a large vector grows by a quarter.

/// Size in bytes from which a vector is large.
const LARGE: usize = 64 << 10;

/// Makes a vector `count` elements long, if it is shorter; new ones are copies of `value`.
pub(super) fn lengthen<T: Clone>(values: &mut Vec<T>, count: usize, value: T) {
    let missing = count.saturating_sub(values.len());
    if missing > 0 {
        make_room(values, missing);
        values.resize(count, value);
    }
}

/// Reserves room for `more` more elements.
pub(super) fn make_room<T>(values: &mut Vec<T>, more: usize) {
    let capacity = values.capacity();
    if values.len() + more <= capacity {
        return;
    }
    let step = if capacity * size_of::<T>() >= LARGE {
        capacity / 4
    } else {
        capacity
    };
    values.reserve_exact(more.max(capacity + step - values.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_vectors_grow_by_a_quarter() {
        let mut values = Vec::new();
        let mut most = 0;
        for count in 0..200_000 {
            lengthen(&mut values, count, 7_u64);
            lengthen(&mut values, count / 2, 9);
            assert_eq!(values.len(), count);
            if count > 2 * LARGE / 8 {
                most = most.max(values.capacity() - count);
                assert!(values.capacity() <= count / 4 * 5 + 8, "{count}");
            }
        }
        assert!(most > 1000, "and not by one at a time");
        assert!(values.iter().all(|value| *value == 7));
    }
}
