//! Rows of loaded blocks that wait to be returned in batches.

use std::collections::VecDeque;

use super::part::LoadedBlock;

/// Queue of rows to return, with their blocks. A block is released when its last row was returned and more rows are
/// asked for.
#[derive(Default)]
pub(crate) struct PendingRows {
    rows: Vec<*const u8>,
    given: usize,
    blocks: VecDeque<LoadedBlock>,
    /// Bytes that were read for the blocks.
    bytes: usize,
}

#[expect(unsafe_code, reason = "rows point into blocks that `blocks` owns")]
// SAFETY: the blocks live as long as this value, which they move with.
unsafe impl Send for PendingRows {}

impl PendingRows {
    /// Releases the blocks whose rows were returned; returns whether to add more: when fewer than `wanted` rows wait,
    /// and there are none or fewer than `bytes_max` bytes were read for them.
    pub(crate) fn is_short_of(&mut self, wanted: usize, bytes_max: usize) -> bool {
        if self.rows.len() - self.given >= wanted {
            return false;
        }
        let mut gone = 0;
        while let Some(block) = self.blocks.front()
            && gone + block.row_count() <= self.given
        {
            gone += block.row_count();
            self.bytes -= block.bytes_read();
            self.blocks.pop_front();
        }
        self.rows.drain(..gone);
        self.given -= gone;
        let waiting = self.rows.len() - self.given;
        waiting == 0 || waiting < wanted && self.bytes < bytes_max
    }

    /// Adds the rows of a block.
    pub(crate) fn add(&mut self, block: LoadedBlock) {
        block.push_rows(&mut self.rows);
        self.bytes += block.bytes_read();
        self.blocks.push_back(block);
    }

    /// The next rows, at most `wanted`, valid until [`Self::is_short_of`] is called.
    pub(crate) fn give(&mut self, wanted: usize) -> &[*const u8] {
        let end = self.rows.len().min(self.given + wanted);
        let start = std::mem::replace(&mut self.given, end);
        &self.rows[start..end]
    }

    /// The `count` rows that were returned last.
    pub(crate) fn last_given(&self, count: usize) -> &[*const u8] {
        &self.rows[self.given - count..self.given]
    }
}
