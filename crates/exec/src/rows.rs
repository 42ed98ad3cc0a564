//! Functions on rows of batches: take, filter, concatenate.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use mayfly_memory::StableRanges;
pub(crate) use mayfly_types::selection::{filter_array, filter_batch, selection_filter};
use mayfly_types::{Batch, PhysicalType, Result};

use crate::error::arrow;

/// Rows at these indexes, in any order and with repetitions; NULL where the index is NULL.
pub(crate) fn take_rows(columns: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>> {
    let columns = columns.iter();
    columns
        .map(|column| take(column, rows, None).map_err(arrow))
        .collect()
}

/// Rows for which `keep` is true.
pub(crate) fn rows_where(batch: &Batch, keep: impl FnMut(usize) -> bool) -> Batch {
    let selection = BooleanBuffer::collect_bool(batch.row_count(), keep);
    filter_batch(batch, &selection, selection.count_set_bits())
}

/// Concatenation of arrays.
pub(crate) fn joined<'a>(arrays: impl IntoIterator<Item = &'a ArrayRef>) -> Result<ArrayRef> {
    let arrays: Vec<&dyn Array> = arrays.into_iter().map(AsRef::as_ref).collect();
    concat(&arrays).map_err(arrow)
}

/// Concatenation of batches, with their first `columns` columns.
pub(crate) fn joined_batches(batches: &[Batch], columns: usize) -> Result<Batch> {
    let rows = batches.iter().map(Batch::row_count).sum();
    let columns = (0..columns).map(|at| joined(batches.iter().map(|batch| batch.column(at))));
    Ok(Batch::new(columns.collect::<Result<_>>()?, rows))
}

/// Splits a batch into batches of at most `rows_max` rows.
pub(crate) fn split(batch: &Batch, rows_max: usize) -> VecDeque<Batch> {
    let rows = batch.row_count();
    if rows <= rows_max {
        return VecDeque::from_iter((rows > 0).then(|| batch.clone()));
    }
    (0..rows)
        .step_by(rows_max)
        .map(|first| batch.slice(first, rows_max.min(rows - first)))
        .collect()
}

/// Columns of NULLs.
pub(crate) fn null_columns(types: &[PhysicalType], rows: usize) -> impl Iterator<Item = ArrayRef> {
    let types = types.iter();
    types.map(move |physical| new_null_array(&physical.arrow(), rows))
}

/// Copies the strings of a batch unless they are a base table's: a view into a block of a temporary table would keep
/// all of the block, which others need released.
pub(crate) fn with_own_strings(batch: Batch, stable: &StableRanges) -> Batch {
    let rows = batch.row_count();
    let columns = batch.into_columns().into_iter().map(|column| {
        if *column.data_type() != DataType::BinaryView {
            return column;
        }
        let views = column.as_binary_view();
        let mut blocks = views.data_buffers().iter();
        if blocks.all(|block| is_stable(block, stable)) {
            return column;
        }
        Arc::new(views.gc()) as ArrayRef
    });
    Batch::new(columns.collect(), rows)
}

/// Bytes that a batch keeps alive, without strings of base tables.
pub(crate) fn held_bytes(batch: &Batch, stable: &StableRanges) -> u64 {
    let columns = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::BinaryView => {
                let views = column.as_binary_view();
                let held = |block: &&Buffer| !is_stable(block, stable);
                let blocks = views.data_buffers().iter().filter(held);
                size_of_val(&**views.views()) + blocks.map(|block| block.len()).sum::<usize>()
            }
            _ => column.get_array_memory_size(),
        });
    columns.sum::<usize>() as u64
}

fn is_stable(block: &Buffer, stable: &StableRanges) -> bool {
    stable.contains(block.as_ptr() as usize, block.len())
}
