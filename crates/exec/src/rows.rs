//! Rows of batches: taken, filtered, put behind each other.

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;
use arrow_select::take::take;
pub(crate) use mayfly_types::selection::{filter_array, filter_batch, selection_filter};
use mayfly_types::{Batch, PhysicalType, Result};

use crate::error::arrow;

/// Some rows of columns, any of them any number of times; NULL where there is no row.
pub(crate) fn take_rows(columns: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>> {
    let columns = columns.iter();
    columns
        .map(|column| take(column, rows, None).map_err(arrow))
        .collect()
}

/// The rows for which `keep` is true.
pub(crate) fn rows_where(batch: &Batch, keep: impl FnMut(usize) -> bool) -> Batch {
    let selection = BooleanBuffer::collect_bool(batch.row_count(), keep);
    filter_batch(batch, &selection, selection.count_set_bits())
}

/// Arrays, one behind the other.
pub(crate) fn joined<'a>(arrays: impl IntoIterator<Item = &'a ArrayRef>) -> Result<ArrayRef> {
    let arrays: Vec<&dyn Array> = arrays.into_iter().map(AsRef::as_ref).collect();
    concat(&arrays).map_err(arrow)
}

/// The first columns of batches, one batch behind the other.
pub(crate) fn joined_batches(batches: &[Batch], columns: usize) -> Result<Batch> {
    let rows = batches.iter().map(Batch::row_count).sum();
    let columns = (0..columns).map(|at| joined(batches.iter().map(|batch| batch.column(at))));
    Ok(Batch::new(columns.collect::<Result<_>>()?, rows))
}

/// Columns of NULLs.
pub(crate) fn null_columns(types: &[PhysicalType], rows: usize) -> impl Iterator<Item = ArrayRef> {
    let types = types.iter();
    types.map(move |physical| new_null_array(&physical.arrow(), rows))
}
