//! Aggregates over the frames of window functions.
//!
//! From one row to the next both ends of a frame only move forward, since MySQL's bounds are constants. So a row
//! enters a frame once and leaves it once, and the cost of an aggregate per row does not depend on the frame's size:
//!
//! - exactly invertible aggregates are added and subtracted: counts, sums (of doubles too, which are kept exactly,
//!   see [`super::exact_sum`]), variances, and bits, which are counted;
//! - minima and maxima keep the candidates for later results, in order (a monotonic queue), each of which is added
//!   and removed once;
//! - documents keep the rows of the frame, as many as the result has members.

mod bit_strings;
mod bits;
mod counts;
mod documents;
mod extremes;
mod spreads;
mod sums;
#[cfg(test)]
mod tests;

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::bit_operation::Operation;
use super::function::{AggregateFunction, AggregateSignature};
use super::state;
use crate::{EvaluationContext, SignatureContext};

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

/// The frame aggregate of a call. `never_removes`: every frame begins where its partition does.
pub fn frame_aggregate(
    function: &'static AggregateFunction,
    signature: &AggregateSignature,
    never_removes: bool,
    context: &SignatureContext,
) -> Result<Box<dyn FrameAggregate>> {
    match function.names()[0] {
        "count" => Ok(boxed(counts::Counts::default())),
        "sum" => sums::over_frames(signature, false),
        "avg" => sums::over_frames(signature, true),
        "min" => extremes::over_frames(signature, super::Keeps::Smallest, never_removes),
        "max" => extremes::over_frames(signature, super::Keeps::Largest, never_removes),
        "bit_and" => bits::over_frames(signature, Operation::And),
        "bit_or" => bits::over_frames(signature, Operation::Or),
        "bit_xor" => bits::over_frames(signature, Operation::Xor),
        "var_pop" => Ok(boxed(spreads::Spreads::new(false, false))),
        "var_samp" => Ok(boxed(spreads::Spreads::new(true, false))),
        "stddev_pop" => Ok(boxed(spreads::Spreads::new(false, true))),
        "stddev_samp" => Ok(boxed(spreads::Spreads::new(true, true))),
        _ => Ok(boxed(documents::Documents::new(
            function, signature, *context,
        ))),
    }
}

fn boxed<K: Kernel + 'static>(kernel: K) -> Box<dyn FrameAggregate> {
    Box::new(Sliding {
        kernel,
        start: 0,
        end: 0,
        last: None,
    })
}

/// Incremental aggregate of single rows.
trait Kernel: Send {
    /// The arguments of a block as typed values.
    type Values<'a>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>>;

    /// Removes all rows.
    fn clear(&mut self);

    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()>;

    /// Removes the first row.
    fn remove(&mut self, values: &Self::Values<'_>, row: usize);

    /// Appends the aggregate of the current rows. `is_same`: the frame of the last result is unchanged.
    fn push(&mut self, is_same: bool, context: &EvaluationContext) -> Result<()>;

    fn take_results(&mut self, context: &EvaluationContext) -> Result<ArrayRef>;

    fn memory_bytes(&self) -> usize;
}

struct Sliding<K> {
    kernel: K,
    start: u64,
    end: u64,
    /// The frame of the last result, since results were returned.
    last: Option<Frame>,
}

impl<K: Kernel> Sliding<K> {
    fn add_values(&mut self, values: &K::Values<'_>, first: u64, end: u64) -> Result<()> {
        // A block's rows are numbered by usize.
        for row in (self.end - first) as usize..(end - first) as usize {
            self.kernel.add(values, row)?;
        }
        self.end = end;
        Ok(())
    }

    fn remove_values(&mut self, values: &K::Values<'_>, first: u64, start: u64) {
        for row in (self.start - first) as usize..(start - first) as usize {
            self.kernel.remove(values, row);
        }
        self.start = start;
    }
}

impl<K: Kernel> FrameAggregate for Sliding<K> {
    fn frame(&self) -> Frame {
        (self.start, self.end)
    }

    fn restart(&mut self, row: u64) {
        self.kernel.clear();
        (self.start, self.end) = (row, row);
    }

    fn add(&mut self, block: Block<'_>, end: u64) -> Result<()> {
        let values = self.kernel.values(block.arguments)?;
        self.add_values(&values, block.first, end)
    }

    fn remove(&mut self, block: Block<'_>, start: u64) -> Result<()> {
        let values = self.kernel.values(block.arguments)?;
        self.remove_values(&values, block.first, start);
        Ok(())
    }

    fn slide(
        &mut self,
        added: Block<'_>,
        removed: Block<'_>,
        frames: &[Frame],
        context: &EvaluationContext,
    ) -> Result<()> {
        let entering = self.kernel.values(added.arguments)?;
        let leaving = self.kernel.values(removed.arguments)?;
        for frame in frames {
            let (start, end) = *frame;
            if start >= self.end && start != self.start {
                self.restart(start);
            }
            if end > self.end {
                self.add_values(&entering, added.first, end)?;
            }
            if start > self.start {
                self.remove_values(&leaving, removed.first, start);
            }
            self.kernel.push(self.last == Some(*frame), context)?;
            self.last = Some(*frame);
        }
        Ok(())
    }

    fn take_results(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        self.last = None;
        self.kernel.take_results(context)
    }

    fn memory_bytes(&self) -> usize {
        self.kernel.memory_bytes()
    }
}
