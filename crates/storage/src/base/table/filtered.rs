//! Evaluation of a filter on the rows of some blocks.

use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_buffer::BooleanBuffer;
use mayfly_types::selection::{filter_array, selection_filter};
use mayfly_types::{Batch, PhysicalType, Result, Selection};

use crate::base::gather::{ChosenRows, Pieces};
use crate::row_filter::{FilterKind, RowFilter};

/// Rows of some pieces that have passed a filter's steps so far, with the columns read so far.
pub(super) struct FilteredColumns<'p> {
    pieces: &'p Pieces,
    of_pieces: &'p [(usize, PhysicalType)],
    /// The rows of `columns`; `None` means all.
    chosen: Option<ChosenRows>,
    /// Number of rows of `columns`.
    count: usize,
    /// Which rows of `columns` have passed; `None` means all.
    pending: Option<BooleanBuffer>,
    /// Number of rows that have passed.
    pub(super) left: usize,
    /// Columns; those not read yet are empty.
    columns: Vec<ArrayRef>,
    is_read: Vec<bool>,
}

impl<'p> FilteredColumns<'p> {
    pub(super) fn new(pieces: &'p Pieces, of_pieces: &'p [(usize, PhysicalType)]) -> Self {
        let empty = of_pieces.iter().map(|(_, ty)| new_empty_array(&ty.arrow()));
        Self {
            pieces,
            of_pieces,
            chosen: None,
            count: pieces.rows(),
            pending: None,
            left: pieces.rows(),
            columns: empty.collect(),
            is_read: vec![false; of_pieces.len()],
        }
    }

    /// Applies one step of a filter.
    pub(super) fn ask(&mut self, filter: &mut dyn RowFilter, step: usize) -> Result<()> {
        let kind = filter.kind(step)?;
        let wanted = match (kind, filter.columns(step)) {
            (FilterKind::All, _) => return Ok(()),
            (FilterKind::Within(range), [place]) => {
                let (number, ty) = self.of_pieces[*place];
                Selection::of_bits(
                    self.pieces
                        .within(number, ty, range, self.chosen.as_ref())?,
                )
            }
            (FilterKind::Values, [place]) if !self.is_read[*place] => {
                let (place, number) = (*place, self.of_pieces[*place].0);
                let columns = &mut self.columns;
                let by_code = self.pieces.by_code(number, self.chosen.as_ref(), |texts| {
                    let rows = texts.len();
                    let before = std::mem::replace(&mut columns[place], texts);
                    let wanted = filter.select(step, columns, rows);
                    columns[place] = before;
                    wanted
                })?;
                match by_code {
                    Some(bits) => Selection::of_bits(bits),
                    None => self.ask_rows(filter, step)?,
                }
            }
            (FilterKind::Rows, _) => {
                self.narrow();
                self.ask_rows(filter, step)?
            }
            _ => self.ask_rows(filter, step)?,
        };
        filter.decided(step, self.count, wanted.count_of(self.count));
        self.keep(wanted);
        Ok(())
    }

    /// Evaluates a step on the rows of `columns`.
    fn ask_rows(&mut self, filter: &mut dyn RowFilter, step: usize) -> Result<Selection> {
        self.read(filter.columns(step).iter().copied(), &[])?;
        filter.select(step, &self.columns, self.count)
    }

    /// Reads some columns that are not read yet, some as dictionary codes.
    fn read(&mut self, places: impl Iterator<Item = usize>, codes: &[usize]) -> Result<()> {
        let missing: Vec<usize> = places.filter(|place| !self.is_read[*place]).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let of_pieces: Vec<(usize, PhysicalType)> =
            missing.iter().map(|place| self.of_pieces[*place]).collect();
        let read = (self.pieces).columns_of(&of_pieces, self.chosen.as_ref(), codes)?;
        for (place, column) in missing.into_iter().zip(read) {
            self.columns[place] = column;
            self.is_read[place] = true;
        }
        Ok(())
    }

    /// Restricts the passed rows by a selection.
    fn keep(&mut self, wanted: Selection) {
        let bits = match (wanted, self.pending.take()) {
            (Selection::All, pending) => {
                self.pending = pending;
                return;
            }
            (Selection::None, _) => {
                self.left = 0;
                return;
            }
            (Selection::Some(bits, count), None) => {
                self.left = count;
                bits
            }
            (Selection::Some(bits, _), Some(pending)) => {
                let bits = &bits & &pending;
                self.left = bits.count_set_bits();
                bits
            }
        };
        self.pending = Some(bits);
        if self.left > 0 && self.left <= self.count / DENSE_PART {
            self.narrow();
        }
    }

    /// Restricts `columns` to the rows that have passed.
    fn narrow(&mut self) {
        let Some(bits) = self.pending.take() else {
            return;
        };
        let read = self.is_read.iter().filter(|read| **read).count();
        if read > 0 {
            let filter = selection_filter(&bits, read);
            let columns = self.columns.iter_mut().zip(&self.is_read);
            for (column, _) in columns.filter(|(_, is_read)| **is_read) {
                *column = filter_array(&filter, column);
            }
        }
        self.chosen = Some(self.pieces.choose(self.chosen.as_ref(), &bits));
        self.count = self.left;
    }

    /// All columns of the rows that have passed, some as dictionary codes.
    pub(super) fn finish(mut self, codes: &[usize]) -> Result<Batch> {
        // Where most rows have passed, reading all rows is faster than picking.
        self.read(0..self.of_pieces.len(), codes)?;
        if let Some(bits) = self.pending.take() {
            let filter = selection_filter(&bits, self.columns.len());
            for column in &mut self.columns {
                *column = filter_array(&filter, column);
            }
        }
        Ok(Batch::new(self.columns, self.left))
    }
}

/// Denominator: if at most this part of the rows has passed, further columns are read for these rows alone.
const DENSE_PART: usize = 3;
