//! The receiving end of an exchange.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_buffer::BooleanBuffer;
use mayfly_types::error::codes;
use mayfly_types::selection::{filter_array, selection_filter};
use mayfly_types::{Batch, Condition, Error, Result};

use super::note::{Figures, Note};
use super::{ENVELOPE, Rows};

/// Receiver of the rows that the runs of a fragment send to one run: gives them without their envelope, and checks at the
/// end that they are complete.
pub struct Receiver<R> {
    rows: R,
    /// Number of sending runs.
    senders: usize,
    /// Name of the fragment in errors.
    fragment: usize,
    received: u64,
    /// Rows that each run has sent, once its note has come.
    announced: Vec<Option<u64>>,
    condition_count: u64,
    conditions: Vec<Condition>,
    figures: Vec<Figures>,
    is_complete: bool,
}

impl<R: Rows> Receiver<R> {
    /// A receiver of the rows of a fragment from that many runs.
    pub fn new(rows: R, fragment: usize, senders: usize) -> Self {
        Self {
            rows,
            senders,
            fragment,
            received: 0,
            announced: vec![None; senders],
            condition_count: 0,
            conditions: Vec::new(),
            figures: Vec::new(),
            is_complete: false,
        }
    }

    /// Number of rows received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Number of warnings of the senders and those before them, and the first of them.
    pub fn conditions(&self) -> (u64, &[Condition]) {
        (self.condition_count, &self.conditions)
    }

    /// Figures of the senders and those before them.
    pub fn figures(&self) -> &[Figures] {
        &self.figures
    }

    /// Reads what is left without giving it: the notes behind the rows.
    ///
    /// # Errors
    /// Those of [`Rows::next_batch`].
    pub fn drain(&mut self) -> Result<()> {
        while !self.is_complete {
            self.next_batch()?;
        }
        Ok(())
    }

    /// Takes the notes out of a batch.
    fn open(&mut self, batch: Batch) -> Result<Batch> {
        let columns = batch.columns().len();
        let Some(width) = columns.checked_sub(ENVELOPE.len()) else {
            return Err(self.broken("a batch without an envelope has come"));
        };
        let rows = batch.row_count();
        let notes = batch.column(columns - 1);
        let nulls = notes.logical_nulls();
        let is_row = match &nulls {
            Some(nulls) if nulls.null_count() == rows => None,
            Some(nulls) => Some(!nulls.inner()),
            None => Some(BooleanBuffer::new_unset(rows)),
        };
        let is_row = is_row.map(|is_row| {
            let has_note = !&is_row;
            (is_row, has_note)
        });
        if let Some((_, has_note)) = &is_row {
            for row in has_note.set_indices() {
                let note = match notes.as_binary_view_opt() {
                    Some(notes) => Note::decode(notes.value(row))?,
                    None => return Err(self.broken("a note is not of bytes")),
                };
                self.take(note)?;
            }
        }
        let mut columns = batch.into_columns();
        columns.truncate(width);
        let batch = match is_row {
            None => Batch::new(columns, rows),
            Some((is_row, _)) => {
                let kept = is_row.count_set_bits();
                let filter = selection_filter(&is_row, columns.len());
                let columns = columns.iter().map(|column| filter_array(&filter, column));
                Batch::new(columns.collect(), kept)
            }
        };
        self.received += batch.row_count() as u64;
        Ok(batch)
    }

    fn take(&mut self, note: Note) -> Result<()> {
        match self.announced.get_mut(note.partition) {
            Some(announced) if announced.is_none() => *announced = Some(note.rows),
            Some(_) => return Err(self.broken("the rows of a partition have come twice")),
            None => return Err(self.broken("the rows of an unknown partition have come")),
        }
        self.condition_count += note.condition_count;
        self.conditions.extend(note.conditions);
        self.figures.extend(note.figures);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let notes = self.announced.iter().flatten();
        let (count, rows) = notes.fold((0, 0), |(count, rows), own| (count + 1, rows + own));
        if count < self.senders {
            let missing = self.senders - count;
            return Err(self.broken(&format!(
                "the rows of {missing} of {} partitions have not come",
                self.senders
            )));
        }
        if rows != self.received {
            return Err(self.broken(&format!("{} of {rows} rows have come", self.received)));
        }
        Ok(())
    }

    fn broken(&self, what: &str) -> Error {
        let reason = format!("exchange of stage {}: {what}", self.fragment);
        codes::ER_SECONDARY_ENGINE.with(&[&reason])
    }
}

impl<R: Rows> Rows for Receiver<R> {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        if self.is_complete {
            return Ok(None);
        }
        match self.rows.next_batch()? {
            Some(batch) if batch.is_empty() => Ok(Some(batch)),
            Some(batch) => self.open(batch).map(Some),
            None => {
                self.check()?;
                self.is_complete = true;
                Ok(None)
            }
        }
    }
}
