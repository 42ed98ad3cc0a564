//! Marks of the rows of a build side that have a partner.
//!
//! The cursors of all workers set marks, each at most from false to true, and count themselves while they may; only
//! after the last of them are rows taken for output, each once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use mayfly_memory::Reservation;
use mayfly_storage::{BuildRow, JoinIndex};
use mayfly_types::Result;

use crate::context::RunContext;

/// Reserves memory for a mark of each of `rows` rows.
pub(super) fn memory_of_marks(rows: usize, run: &RunContext) -> Result<Reservation> {
    let temp = &run.statement.temp;
    let mut held = temp.memory().reservation();
    temp.resize_working_set(&mut held, rows.div_ceil(8) as u64)?;
    Ok(held)
}

/// A mark for each row of an index.
pub(super) struct Marks {
    words: Vec<AtomicU64>,
    rows: usize,
    /// First row that no cursor has taken for output.
    next: AtomicUsize,
    /// Number of cursors that may still set marks.
    marking: AtomicUsize,
    _reservation: Reservation,
}

impl Marks {
    pub(super) fn new(rows: usize, run: &RunContext) -> Result<Self> {
        Ok(Self {
            words: (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            rows,
            next: AtomicUsize::new(0),
            marking: AtomicUsize::new(0),
            _reservation: memory_of_marks(rows, run)?,
        })
    }

    pub(super) fn mark(&self, row: usize) {
        let (word, bit) = (&self.words[row / 64], 1 << (row % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(super) fn has(&self, row: usize) -> bool {
        self.words[row / 64].load(Ordering::Relaxed) >> (row % 64) & 1 == 1
    }

    /// Takes the next rows for output: marked or unmarked ones. Empty at the end.
    pub(super) fn take(&self, marked: bool, rows_max: usize, index: &JoinIndex) -> Vec<BuildRow> {
        loop {
            let start = self.next.fetch_add(rows_max, Ordering::AcqRel);
            if start >= self.rows {
                return Vec::new();
            }
            let rows = start..self.rows.min(start + rows_max);
            let wanted = rows.filter(|row| self.has(*row) == marked);
            let found: Vec<BuildRow> = wanted.map(|row| index.row_at(row)).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }

    /// Whether a cursor may still set marks.
    pub(super) fn is_marking(&self) -> bool {
        self.marking.load(Ordering::Acquire) > 0
    }
}

/// Guard that counts a cursor that may still set marks.
pub(super) struct Marker(Arc<Marks>);

impl Marker {
    pub(super) fn new(marks: &Arc<Marks>) -> Self {
        marks.marking.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(marks))
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        self.0.marking.fetch_sub(1, Ordering::AcqRel);
    }
}
