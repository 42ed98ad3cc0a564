//! BIT_AND(x), BIT_OR(x) and BIT_XOR(x) over binary strings, which must be of equal length.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType};

use super::bit_operation::Operation;
use super::bytes_store::BytesStore;
use super::state;
use crate::{Accumulator, Argument, EvaluationContext, derive, input, output};

/// The longest string that the functions take.
pub const LENGTH_MAX: u32 = 511;

/// The type of an argument that is processed as a binary string. Literals like x'41' are numbers; error 3514 for
/// strings that may be too long.
pub(super) fn type_of(argument: &Argument<'_>) -> Result<Option<SqlType>> {
    if !argument.ty.is_binary_string() || derive::is_hexadecimal(argument) {
        return Ok(None);
    }
    if argument.ty.is_blob() || argument.ty.length > LENGTH_MAX {
        return Err(codes::ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE.error());
    }
    Ok(Some(SqlType::varchar(
        argument.ty.length,
        CollationId::BINARY,
    )))
}

/// Combines a string with another one, byte by byte. Error 3513 if their lengths differ.
fn combine(to: &mut [u8], value: &[u8], combine: fn(u8, u8) -> u8) -> Result<()> {
    if to.len() != value.len() {
        return Err(codes::ER_INVALID_BITWISE_OPERANDS_SIZE.error());
    }
    for (to, byte) in to.iter_mut().zip(value) {
        *to = combine(*to, *byte);
    }
    Ok(())
}

/// States, each with a string from its first value on.
pub(super) struct States {
    operation: Operation,
    /// Length of the result without values.
    length: u32,
    store: BytesStore,
    buffer: Vec<u8>,
}

impl States {
    pub(super) fn new(operation: Operation, length: u32) -> Self {
        Self {
            operation,
            length,
            store: BytesStore::default(),
            buffer: Vec::new(),
        }
    }

    fn take(&mut self, without_values: Option<&[u8]>) -> Result<ArrayRef> {
        let store = std::mem::take(&mut self.store);
        output::states(store.len(), |group, out| {
            let value = store.get(group).or(without_values);
            out.extend_from_slice(value.unwrap_or_default());
            value.is_some()
        })
    }
}

/// The result without values.
pub(super) fn neutral(operation: Operation, length: u32) -> Vec<u8> {
    vec![operation.neutral_byte(); length.min(LENGTH_MAX) as usize]
}

impl Accumulator for States {
    fn resize(&mut self, group_count: usize) {
        self.store.resize(group_count);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let column = state::column(&arguments[0]);
        let values = input::texts(&column)?;
        for (row, group) in groups.iter().enumerate() {
            let Some(value) = values.get(row) else {
                continue;
            };
            let group = *group as usize;
            self.buffer.clear();
            match self.store.get(group) {
                None => self.buffer.extend_from_slice(value),
                Some(known) => {
                    self.buffer.extend_from_slice(known);
                    combine(&mut self.buffer, value, self.operation.combine())?;
                }
            }
            self.store.set(group, &self.buffer);
        }
        Ok(())
    }

    fn merge(
        &mut self,
        groups: &[u32],
        state: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()> {
        self.update(groups, state, context)
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.take(None)?])
    }

    fn take_result(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        let neutral = neutral(self.operation, self.length);
        self.take(Some(&neutral))
    }

    fn memory_bytes(&self) -> usize {
        self.store.memory_bytes()
    }
}
