//! Input in slices, for an operator that makes long strings from its rows, so that its output batches fit in memory.

use std::sync::Arc;

use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::expression::{Program, SliceRows, Taken, slice_of_short};
use crate::key_filter::GivenFilter;

struct Sliced {
    input: Arc<dyn Node>,
    rows: SliceRows,
    /// Rows of a slice where no result is long but a whole batch of them is.
    rows_of_short: Option<usize>,
}

/// The input of an operator that evaluates these expressions, in slices where one may be long.
pub(super) fn build<'a>(
    input: Arc<dyn Node>,
    expressions: impl IntoIterator<Item = &'a Program>,
) -> Arc<dyn Node> {
    if !expressions.into_iter().any(Program::gives_wide) {
        return input;
    }
    Arc::new(Sliced {
        input,
        rows: SliceRows::default(),
        rows_of_short: None,
    })
}

/// [`build`] for short memory: a batch of texts that are not long may be too much as well.
pub(super) fn build_within(
    input: Arc<dyn Node>,
    expressions: &[Program],
    run: &RunContext,
) -> Arc<dyn Node> {
    let rows = slice_of_short(expressions.iter().map(Program::text_length), run);
    match rows {
        Some(rows) if !expressions.iter().any(Program::gives_wide) => Arc::new(Sliced {
            input,
            rows: SliceRows::default(),
            rows_of_short: Some(rows),
        }),
        _ => build(input, expressions),
    }
}

impl Node for Sliced {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        self.input.rows_hint()
    }

    fn first_rows(&self, rows: u64) {
        self.input.first_rows(rows);
    }

    fn is_unordered(&self) -> bool {
        self.input.is_unordered()
    }

    fn follows_rounds(&self) -> bool {
        self.input.follows_rounds()
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.input.takes_filter(column)
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.input.give_filter(column, filter);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = Arc::clone(&self.input).open(run)?;
        Ok(Box::new(SlicedCursor {
            node: self,
            input,
            batch: None,
            taken: None,
        }))
    }
}

struct SlicedCursor {
    node: Arc<Sliced>,
    input: Box<dyn Cursor>,
    /// (batch, rows given): the batch that is being given.
    batch: Option<(Batch, usize)>,
    /// The last slice taken.
    taken: Option<Taken>,
}

impl Cursor for SlicedCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        if let Some(taken) = self.taken.take()
            && self.node.rows_of_short.is_none()
        {
            self.node.rows.done(taken, run);
        }
        let (batch, start) = match self.batch.take() {
            Some(rest) => rest,
            None => match self.input.next(run)? {
                Some(batch) if batch.row_count() > 1 => (batch, 0),
                other => return Ok(other),
            },
        };
        run.statement.check_interrupt()?;
        let count = batch.row_count();
        let taken = match self.node.rows_of_short {
            Some(rows) => Taken::of_rows(rows.min(count - start)),
            None => self.node.rows.take(batch.columns(), start, count, run),
        };
        let end = start + taken.rows();
        self.taken = Some(taken);
        if start == 0 && end == count {
            return Ok(Some(batch));
        }
        let slice = batch.slice(start, taken.rows());
        if end < count {
            self.batch = Some((batch, end));
        }
        Ok(Some(slice))
    }
}
