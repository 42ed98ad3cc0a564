//! Input of an operator that reads its rows in their order: one of its cursors reads all of them, the others none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_types::Result;

use crate::context::{Cursor, Node, RunContext};

/// Whether the one cursor is open.
#[derive(Default)]
pub(super) struct OneCursor(AtomicBool);

impl OneCursor {
    /// Resets the flag for another run over the rows.
    pub(super) fn prepare(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Opens the cursor of the input; `None` for all but the first caller.
    pub(super) fn open(
        &self,
        input: &Arc<dyn Node>,
        run: &RunContext,
    ) -> Result<Option<Box<dyn Cursor>>> {
        let is_taken = self.0.swap(true, Ordering::Relaxed);
        let input = (!is_taken).then(|| Arc::clone(input).open(run));
        input.transpose()
    }
}
