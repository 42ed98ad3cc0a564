//! The interface of an aggregate over a frame that moves forward.
//!
//! The caller passes the rows that enter and leave the frame, block by block, so that an aggregate need not hold them.
//! Only [`FrameAggregate::restart`] may move the frame back.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::EvaluationContext;

/// Consecutive rows of a window's input.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The arguments of the call for these rows.
    pub arguments: &'a [ArrayRef],
    /// The number of the first row.
    pub first: u64,
}

/// (start, end): the rows from number `start` up to, and without, `end`.
pub type Frame = (u64, u64);

/// An aggregate over a frame that moves forward over numbered rows.
pub trait FrameAggregate: Send {
    /// The current frame.
    fn frame(&self) -> Frame;

    /// Removes all rows; the frame continues at this row.
    fn restart(&mut self, row: u64);

    /// Adds rows up to `end`, all of them in the block.
    fn add(&mut self, block: Block<'_>, end: u64) -> Result<()>;

    /// Removes rows up to `start`, all of them in the block.
    fn remove(&mut self, block: Block<'_>, start: u64) -> Result<()>;

    /// Moves to each of the frames and appends the aggregate of its rows. Added rows are in `added`, removed ones in
    /// `removed`.
    fn slide(
        &mut self,
        added: Block<'_>,
        removed: Block<'_>,
        frames: &[Frame],
        context: &EvaluationContext,
    ) -> Result<()>;

    /// Returns the appended results.
    fn take_results(&mut self, context: &EvaluationContext) -> Result<ArrayRef>;

    /// Bytes held.
    fn memory_bytes(&self) -> usize;
}
