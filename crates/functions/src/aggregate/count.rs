//! COUNT(*), COUNT(x) and COUNT(DISTINCT x, y, …): the number of rows in which no argument is NULL.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use mayfly_types::{Result, SqlType};

use crate::aggregate::state;
use crate::{Accumulator, AggregateSignature, Binding, Column, EvaluationContext, derive, input};

use super::growth::lengthen;
use super::state::States;

/// COUNT() without arguments is COUNT(*).
pub(super) fn signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    Ok(AggregateSignature {
        arguments: binding.each(|argument| argument.ty.clone()),
        state: vec![SqlType::bigint()],
        result: derive::bigint_of_width(21),
        nullable: false,
    })
}

#[derive(Default)]
pub(super) struct Counts(Vec<i64>);

impl Accumulator for Counts {
    fn resize(&mut self, group_count: usize) {
        lengthen(&mut self.0, group_count, 0);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let nulls = state::all_valid(arguments);
        let counts = &mut self.0[..];
        if nulls.is_none() && state::pays_in_lanes(groups.len(), counts.len()) {
            let add = |count: &mut i64, _, _| *count += 1;
            let lanes = state::add_in_lanes(groups, 0, add);
            for (group, count) in lanes.of_groups(counts.len()) {
                counts[group as usize] += count;
            }
            return Ok(());
        }
        let states = [States::of(counts)];
        state::for_each_valid(groups, nulls.as_ref(), states, |group, _| {
            counts[group as usize] += 1
        });
        Ok(())
    }

    fn update_one_group(
        &mut self,
        group: u32,
        arguments: &[ArrayRef],
        row_count: usize,
        _context: &EvaluationContext,
    ) -> Result<()> {
        let null_count = state::all_valid(arguments).map_or(0, |nulls| nulls.null_count());
        self.0[group as usize] += (row_count - null_count) as i64;
        Ok(())
    }

    fn merge(
        &mut self,
        groups: &[u32],
        state: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let column: Column = state::column(&state[0]);
        let partial = input::ints(&column)?;
        for (row, group) in groups.iter().enumerate() {
            self.0[*group as usize] += partial.get(row).unwrap_or(0);
        }
        Ok(())
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(Int64Array::from(std::mem::take(
            &mut self.0,
        )))])
    }

    fn take_result(&mut self, _context: &EvaluationContext) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(std::mem::take(&mut self.0))))
    }

    fn memory_bytes(&self) -> usize {
        self.0.capacity() * 8
    }
}
