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

    fn takes_filter(&self, column: usize) -> bool {
        self.inputs.iter().any(|input| input.takes_filter(column))
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.inputs
            .iter()
            .filter(|input| input.takes_filter(column))
            .for_each(|input| input.give_filter(column, filter));
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(UnionCursor {
            node: self,
            next_input: 0,
            input: None,
        }))
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
