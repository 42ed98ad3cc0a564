//! The input of an operator that reads its rows in their order: one of its cursors reads all of them, the others none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mayfly_types::Result;

use crate::context::{Cursor, Node, RunContext};

/// Whether the one cursor is open.
#[derive(Default)]
pub(super) struct OneCursor(AtomicBool);

impl OneCursor {
    /// The rows are there again.
    pub(super) fn prepare(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// The cursor of the input; none for all but the first that asks.
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
