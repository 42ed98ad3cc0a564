//! Filters that the layers above push down into the scans of stores.
//!
//! A [`RowFilter`] is a conjunction of steps. A store evaluates the steps in order, each on the rows that are left,
//! and reads a column when the first step needs it, for these rows alone where they are few ("late materialization":
//! Abadi et al., ICDE 2007). A step's dependencies ([`FilterKind`]) determine what else a store may do: compare
//! numbers in their encoded form, skip blocks by their minimum and maximum, evaluate once for each distinct value.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_types::selection::filter_batch;
use mayfly_types::{Batch, Result, Selection};

use crate::error::wrong_type;

/// Predicate on columns of a scan: a conjunction of steps.
pub trait RowFilter {
    /// Number of steps.
    fn steps(&self) -> usize;

    /// The columns that a step reads, by their indexes in the scan.
    fn columns(&self, step: usize) -> &[usize];

    /// What a step depends on. Called before [`Self::select`].
    fn kind(&mut self, step: usize) -> Result<FilterKind>;

    /// Selects rows by a step that is not [`FilterKind::Within`]. Of the scan's columns, those that the step reads
    /// have `rows` rows; the others may have any number.
    fn select(&mut self, step: usize, columns: &[ArrayRef], rows: usize) -> Result<Selection>;

    /// Reports that a step has passed `wanted` of `asked` rows.
    fn decided(&mut self, step: usize, asked: usize, wanted: usize) {
        let _ = (step, asked, wanted);
    }
}

/// Dependencies of a step of a [`RowFilter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterKind {
    /// The number in the step's one column lies within a range. The store evaluates this itself on its encoded
    /// numbers, for many rows at once where it can.
    Within(NumberRange),
    /// The values of the step's columns alone. It may be evaluated on values that no row has, since one value may
    /// stand for all rows that have it, and on rows that earlier steps have rejected.
    Values,
    /// The step may fail or warn, or depends on more than values: it is evaluated on exactly the rows that have passed
    /// all earlier steps.
    Rows,
    /// The step passes all rows and is left out.
    All,
}

/// Closed range of numbers; unscaled values for decimals. Empty if `least` is greater than `greatest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    /// Inclusive lower bound.
    pub least: i128,
    /// Inclusive upper bound.
    pub greatest: i128,
}

impl NumberRange {
    /// The range of all numbers.
    pub const ALL: Self = Self {
        least: i128::MIN,
        greatest: i128::MAX,
    };

    /// The empty range.
    pub const EMPTY: Self = Self {
        least: i128::MAX,
        greatest: i128::MIN,
    };

    /// Intersection of two ranges.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            least: self.least.max(other.least),
            greatest: self.greatest.min(other.greatest),
        }
    }

    /// Whether a number lies in the range.
    #[inline]
    pub fn contains(&self, number: i128) -> bool {
        self.least <= number && number <= self.greatest
    }

    /// The rows of a column whose number lies in the range; NULL does not.
    ///
    /// # Errors
    /// If the column is of neither integers nor decimals.
    pub fn rows_of(&self, column: &ArrayRef) -> Result<BooleanBuffer> {
        let rows = column.len();
        let found = match column.data_type() {
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>().values();
                // A bound beyond the type's numbers excludes none of them, or all.
                let clamped = |it: i128| it.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                let (least, greatest) = (clamped(self.least), clamped(self.greatest));
                let is_met = self.contains(least.into()) && self.contains(greatest.into());
                let is_within = |it: i64| is_met & (least <= it) & (it <= greatest);
                BooleanBuffer::collect_bool(rows, |row| is_within(values[row]))
            }
            DataType::UInt64 => {
                let values = column.as_primitive::<UInt64Type>().values();
                BooleanBuffer::collect_bool(rows, |row| self.contains(values[row].into()))
            }
            DataType::Decimal128(..) => {
                let values = column.as_primitive::<Decimal128Type>().values();
                BooleanBuffer::collect_bool(rows, |row| self.contains(values[row]))
            }
            _ => return Err(wrong_type()),
        };
        Ok(match column.nulls() {
            Some(nulls) => &found & nulls.inner(),
            None => found,
        })
    }
}

/// Result of filtering some rows.
#[derive(Debug)]
pub struct FilteredRows {
    /// The rows that have passed, if any.
    pub batch: Option<Batch>,
    /// Number of rows read.
    pub rows_read: usize,
}

impl FilteredRows {
    /// Filters the rows of a batch.
    pub fn of(mut batch: Batch, filter: &mut dyn RowFilter) -> Result<Self> {
        let rows_read = batch.row_count();
        let mut selection = Selection::All;
        for step in 0..filter.steps() {
            let kind = filter.kind(step)?;
            if kind == FilterKind::Rows
                && let Selection::Some(bits, count) = &selection
            {
                batch = filter_batch(&batch, bits, *count);
                selection = Selection::All;
            }
            let wanted = match kind {
                FilterKind::All => continue,
                FilterKind::Within(range) => {
                    let place = filter.columns(step).first().copied();
                    let column = place.and_then(|place| batch.columns().get(place));
                    Selection::of_bits(range.rows_of(column.ok_or_else(wrong_type)?)?)
                }
                _ => filter.select(step, batch.columns(), batch.row_count())?,
            };
            let rows = batch.row_count();
            filter.decided(step, rows, wanted.count_of(rows));
            selection = selection.and_also(wanted);
            if matches!(selection, Selection::None) {
                break;
            }
        }
        Ok(Self {
            batch: selection.rows_of(batch),
            rows_read,
        })
    }
}
