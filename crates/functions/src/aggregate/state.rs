//! What accumulators share: walking a batch by group, and growing columns of states.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use mayfly_types::{Result, SqlType};

use crate::Column;
use crate::input::{self, Decimals, Floats, Ints, Texts, UInts};

/// Calls `each` with group and row of every row that is not NULL.
#[inline]
pub(crate) fn for_each_valid(
    groups: &[u32],
    nulls: Option<&NullBuffer>,
    mut each: impl FnMut(u32, usize),
) {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => {
            for (row, group) in groups.iter().enumerate() {
                each(*group, row);
            }
        }
        Some(nulls) => {
            for (row, group) in groups.iter().enumerate() {
                if nulls.is_valid(row) {
                    each(*group, row);
                }
            }
        }
    }
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

/// The rows of an array that are not NULL, when some are.
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
