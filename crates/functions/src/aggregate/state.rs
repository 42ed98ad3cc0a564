//! Common parts of accumulators: iteration over a batch by group, and growth of state columns.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use mayfly_memory::prefetch;
use mayfly_types::{Result, SqlType};

use crate::Column;
use crate::input::{self, Decimals, Floats, Ints, Texts, UInts};

/// Total bytes of states from which a state is likely out of the cache when its row comes.
const LARGE_STATES: usize = 256 << 10;
/// Rows whose states are prefetched together: enough for the misses to overlap, and few enough for all states to stay
/// in the cache until their rows come.
const ROWS_AHEAD: usize = 512;

/// Groups up to which the rows of a batch are added in independent lanes.
const FEW_GROUPS: usize = 16;
/// Lanes, each with a state per group, so that a row need not wait for the state that the row before it updates.
const LANES: usize = 4;

/// Partial sums of a batch: a state for each lane and each of few groups.
pub(crate) struct Lanes<T>([[T; FEW_GROUPS]; LANES]);

impl<T> Lanes<T> {
    /// The groups among `0 .. group_count` with the state of each lane.
    pub(crate) fn of_groups(self, group_count: usize) -> impl Iterator<Item = (u32, T)> {
        let of_lane = move |states: [T; FEW_GROUPS]| (0..).zip(states).take(group_count);
        self.0.into_iter().flat_map(of_lane)
    }
}

/// Adds up the rows of a batch of few groups: `add` is called with the state of a lane, the group and the row.
#[inline(always)]
pub(crate) fn add_in_lanes<T: Copy>(
    groups: &[u32],
    empty: T,
    mut add: impl FnMut(&mut T, u32, usize),
) -> Lanes<T> {
    let mut lanes = [[empty; FEW_GROUPS]; LANES];
    let (whole, rest) = groups.as_chunks::<LANES>();
    let mut add = |lane: usize, group: u32, row: usize| {
        add(&mut lanes[lane][group as usize % FEW_GROUPS], group, row);
    };
    for (number, groups) in whole.iter().enumerate() {
        for (lane, group) in groups.iter().enumerate() {
            add(lane, *group, number * LANES + lane);
        }
    }
    for (lane, group) in rest.iter().enumerate() {
        add(lane, *group, whole.len() * LANES + lane);
    }
    Lanes(lanes)
}

/// Whether [`add_in_lanes`] pays off for `row_count` rows and `group_count` groups.
pub(crate) fn pays_in_lanes(row_count: usize, group_count: usize) -> bool {
    group_count <= FEW_GROUPS && row_count >= FEW_GROUPS * LANES
}

/// Addresses of the states of groups `0 .. n`, for prefetching.
#[derive(Clone, Copy)]
pub(crate) struct States {
    first: *const u8,
    state_bytes: usize,
    is_large: bool,
}

impl States {
    pub(crate) fn of<T>(states: &[T]) -> Self {
        Self {
            first: states.as_ptr().cast(),
            state_bytes: size_of::<T>(),
            is_large: size_of_val(states) >= LARGE_STATES,
        }
    }

    fn ask_ahead(&self, groups: &[u32]) {
        for group in groups {
            prefetch(self.first.wrapping_add(*group as usize * self.state_bytes));
        }
    }
}

/// Calls `each` with chunks of a batch's groups, and the row of the first of each chunk, after prefetching their
/// states.
#[inline]
pub(crate) fn with_states_ahead<const N: usize>(
    groups: &[u32],
    states: [States; N],
    mut each: impl FnMut(usize, &[u32]),
) {
    let is_large = states.iter().any(|states| states.is_large);
    let rows = if is_large { ROWS_AHEAD } else { usize::MAX };
    for (part, groups) in groups.chunks(rows).enumerate() {
        if is_large {
            states.iter().for_each(|states| states.ask_ahead(groups));
        }
        each(part * ROWS_AHEAD, groups);
    }
}

/// Calls `each` with the group and row of every row that is not NULL.
#[inline]
pub(crate) fn for_each_valid<const N: usize>(
    groups: &[u32],
    nulls: Option<&NullBuffer>,
    states: [States; N],
    mut each: impl FnMut(u32, usize),
) {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    with_states_ahead(groups, states, |first, groups| match nulls {
        None => {
            for (row, group) in groups.iter().enumerate() {
                each(*group, first + row);
            }
        }
        Some(nulls) => {
            for (row, group) in groups.iter().enumerate() {
                if nulls.is_valid(first + row) {
                    each(*group, first + row);
                }
            }
        }
    });
}

/// An argument or state column in the physical type of its SQL type.
pub(crate) enum Values<'a> {
    /// Int64
    Ints(Ints<'a>),
    /// UInt64
    UInts(UInts<'a>),
    /// Float64
    Floats(Floats<'a>),
    /// Decimal128 or Decimal256
    Decimals(Decimals<'a>),
    /// Bytes
    Texts(Texts<'a>),
}

/// Wraps an array so that the typed views of [`input`] apply. Cheap: the data is shared.
pub(crate) fn column(array: &ArrayRef) -> Column {
    Column::Array(ArrayRef::clone(array))
}

/// The typed view of a column.
pub(crate) fn values<'a>(column: &'a Column, ty: &SqlType) -> Result<Values<'a>> {
    use mayfly_types::PhysicalType as P;
    Ok(match ty.physical() {
        P::Int64 => Values::Ints(input::ints(column)?),
        P::UInt64 => Values::UInts(input::uints(column)?),
        P::Float64 => Values::Floats(input::floats(column)?),
        P::Decimal128(scale) | P::Decimal256(scale) => {
            Values::Decimals(input::decimals(column, scale)?)
        }
        P::Bytes => Values::Texts(input::texts(column)?),
        P::Bool => return Err(super::mismatch("an aggregate")),
    })
}

/// The rows of an array that are not NULL; `None` if all are.
pub(crate) fn nulls(array: &ArrayRef) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

/// Rows that are not NULL in any of the columns.
pub(crate) fn all_valid(arguments: &[ArrayRef]) -> Option<NullBuffer> {
    arguments
        .iter()
        .fold(None, |nulls, array| {
            NullBuffer::union(nulls.as_ref(), array.nulls())
        })
        .filter(|nulls| nulls.null_count() > 0)
}

/// A `Vec<bool>` as validity of a result.
pub(crate) fn validity(seen: &[bool]) -> Option<NullBuffer> {
    if seen.iter().all(|seen| *seen) {
        None
    } else {
        Some(NullBuffer::from(seen.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_valid_row_is_visited_once_and_in_order() {
        for (count, rows) in [
            (10, 0),
            (10, 100),
            (50_000, 0),
            (50_000, ROWS_AHEAD),
            (50_000, 1_700),
        ] {
            let states = vec![0_u64; count];
            let groups: Vec<u32> = (0..rows).map(|row| (row * 7_919 % count) as u32).collect();
            for nulls in [
                None,
                Some(NullBuffer::from_iter((0..rows).map(|row| row % 3 > 0))),
            ] {
                let mut visited = Vec::new();
                let places = [States::of(&states), States::of(&groups)];
                for_each_valid(&groups, nulls.as_ref(), places, |group, row| {
                    visited.push((group, row));
                });
                let is_valid =
                    |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
                let expected = (0..rows).filter(is_valid).map(|row| (groups[row], row));
                assert_eq!(visited, expected.collect::<Vec<_>>());
            }
        }
    }
}
