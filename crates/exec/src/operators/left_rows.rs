//! Left rows of a join, divided among the cursors of all threads in smaller pieces than the batches in which they come.
//!
//! A batch of a few rows may be the work of a statement, when each of them leads to thousands of others. The cursor that
//! gets such a batch keeps its first rows, and leaves the rest in slices for whoever asks next. A cursor whose input has
//! ended waits until no other one is asking its own: what that one gets may be divided.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use mayfly_types::{Batch, Result};

use crate::context::{Cursor, RunContext};
use crate::state::lock;

/// Interval at which a waiting cursor asks whether the statement was killed.
const INTERRUPT_POLL: Duration = Duration::from_millis(10);

/// Slices of left rows for all cursors.
#[derive(Debug, Default)]
pub(super) struct LeftRows {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    slices: VecDeque<Batch>,
    /// Number of cursors that are asking their input.
    asking: usize,
}

/// A cursor that is asking its input.
struct Asking<'r>(&'r LeftRows);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).asking -= 1;
        self.0.changed.notify_all();
    }
}

impl LeftRows {
    /// Forgets what a run that ended early has left.
    pub(super) fn clear(&self) {
        *lock(&self.state) = State::default();
    }

    /// The next rows of a cursor with this input: at most `together` of a batch that is larger.
    pub(super) fn next(
        &self,
        input: &mut dyn Cursor,
        together: usize,
        run: &RunContext,
    ) -> Result<Option<Batch>> {
        if let Some(slice) = lock(&self.state).slices.pop_front() {
            return Ok(Some(slice));
        }
        lock(&self.state).asking += 1;
        let asking = Asking(self);
        let Some(batch) = input.next(run)? else {
            drop(asking);
            return self.wait(run);
        };
        let count = batch.row_count();
        if count > together {
            let starts = (together..count).step_by(together);
            let slices = starts.map(|start| batch.slice(start, together.min(count - start)));
            lock(&self.state).slices.extend(slices);
            return Ok(Some(batch.slice(0, together)));
        }
        Ok(Some(batch))
    }

    /// A slice that another cursor leaves, or `None` when none will come.
    fn wait(&self, run: &RunContext) -> Result<Option<Batch>> {
        let mut state = lock(&self.state);
        loop {
            if let Some(slice) = state.slices.pop_front() {
                return Ok(Some(slice));
            }
            if state.asking == 0 {
                return Ok(None);
            }
            run.statement.check_interrupt()?;
            let waited = self.changed.wait_timeout(state, INTERRUPT_POLL);
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}
