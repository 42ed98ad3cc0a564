//! OFFSET and LIMIT: rows by count, in the order of the input. Reads no more input than it needs.

use std::sync::{Arc, Mutex};

use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::state::lock;

struct Limit {
    input: Arc<dyn Node>,
    count: u64,
    state: Mutex<State>,
}

struct State {
    input: Option<Box<dyn Cursor>>,
    to_skip: u64,
    to_give: u64,
}

pub(super) fn build(input: Arc<dyn Node>, offset: u64, count: u64) -> Arc<dyn Node> {
    input.first_rows(offset.saturating_add(count));
    Arc::new(Limit {
        input,
        count,
        state: Mutex::new(State {
            input: None,
            to_skip: offset,
            to_give: count,
        }),
    })
}

impl Node for Limit {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        match self.count {
            0 => 0,
            count => count.min(self.input.rows_hint()),
        }
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(LimitCursor(self)))
    }
}

struct LimitCursor(Arc<Limit>);

impl Cursor for LimitCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let state = &mut *lock(&self.0.state);
        while state.to_give > 0 {
            if state.input.is_none() {
                state.input = Some(Arc::clone(&self.0.input).open(run)?);
            }
            let batch = match &mut state.input {
                Some(input) => input.next(run)?,
                None => None,
            };
            let Some(batch) = batch else {
                state.to_give = 0;
                break;
            };
            let rows = batch.row_count() as u64;
            if rows <= state.to_skip {
                state.to_skip -= rows;
                run.statement.check_interrupt()?;
                continue;
            }
            let give = (rows - state.to_skip).min(state.to_give);
            let batch = if give == rows {
                batch
            } else {
                // Both fit in usize: they are at most the batch's row count.
                batch.slice(state.to_skip as usize, give as usize)
            };
            state.to_skip = 0;
            state.to_give -= give;
            if state.to_give == 0 {
                state.input = None;
            }
            return Ok(Some(batch));
        }
        state.input = None;
        Ok(None)
    }
}
