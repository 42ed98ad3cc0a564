//! Which rows of a scan are wanted, as the layers above tell it to the stores.
//!
//! A [`RowFilter`] is a list of steps, and a row is wanted that all of them want. A store asks them in their
//! order, each about the rows that are left, and reads a column when the first step looks at it, for these rows
//! alone where they are few ("late materialization": Abadi et al., ICDE 2007). What a step depends on
//! ([`FilterKind`]) says what else a store may do: compare numbers in the form in which it has them, skip
//! blocks by their least and greatest number, ask once for each of the values that a column has.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_types::selection::filter_batch;
use mayfly_types::{Batch, Result, Selection};

use crate::error::wrong_type;

/// Says by some columns of a scan which rows are wanted, in steps: those that every step wants.
pub trait RowFilter {
    /// How many steps it has.
    fn steps(&self) -> usize;

    /// The columns that a step looks at, by their places in the scan.
    fn columns(&self, step: usize) -> &[usize];

    /// What a step depends on. Asked before rows are.
    fn kind(&mut self, step: usize) -> Result<FilterKind>;

    /// Which of some rows a step that is not [`FilterKind::Within`] wants. Of the scan's columns, those that
    /// the step looks at have so many rows; the others may have any.
    fn select(&mut self, step: usize, columns: &[ArrayRef], rows: usize) -> Result<Selection>;

    /// Tells how many of so many rows a step wants.
    fn decided(&mut self, step: usize, asked: usize, wanted: usize) {
        let _ = (step, asked, wanted);
    }
}

/// What a step of a [`RowFilter`] depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterKind {
    /// The number in its one column is within a range. The store looks itself, in whatever form it has the
    /// numbers, and may know it of many rows at once.
    Within(NumberRange),
    /// The values of its columns alone. It may be asked about values that no row has, as one that many rows
    /// have may stand for all of them, and about rows that the steps before it do not want.
    Values,
    /// It may fail or warn, or its answer depend on more than values: it is asked about the rows that all
    /// steps before it want, and no others.
    Rows,
    /// It wants all rows: it is left out.
    All,
}

/// The numbers from the least to the greatest one; unscaled values of decimals. Empty where the least is
/// greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    /// The first one that is within.
    pub least: i128,
    /// The last one.
    pub greatest: i128,
}

impl NumberRange {
    /// No number.
    pub const EMPTY: Self = Self {
        least: i128::MAX,
        greatest: i128::MIN,
    };

    /// The numbers of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            least: self.least.max(other.least),
            greatest: self.greatest.min(other.greatest),
        }
    }

    /// Whether a number is within.
    #[inline]
    pub fn contains(&self, number: i128) -> bool {
        self.least <= number && number <= self.greatest
    }

    /// The numbers of a column that are within; NULL is not.
    ///
    /// # Errors
    /// When the column has no whole numbers or decimals.
    pub fn rows_of(&self, column: &ArrayRef) -> Result<BooleanBuffer> {
        let rows = column.len();
        let found = match column.data_type() {
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>().values();
                BooleanBuffer::collect_bool(rows, |row| self.contains(values[row].into()))
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

/// Rows that a filter was asked about.
#[derive(Debug)]
pub struct FilteredRows {
    /// Those that are wanted, if any are.
    pub batch: Option<Batch>,
    /// How many were read.
    pub rows_read: usize,
}

impl FilteredRows {
    /// Asks a filter about the rows of a batch.
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
