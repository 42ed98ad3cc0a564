//! BIT_AND, BIT_OR and BIT_XOR of binary strings over frames, by the number of rows that have each bit.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::super::bit_operation::Operation;
use super::super::bit_strings::neutral;
use super::kernel::Kernel;
use crate::{Column, EvaluationContext, input, output};

pub(super) struct BitStrings {
    operation: Operation,
    /// Length of the result of a frame without values.
    length: u32,
    /// Number of rows that are not NULL.
    count: u64,
    /// Number of rows that have each bit, by position.
    ones: Vec<u64>,
    results: Vec<Vec<u8>>,
    /// Total bytes of the results.
    bytes: usize,
}

impl BitStrings {
    pub(super) fn new(operation: Operation, length: u32) -> Self {
        Self {
            operation,
            length,
            count: 0,
            ones: Vec::new(),
            results: Vec::new(),
            bytes: 0,
        }
    }

    fn result(&self) -> Vec<u8> {
        if self.count == 0 {
            return neutral(self.operation, self.length);
        }
        let of_byte = |ones: &[u64]| {
            let bits = (0..)
                .zip(ones)
                .map(|(at, ones)| u8::from(self.operation.is_set(*ones, self.count)) << at);
            bits.fold(0, |byte, bit| byte | bit)
        };
        self.ones.chunks(8).map(of_byte).collect()
    }
}

/// The bits of a string, byte by byte.
fn bits(value: &[u8]) -> impl Iterator<Item = u64> {
    value
        .iter()
        .flat_map(|byte| (0..8).map(move |at| u64::from((byte >> at) & 1)))
}

impl Kernel for BitStrings {
    type Values<'a> = Vec<Option<Vec<u8>>>;

    fn values<'a>(&self, arguments: &'a [ArrayRef]) -> Result<Self::Values<'a>> {
        let [argument] = arguments else {
            return Err(super::super::mismatch("bits"));
        };
        let column = Column::Array(ArrayRef::clone(argument));
        let values = input::texts(&column)?;
        let rows = 0..argument.len();
        Ok(rows
            .map(|row| values.get(row).map(<[u8]>::to_vec))
            .collect())
    }

    fn clear(&mut self) {
        self.count = 0;
        self.ones.clear();
    }

    fn add(&mut self, values: &Self::Values<'_>, row: usize) -> Result<()> {
        let Some(value) = &values[row] else {
            return Ok(());
        };
        if self.count == 0 {
            self.ones = vec![0; 8 * value.len()];
        }
        if self.ones.len() != 8 * value.len() {
            return Err(codes::ER_INVALID_BITWISE_OPERANDS_SIZE.error());
        }
        self.count += 1;
        for (ones, bit) in self.ones.iter_mut().zip(bits(value)) {
            *ones += bit;
        }
        Ok(())
    }

    fn remove(&mut self, values: &Self::Values<'_>, row: usize) {
        if let Some(value) = &values[row] {
            self.count -= 1;
            for (ones, bit) in self.ones.iter_mut().zip(bits(value)) {
                *ones -= bit;
            }
        }
    }

    fn push(&mut self, _is_same: bool, _context: &EvaluationContext) -> Result<()> {
        let result = self.result();
        self.bytes += result.len() + size_of::<Vec<u8>>();
        self.results.push(result);
        Ok(())
    }

    fn take_results(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        self.bytes = 0;
        output::group_texts(results.len(), context, |row, out| {
            out.extend_from_slice(&results[row]);
            Ok(true)
        })
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.ones.capacity() * size_of::<u64>()
    }
}
