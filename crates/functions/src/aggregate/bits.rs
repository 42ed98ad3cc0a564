//! BIT_AND(x), BIT_OR(x) and BIT_XOR(x): over 64-bit integers. Without rows they give the neutral
//! element, never NULL.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use mayfly_types::Result;

use super::growth::lengthen;
use super::state;
use crate::scalar::operators::numeric;
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, derive, input};

pub(super) fn signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let result = derive::unsigned_bigint();
    Ok(AggregateSignature {
        arguments: binding.each(|argument| numeric::integer_argument(argument.ty)),
        state: vec![result.clone()],
        result,
        nullable: false,
    })
}

/// States that begin with the neutral element.
pub(super) fn states(neutral: u64, combine: fn(u64, u64) -> u64) -> Result<Box<dyn Accumulator>> {
    Ok(Box::new(States {
        neutral,
        combine,
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
