//! Fragmented rows: position of the second part of a row in two parts.
//!
//! A MyISAM row that no longer fits its place is continued in a free one, and the first part has the position of the
//! second. A scan reads the table in order and fetches the second part of such a row when it meets the first. Here one
//! row of each group of 128 is in two parts, and its second half is taken from the first row of another group. The
//! groups are paired by a random permutation, so that this works with any file, and nothing is written into it.

use crate::random::Random;

/// Rows of a group.
const GROUP: u64 = 128;
/// Index in its group of the row in two parts.
const DIVIDED: u64 = 64;

/// Positions of the second parts for the rows of a window.
#[derive(Debug, Clone)]
pub(crate) struct Fragments {
    /// For each group the group that has the second part.
    order: Vec<u32>,
}

impl Fragments {
    /// The positions for `rows` rows.
    pub(crate) fn new(rows: u64, seed: u64) -> Self {
        let groups = u32::try_from(rows / GROUP).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..groups).collect();
        Random::new(seed).shuffle(&mut order);
        Self { order }
    }

    /// The row whose second half belongs to a row; both are counted from the beginning of the window. `None` for a
    /// whole row.
    pub(crate) fn second_part(&self, row: u64) -> Option<u64> {
        if row % GROUP != DIVIDED {
            return None;
        }
        let group = usize::try_from(row / GROUP).ok()?;
        self.order.get(group).map(|other| u64::from(*other) * GROUP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_lends_one_second_part_in_a_scrambled_order() {
        let fragments = Fragments::new(128 * 500 + 90, 7);
        let parts: Vec<u64> = (0..128 * 501)
            .filter_map(|row| fragments.second_part(row))
            .collect();
        assert_eq!(parts.len(), 500);
        let ascending = parts.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((200..300).contains(&ascending), "{ascending}");
        let mut sorted = parts;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq((0..500).map(|group| group * 128)));
    }

    #[test]
    fn few_rows_are_whole() {
        let fragments = Fragments::new(127, 7);
        assert!((0..127).all(|row| fragments.second_part(row).is_none()));
    }
}
