//! Rows for which a predicate is true.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::expression::{Program, rows_of};
use crate::key_filter::GivenFilter;

struct Filter {
    input: Arc<dyn Node>,
    predicate: Program,
}

pub(super) fn build(input: Arc<dyn Node>, predicate: &Expression) -> Arc<dyn Node> {
    Arc::new(Filter {
        input,
        predicate: Program::compile(predicate),
    })
}

impl Node for Filter {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        rows_of([&self.predicate], self.input.rows_hint())
    }

    fn is_unordered(&self) -> bool {
        !self.predicate.is_volatile() && self.input.is_unordered()
    }

    fn follows_rounds(&self) -> bool {
        self.input.follows_rounds()
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.predicate.is_total() && self.input.takes_filter(column)
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        self.input.give_filter(column, filter);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = Arc::clone(&self.input).open(run)?;
        Ok(Box::new(FilterCursor { node: self, input }))
    }
}

struct FilterCursor {
    node: Arc<Filter>,
    input: Box<dyn Cursor>,
}

impl Cursor for FilterCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        while let Some(batch) = self.input.next(run)? {
            let selection = self.node.predicate.select(&batch, run)?;
            match selection.rows_of(batch) {
                None => run.statement.check_interrupt()?,
                found => return Ok(found),
            }
        }
        Ok(None)
    }
}
