//! COUNT over frames.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use arrow_buffer::NullBuffer;
use mayfly_types::Result;

use super::kernel::Kernel;
use crate::EvaluationContext;
use crate::aggregate::state;

#[derive(Default)]
pub(super) struct Counts {
    count: i64,
    results: Vec<i64>,
}

impl Kernel for Counts {
    /// The rows that are counted; `None`: all.
    type Values<'a> = Option<NullBuffer>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        Ok(state::all_valid(arguments))
    }

    fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        self.count += i64::from(values.as_ref().is_none_or(|nulls| nulls.is_valid(row)));
        Ok(())
    }

    #[inline]
    fn remove(&mut self, values: &Self::Values<'_>, row: usize) {
        self.count -= i64::from(values.as_ref().is_none_or(|nulls| nulls.is_valid(row)));
    }

    #[inline]
    fn push(&mut self, _is_same: bool, _context: &EvaluationContext) -> Result<()> {
        self.results.push(self.count);
        Ok(())
    }

    fn take_results(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        Ok(Arc::new(Int64Array::from(results)))
    }

    fn memory_bytes(&self) -> usize {
        self.results.capacity() * 8
    }
}
