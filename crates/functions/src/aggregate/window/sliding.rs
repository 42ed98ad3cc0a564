//! The frame aggregate over any kernel: adds the rows that enter the frame and removes those that leave it.
//!
//! The kernel's rows are always those of the current frame.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use super::frame::{Block, Frame, FrameAggregate};
use super::kernel::Kernel;
use crate::EvaluationContext;

/// The frame aggregate over a kernel without rows; the frame begins at row 0.
pub(super) fn boxed<K: Kernel + 'static>(kernel: K) -> Box<dyn FrameAggregate> {
    Box::new(Sliding {
        kernel,
        start: 0,
        end: 0,
        last: None,
    })
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
