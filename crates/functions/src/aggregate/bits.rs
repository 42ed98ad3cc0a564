//! BIT_AND(x), BIT_OR(x) and BIT_XOR(x): over 64-bit integers. Without rows they give the neutral
//! element, never NULL.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use mayfly_types::{Result, SqlType};

use super::state;
use crate::scalar::operators::numeric;
use crate::{
    Accumulator, AggregateFunction, AggregateSignature, Argument, EvaluationContext,
    SignatureContext, input,
};

/// One of the three.
#[derive(Debug)]
pub(crate) struct Bits {
    names: &'static [&'static str],
    neutral: u64,
    combine: fn(u64, u64) -> u64,
    ignores_duplicates: bool,
}

/// BIT_AND()
pub(crate) static BIT_AND: Bits = Bits {
    names: &["bit_and"],
    neutral: u64::MAX,
    combine: |a, b| a & b,
    ignores_duplicates: true,
};
/// BIT_OR()
pub(crate) static BIT_OR: Bits = Bits {
    names: &["bit_or"],
    neutral: 0,
    combine: |a, b| a | b,
    ignores_duplicates: true,
};
/// BIT_XOR()
pub(crate) static BIT_XOR: Bits = Bits {
    names: &["bit_xor"],
    neutral: 0,
    combine: |a, b| a ^ b,
    ignores_duplicates: false,
};

impl AggregateFunction for Bits {
    fn names(&self) -> &'static [&'static str] {
        self.names
    }

    fn arity(&self) -> RangeInclusive<usize> {
        1..=1
    }

    fn ignores_duplicates(&self) -> bool {
        self.ignores_duplicates
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<AggregateSignature> {
        let result = SqlType {
            length: 21,
            ..SqlType::bigint_unsigned()
        };
        Ok(AggregateSignature {
            arguments: vec![numeric::integer_argument(arguments[0].ty)],
            state: vec![result.clone()],
            result,
            nullable: false,
        })
    }

    fn accumulator(
        &self,
        _signature: &AggregateSignature,
        _options: &[mayfly_types::Value],
        _context: &SignatureContext,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(States {
            neutral: self.neutral,
            combine: self.combine,
            values: Vec::new(),
        }))
    }
}

struct States {
    neutral: u64,
    combine: fn(u64, u64) -> u64,
    values: Vec<u64>,
}

impl Accumulator for States {
    fn resize(&mut self, group_count: usize) {
        self.values
            .resize(group_count.max(self.values.len()), self.neutral);
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
