//! Computed columns.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_types::{Batch, Result};

use super::{Cursor, Node, to_travelling};
use crate::context::RunContext;
use crate::expression::Program;

struct Project {
    input: Arc<dyn Node>,
    expressions: Vec<Program>,
}

pub(super) fn build(input: Arc<dyn Node>, expressions: &[Expression]) -> Arc<dyn Node> {
    Arc::new(Project {
        input,
        expressions: Program::compile_all(expressions),
    })
}

impl Node for Project {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        self.input.rows_hint()
    }

    fn open(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = Arc::clone(&self.input).open(run)?;
        Ok(Box::new(ProjectCursor { node: self, input }))
    }
}

struct ProjectCursor {
    node: Arc<Project>,
    input: Box<dyn Cursor>,
}

impl Cursor for ProjectCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        match self.input.next(run)? {
            None => Ok(None),
            Some(batch) => project(&self.node.expressions, &batch, run).map(Some),
        }
    }
}

/// The values of expressions over a batch, one column each.
pub(super) fn project(expressions: &[Program], batch: &Batch, run: &RunContext) -> Result<Batch> {
    let columns = expressions
        .iter()
        .map(|expression| Ok(to_travelling(expression.evaluate_array(batch, run)?)))
        .collect::<Result<_>>()?;
    Ok(Batch::new(columns, batch.row_count()))
}
