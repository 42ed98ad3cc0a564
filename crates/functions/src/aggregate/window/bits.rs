//! BIT_AND, BIT_OR and BIT_XOR over frames, by the number of rows that have each bit.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use mayfly_types::Result;

use super::super::bit_operation::Operation;
use super::bit_strings::BitStrings;
use super::frame::FrameAggregate;
use super::kernel::Kernel;
use super::sliding::boxed;
use crate::input::{self, AnyInts};
use crate::{AggregateSignature, Column, EvaluationContext};

/// BIT_AND(), BIT_OR() or BIT_XOR() of integers or of binary strings.
pub(super) fn over_frames(
    signature: &AggregateSignature,
    operation: Operation,
) -> Result<Box<dyn FrameAggregate>> {
    let ty = &signature.result;
    Ok(if ty.is_string() {
        boxed(BitStrings::new(operation, ty.length))
    } else {
        boxed(Bits::new(operation))
    })
}

pub(super) struct Bits {
    operation: Operation,
    /// Number of rows that are not NULL.
    count: u64,
    /// Number of rows that have each bit.
    ones: [u64; 64],
    results: Vec<u64>,
}

impl Bits {
    fn new(operation: Operation) -> Self {
        Self {
            operation,
            count: 0,
            ones: [0; 64],
            results: Vec::new(),
        }
    }

    fn result(&self) -> u64 {
        let mut bits = 0;
        for (at, ones) in self.ones.iter().enumerate() {
            let is_set = self.operation.is_set(*ones, self.count);
            bits |= u64::from(is_set) << at;
        }
        bits
    }
}

impl Kernel for Bits {
    type Values<'a> = Vec<Option<u64>>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        let [argument] = arguments else {
            return Err(super::super::mismatch("bits"));
        };
        let column = Column::Array(ArrayRef::clone(argument));
        let values: AnyInts<'_> = input::any_ints(&column)?;
        let rows = 0..argument.len();
        Ok(rows
            .map(|row| values.get(row).map(|value| value as u64))
            .collect())
    }

    fn clear(&mut self) {
        (self.count, self.ones) = (0, [0; 64]);
    }

    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        if let Some(value) = values[row] {
            self.count += 1;
            for (at, ones) in self.ones.iter_mut().enumerate() {
                *ones += (value >> at) & 1;
            }
        }
        Ok(())
    }

    fn remove(&mut self, values: &Self::Values<'_>, row: usize) {
        if let Some(value) = values[row] {
            self.count -= 1;
            for (at, ones) in self.ones.iter_mut().enumerate() {
                *ones -= (value >> at) & 1;
            }
        }
    }

    fn push(&mut self, _is_same: bool, _context: &EvaluationContext) -> Result<()> {
        self.results.push(self.result());
        Ok(())
    }

    fn take_results(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        Ok(Arc::new(UInt64Array::from(results)))
    }

    fn memory_bytes(&self) -> usize {
        self.results.capacity() * 8
    }
}
