//! The interface of an aggregate that rows are added to and removed from one at a time.
//!
//! A kernel knows nothing of frames: [`super::sliding`] moves them. Rows are removed in the order in which they were
//! added.

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::EvaluationContext;

/// Incremental aggregate of single rows.
pub(super) trait Kernel: Send {
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
