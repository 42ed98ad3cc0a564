//! Early stop of scans: no more rows are given, and counted as read, than by a server that reads row by row.

use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_types::{Batch, Result};

use crate::context::RunContext;
use crate::expression::{Program, Selection, selected};
use crate::rows::filter_batch;

/// Number of rows that the reader of a scan wants.
#[derive(Debug)]
pub(super) struct FirstRows(AtomicU64);

impl FirstRows {
    /// All rows.
    pub(super) fn all() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    /// Sets the number, before the scan is opened.
    pub(super) fn set(&self, rows: u64) {
        self.0.store(rows, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// (rows, read): the rows of a batch that pass a condition, at most `wanted`, and the number of rows read for them.
pub(super) fn passed(
    batch: Batch,
    predicate: Option<&Program>,
    wanted: u64,
    run: &RunContext,
) -> Result<(Option<Batch>, usize)> {
    let rows = batch.row_count();
    let enough = usize::try_from(wanted).unwrap_or(usize::MAX);
    let selection = selected(predicate, &batch, run)?;
    Ok(match selection {
        Selection::None => (None, rows),
        Selection::All if rows > enough => (Some(batch.slice(0, enough)), enough),
        Selection::All => (Some(batch), rows),
        Selection::Some(selection, count) => {
            let end = || selection.set_indices().nth(enough.saturating_sub(1));
            match (count > enough).then(end).flatten() {
                Some(last) => {
                    let used = last + 1;
                    let kept = selection.slice(0, used);
                    let first = filter_batch(&batch.slice(0, used), &kept, enough);
                    (Some(first), used)
                }
                None => (Some(filter_batch(&batch, &selection, count)), rows),
            }
        }
    })
}
