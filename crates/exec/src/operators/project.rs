//! Projections: computed columns.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_types::{Batch, Result};

use super::sliced;
use crate::context::{Cursor, Node, RunContext};
use crate::expression::{Program, rows_of};
use crate::key_filter::GivenFilter;
use crate::representation::to_column;
use crate::rows::joined_batches;

struct Project {
    input: Arc<dyn Node>,
    expressions: Vec<Program>,
}

impl Project {
    /// Input column that a column of the output copies, if it does.
    fn input_column(&self, column: usize) -> Option<usize> {
        self.expressions.get(column)?.as_column()
    }
}

pub(super) fn build(
    input: Arc<dyn Node>,
    expressions: &[Expression],
    run: &RunContext,
) -> Arc<dyn Node> {
    let expressions = Program::compile_all(expressions);
    Arc::new(Project {
        input: sliced::build_within(input, &expressions, run),
        expressions,
    })
}

impl Node for Project {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        rows_of(&self.expressions, self.input.rows_hint())
    }

    fn first_rows(&self, rows: u64) {
        self.input.first_rows(rows);
    }

    fn is_unordered(&self) -> bool {
        !self.expressions.iter().any(Program::is_volatile) && self.input.is_unordered()
    }

    fn follows_rounds(&self) -> bool {
        self.input.follows_rounds()
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.expressions.iter().all(Program::is_total)
            && self
                .input_column(column)
                .is_some_and(|column| self.input.takes_filter(column))
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        if let Some(column) = self.input_column(column) {
            self.input.give_filter(column, filter);
        }
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = Arc::clone(&self.input).open(run)?;
        Ok(Box::new(ProjectCursor { node: self, input }))
    }
}

struct ProjectCursor {
    node: Arc<Project>,
    input: Box<dyn Cursor>,
}

impl Cursor for ProjectCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        match self.input.next(run)? {
            None => Ok(None),
            Some(batch) => project(&self.node.expressions, &batch, run).map(Some),
        }
    }
}

/// Values of expressions over a batch, one column each.
pub(super) fn project(expressions: &[Program], batch: &Batch, run: &RunContext) -> Result<Batch> {
    if batch.row_count() > 1 && expressions.iter().any(Program::assigns) {
        return project_by_row(expressions, batch, run);
    }
    let columns = expressions
        .iter()
        .map(|expression| Ok(to_column(expression.evaluate_array(batch, run)?)))
        .collect::<Result<_>>()?;
    Ok(Batch::new(columns, batch.row_count()))
}

/// [`project`] one row after another: `@n := @n + 1` counts.
fn project_by_row(expressions: &[Program], batch: &Batch, run: &RunContext) -> Result<Batch> {
    let mut rows = Vec::with_capacity(batch.row_count());
    for row in 0..batch.row_count() {
        rows.push(project(expressions, &batch.slice(row, 1), run)?);
    }
    joined_batches(&rows, expressions.len())
}
