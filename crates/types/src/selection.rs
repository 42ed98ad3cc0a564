//! The rows of a batch that a predicate lets through.

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_select::filter::{FilterBuilder, FilterPredicate};

use crate::Batch;

/// The rows that a predicate lets through.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Every row.
    All,
    /// No row.
    None,
    /// The rows whose bit is set, and their number.
    Some(BooleanBuffer, usize),
}

impl Selection {
    /// The rows whose bit is set.
    pub fn of_bits(bits: BooleanBuffer) -> Self {
        match bits.count_set_bits() {
            0 => Self::None,
            count if count == bits.len() => Self::All,
            count => Self::Some(bits, count),
        }
    }

    /// The selection without the rows whose bit in `bits` is not set.
    #[must_use]
    pub fn and(self, bits: &BooleanBuffer) -> Self {
        match self {
            Self::All => Self::of_bits(bits.clone()),
            Self::None => Self::None,
            Self::Some(selection, _) => Self::of_bits(&selection & bits),
        }
    }

    /// The rows that both selections of the same rows have.
    #[must_use]
    pub fn and_also(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, one) | (one, Self::All) => one,
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Some(one, _), Self::Some(other, _)) => Self::of_bits(&one & &other),
        }
    }

    /// Number of selected rows, of `rows` in all.
    pub fn count_of(&self, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::None => 0,
            Self::Some(_, count) => *count,
        }
    }

    /// Whether a row is selected.
    pub fn contains(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Some(selection, _) => selection.value(row),
        }
    }

    /// The selected rows of a batch; `None` if there are none.
    pub fn rows_of(&self, batch: Batch) -> Option<Batch> {
        match self {
            Self::All => Some(batch),
            Self::None => None,
            Self::Some(selection, count) => Some(filter_batch(&batch, selection, *count)),
        }
    }
}

/// Filter for a selection, applied to `columns` columns.
pub fn selection_filter(selection: &BooleanBuffer, columns: usize) -> FilterPredicate {
    let builder = BooleanArray::new(selection.clone(), None);
    let builder = FilterBuilder::new(&builder);
    if columns > 1 {
        builder.optimize().build()
    } else {
        builder.build()
    }
}

/// The selected rows of a column.
///
/// # Panics
/// When the filter is of another length than the column.
pub fn filter_array(filter: &FilterPredicate, array: &ArrayRef) -> ArrayRef {
    filter
        .filter(array)
        .expect("a filter is as long as the columns of its batch")
}

/// The selected rows of a batch, `count` of them.
pub fn filter_batch(batch: &Batch, selection: &BooleanBuffer, count: usize) -> Batch {
    if count == batch.row_count() {
        return batch.clone();
    }
    if count == 0 {
        return batch.slice(0, 0);
    }
    let filter = selection_filter(selection, batch.columns().len());
    let columns = batch
        .columns()
        .iter()
        .map(|column| filter_array(&filter, column))
        .collect();
    Batch::new(columns, count)
}
