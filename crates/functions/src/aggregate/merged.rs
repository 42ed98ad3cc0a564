//! Aggregates of partial states: a call whose arguments are the columns of partial states merges them, group by group.
//!
//! Rules group rows below a join first, and above it combine the states of each group, as often as the group has partners
//! there; a distributed grouping combines the states of all partitions. The results are those of the call over the rows
//! themselves.

use arrow_array::{Array, ArrayRef};
use mayfly_types::Result;
use mayfly_types::selection::{filter_array, selection_filter};

use crate::{Accumulator, EvaluationContext};

/// An accumulator that merges the rows of its arguments, which are states of `of`.
pub fn merging(of: Box<dyn Accumulator>) -> Box<dyn Accumulator> {
    Box::new(Merged(of))
}

/// Merges states as rows. A state whose last column is NULL is of no rows.
struct Merged(Box<dyn Accumulator>);

impl Accumulator for Merged {
    fn resize(&mut self, group_count: usize) {
        self.0.resize(group_count);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()> {
        let nulls = arguments.last().and_then(|column| column.nulls());
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
            return self.0.merge(groups, arguments, context);
        };
        let is_state = nulls.inner();
        let groups: Vec<u32> = is_state.set_indices().map(|row| groups[row]).collect();
        let filter = selection_filter(is_state, arguments.len());
        let states = arguments.iter();
        let states: Vec<ArrayRef> = states.map(|column| filter_array(&filter, column)).collect();
        self.0.merge(&groups, &states, context)
    }

    fn merge(
        &mut self,
        groups: &[u32],
        state: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()> {
        self.0.merge(groups, state, context)
    }

    fn states(&self) -> Result<Vec<ArrayRef>> {
        self.0.states()
    }

    fn take_state(&mut self) -> Result<Vec<ArrayRef>> {
        self.0.take_state()
    }

    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        self.0.take_result(context)
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
