//! Cursors: rows that a client fetches in parts, while its session runs other statements.
//!
//! The rows are stored in a temporary table, as MySQL does, so that the statement has ended and holds no
//! snapshot and no lock.

use std::fmt::Debug;
use std::sync::Arc;

use mayfly_types::{Batch, Result};

use crate::result::ResultColumn;
use crate::spool::Spool;

/// The rows of a statement that has ended. They are charged to the session's memory and temporary space until this is
/// dropped.
pub struct Cursor {
    columns: Arc<[ResultColumn]>,
    rows: Spool,
    /// The part of a batch that was not returned yet.
    left: Option<Batch>,
}

impl Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl Cursor {
    pub(crate) fn new(columns: Arc<[ResultColumn]>, rows: Spool) -> Self {
        Self {
            columns,
            rows,
            left: None,
        }
    }

    /// The columns.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.columns
    }

    /// The next rows, at most `most` and perhaps fewer; `None` after the last.
    pub fn next_rows(&mut self, most: usize) -> Result<Option<Batch>> {
        let batch = loop {
            let next = match self.left.take() {
                Some(left) => Some(left),
                None => self.rows.next_batch()?,
            };
            match next {
                None => return Ok(None),
                Some(batch) if batch.is_empty() => {}
                Some(batch) => break batch,
            }
        };
        if batch.row_count() <= most {
            return Ok(Some(batch));
        }
        self.left = Some(batch.slice(most, batch.row_count() - most));
        Ok(Some(batch.slice(0, most)))
    }
}
