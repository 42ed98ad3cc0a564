//! Positions of rows, as statements hold them: the number of the row in eight bytes, most significant byte first.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryViewArray};
use arrow_buffer::ScalarBuffer;

/// The row number of a position; an unused number if the bytes are no position.
pub(super) fn number(position: &[u8]) -> u64 {
    position.try_into().map_or(u64::MAX, u64::from_be_bytes)
}

/// The row numbers of an array of positions.
pub(super) fn numbers(positions: &ArrayRef) -> impl Iterator<Item = u64> {
    let positions = positions.as_binary_view().iter();
    positions.map(|position| position.map_or(u64::MAX, number))
}

/// The positions of row numbers.
pub(super) fn positions(ids: &[u64]) -> ArrayRef {
    // Eight bytes are an inline view.
    let view = |id: &u64| u128::from(8_u32) | u128::from(id.swap_bytes()) << 32;
    let views: ScalarBuffer<u128> = ids.iter().map(view).collect::<Vec<_>>().into();
    Arc::new(BinaryViewArray::new(views, Vec::new(), None))
}
