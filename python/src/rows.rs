//! The rows of a result that were not given yet: batches that were read, and where the others come from.

use std::collections::VecDeque;
use std::sync::Arc;

use mayfly::RowBatch;
use pyo3::prelude::*;

use crate::session::{Reading, Session, next_rows};
use crate::watched::release;

/// Rows that are left of a result.
#[derive(Default)]
pub(crate) struct Rows {
    batches: VecDeque<RowBatch>,
    /// How many rows of the first batch were given.
    given: usize,
    reading: Option<Arc<Reading>>,
}

impl Rows {
    pub(crate) fn new(batches: VecDeque<RowBatch>, reading: Option<Arc<Reading>>) -> Self {
        Self {
            batches,
            given: 0,
            reading,
        }
    }

    /// The number of rows; `None` when there may be more than were read.
    pub(crate) fn count(&self) -> Option<usize> {
        let known = self.batches.iter().map(RowBatch::len).sum();
        self.reading.is_none().then_some(known)
    }

    /// The first batch with rows that were not given, read if need be, and the number of its rows that were; `None` after
    /// the last row.
    ///
    /// # Errors
    /// Those of the statement.
    pub(crate) fn batch(
        &mut self,
        py: Python<'_>,
        session: &Session,
    ) -> PyResult<Option<(&RowBatch, usize)>> {
        loop {
            let is_given = |batch: &RowBatch| self.given >= batch.len();
            if self.batches.front().is_some_and(is_given) {
                self.pass();
            } else if !self.batches.is_empty() {
                let given = self.given;
                return Ok(self.batches.front().map(|batch| (batch, given)));
            } else {
                let Some(reading) = &self.reading else {
                    return Ok(None);
                };
                match next_rows(py, session, reading)? {
                    Some(batch) => self.batches.push_back(batch),
                    None => self.reading = None,
                }
            }
        }
    }

    /// Notes that rows of the first batch were given, up to a position.
    pub(crate) fn give(&mut self, position: usize) {
        self.given = position;
    }

    /// Notes that the first batch was given.
    pub(crate) fn pass(&mut self) {
        self.batches.pop_front();
        self.given = 0;
    }

    /// Ends the reading.
    pub(crate) fn end(self, session: &Session) {
        let Self {
            batches, reading, ..
        } = self;
        if let Some(reading) = &reading {
            let ended = Python::try_attach(|py| py.detach(|| session.release(reading)));
            // Without an interpreter nobody waits for its lock.
            ended.unwrap_or_else(|| session.release(reading));
        }
        release((batches, reading));
    }
}
