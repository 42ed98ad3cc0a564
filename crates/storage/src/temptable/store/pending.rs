//! Rows of blocks that were loaded to be given out in batches.

use std::collections::VecDeque;

use super::part::LoadedBlock;

/// Rows that wait to be given out, with the blocks that they are in. A block goes when its last row
/// was given out and the next rows are asked for.
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
    /// Releases the blocks whose rows were given out; whether more should be added: when fewer
    /// than `wanted` rows wait, and none or those that were read for less than `bytes_max`.
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

    /// The next rows, at most `wanted`. They stay until [`Self::is_short_of`] is asked.
    pub(crate) fn give(&mut self, wanted: usize) -> &[*const u8] {
        let end = self.rows.len().min(self.given + wanted);
        let start = std::mem::replace(&mut self.given, end);
        &self.rows[start..end]
    }

    /// The `count` rows that were given last.
    pub(crate) fn last_given(&self, count: usize) -> &[*const u8] {
        &self.rows[self.given - count..self.given]
    }
}
