//! Aggregates of partial aggregates: rules group rows below a join first, and above it combine the results of each
//! group, as often as the group has partners there.
//!
//! Partial COUNT()s are combined by a COUNT() here, partial SUM()s by a SUM() that keeps the state's type. SUM(),
//! MIN() and MAX() of partial results need no other function. The functions here have no SQL name.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use mayfly_types::selection::{filter_array, selection_filter};
use mayfly_types::{Error, Result};

use super::function::{AggregateFunction, AggregateFunction as Row, Kind};
use super::{count, sum};
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext};

/// The function that combines partial states of COUNT() or AVG(), which are its arguments.
pub fn merged(kind: Kind) -> Option<&'static AggregateFunction> {
    let mut known = MERGED.iter();
    known.find(|function| function.kind() == kind)
}

/// The functions; the caller has the signature already, that of the partial states.
const MERGED: &[Row] = &[
    Row::new(Kind::Count, &["count"], 1..=1, no_signature, |_, _| {
        Ok(Box::new(Merged(Box::<count::Counts>::default())))
    }),
    Row::new(Kind::Avg, &["avg"], 2..=2, no_signature, |signature, _| {
        Ok(Box::new(Merged(sum::states(signature, true)?)))
    }),
];

fn no_signature(_: &Binding<'_>) -> Result<AggregateSignature> {
    Err(Error::internal("partial aggregates have no signature"))
}

/// Merges states as rows. A NULL state is of no rows.
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
        let nulls = arguments.iter().map(|column| column.nulls());
        let nulls = nulls.fold(None, |all, own| NullBuffer::union(all.as_ref(), own));
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
