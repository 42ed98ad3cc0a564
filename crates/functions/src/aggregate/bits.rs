//! BIT_AND(x), BIT_OR(x) and BIT_XOR(x): over 64-bit integers, and over binary strings ([`super::bit_strings`]).
//! Without rows they return the neutral element, never NULL.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use mayfly_types::{Result, SqlType};

use super::bit_operation::Operation;
use super::bit_strings;
use super::growth::lengthen;
use super::state;
use crate::scalar::operators::numeric;
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, derive, input};

pub(super) fn signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let (argument, result) = match bit_strings::type_of(&binding.arguments[0])? {
        Some(bytes) => (bytes.clone(), bytes),
        None => (
            numeric::bits_argument(&binding.arguments[0]),
            derive::unsigned_bigint(),
        ),
    };
    Ok(AggregateSignature {
        arguments: vec![argument],
        state: vec![result.clone()],
        result: SqlType {
            unsigned: true,
            ..result
        },
        nullable: false,
    })
}

/// States that start as the neutral element.
pub(super) fn states(
    signature: &AggregateSignature,
    operation: Operation,
) -> Result<Box<dyn Accumulator>> {
    if signature.result.is_string() {
        return Ok(Box::new(bit_strings::States::new(
            operation,
            signature.result.length,
        )));
    }
    Ok(Box::new(States {
        neutral: operation.neutral(),
        combine: operation.combine(),
        values: Vec::new(),
    }))
}

struct States {
    neutral: u64,
    combine: fn(u64, u64) -> u64,
    values: Vec<u64>,
}

impl Accumulator for States {
    fn resize(&mut self, group_count: usize) {
        lengthen(&mut self.values, group_count, self.neutral);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let column = state::column(&arguments[0]);
        let values = input::any_ints(&column)?;
        for (row, group) in groups.iter().enumerate() {
            if let Some(value) = values.get(row) {
                let current = &mut self.values[*group as usize];
                *current = (self.combine)(*current, value as u64);
            }
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
        Ok(vec![Arc::new(UInt64Array::from(std::mem::take(
            &mut self.values,
        )))])
    }

    fn take_result(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        Ok(Arc::new(UInt64Array::from(std::mem::take(
            &mut self.values,
        ))))
    }

    fn memory_bytes(&self) -> usize {
        self.values.capacity() * 8
    }
}
