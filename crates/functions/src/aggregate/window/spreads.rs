//! Variances and standard deviations over frames.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use mayfly_types::Result;

use super::kernel::Kernel;
use crate::aggregate::variance;
use crate::{Column, EvaluationContext, input, output};

pub(super) struct Spreads {
    /// State of a single group: the frame.
    frame: variance::Spreads,
    results: Vec<Option<f64>>,
}

impl Spreads {
    pub(super) fn new(of_sample: bool, is_root: bool) -> Self {
        Self {
            frame: variance::Spreads::of_one_group(of_sample, is_root),
            results: Vec::new(),
        }
    }
}

impl Kernel for Spreads {
    type Values<'a> = Vec<Option<f64>>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        let [argument] = arguments else {
            return Err(crate::aggregate::mismatch("variance"));
        };
        let column = Column::Array(ArrayRef::clone(argument));
        let values = input::floats(&column)?;
        Ok((0..argument.len()).map(|row| values.get(row)).collect())
    }

    fn clear(&mut self) {
        self.frame.restart();
    }

    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if let Some(value) = values[row] {
            self.frame.add(0, value);
        }
        Ok(())
    }

    fn remove(&mut self, values: &Self::Values<'_>, row: usize) {
        if let Some(value) = values[row] {
            self.frame.subtract(0, value);
        }
    }

    fn push(&mut self, is_same: bool, _context: &EvaluationContext) -> Result<()> {
        let result = match self.results.last() {
            Some(last) if is_same => *last,
            _ => self.frame.result(0),
        };
        if result.is_some_and(|value| !value.is_finite()) {
            return Err(output::out_of_range("DOUBLE", None));
        }
        self.results.push(result);
        Ok(())
    }

    fn take_results(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        Ok(Arc::new(Float64Array::from(results)))
    }

    fn memory_bytes(&self) -> usize {
        self.results.capacity() * 16 + 512
    }
}
