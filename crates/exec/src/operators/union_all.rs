//! UNION ALL: the rows of one input after the other. Inputs are prepared together but read in
//! order, so that LIMIT above reads no more of them than it needs.

use std::sync::Arc;

use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::key_filter::GivenFilter;

struct UnionAll {
    inputs: Vec<Arc<dyn Node>>,
}

pub(super) fn build(inputs: Vec<Arc<dyn Node>>) -> Arc<dyn Node> {
    Arc::new(UnionAll { inputs })
}

impl Node for UnionAll {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.inputs.iter().try_for_each(|input| input.prepare(run))
    }

    fn rows_hint(&self) -> u64 {
        let hints = self.inputs.iter().map(|input| input.rows_hint());
        hints.fold(0, u64::saturating_add)
    }

    fn follows_rounds(&self) -> bool {
        self.inputs.iter().all(|input| input.follows_rounds())
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.inputs.iter().any(|input| input.takes_filter(column))
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.inputs
            .iter()
            .filter(|input| input.takes_filter(column))
            .for_each(|input| input.give_filter(column, filter));
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        if self.follows_rounds() {
            let inputs = self.inputs.iter();
            let cursors = inputs.map(|input| Arc::clone(input).open(run));
            return Ok(Box::new(RoundCursor {
                inputs: cursors.collect::<Result<_>>()?,
                next_input: 0,
            }));
        }
        Ok(Box::new(UnionCursor {
            node: self,
            next_input: 0,
            input: None,
        }))
    }
}

/// Cursor over inputs that all continue with the next round of a recursion.
struct RoundCursor {
    inputs: Vec<Box<dyn Cursor>>,
    next_input: usize,
}

impl Cursor for RoundCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        while let Some(input) = self.inputs.get_mut(self.next_input) {
            if let Some(batch) = input.next(run)? {
                return Ok(Some(batch));
            }
            self.next_input += 1;
        }
        self.next_input = 0;
        Ok(None)
    }
}

struct UnionCursor {
    node: Arc<UnionAll>,
    next_input: usize,
    input: Option<Box<dyn Cursor>>,
}

impl Cursor for UnionCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(input) = &mut self.input {
                if let Some(batch) = input.next(run)? {
                    return Ok(Some(batch));
                }
                self.input = None;
            }
            let Some(node) = self.node.inputs.get(self.next_input) else {
                return Ok(None);
            };
            self.input = Some(Arc::clone(node).open(run)?);
            self.next_input += 1;
        }
    }
}
