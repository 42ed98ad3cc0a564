//! LATERAL: the right side is run for every left row, with parameters set from it.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use mayfly_plan::Expression;
use mayfly_plan::physical::{JoinKind, Plan};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, PhysicalType, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::expression::{Program, selected};
use crate::representation::{column_types, to_column};
use crate::rows::{null_columns, take_rows};

struct Apply {
    kind: JoinKind,
    left: Arc<dyn Node>,
    right: Plan,
    right_types: Vec<PhysicalType>,
    parameters: Vec<(usize, Program)>,
    condition: Option<Program>,
}

pub(super) fn build(
    kind: JoinKind,
    left: Arc<dyn Node>,
    right: &Plan,
    parameters: &[(usize, Expression)],
    condition: Option<&Expression>,
) -> Arc<dyn Node> {
    let parameters = parameters.iter();
    let parameters =
        parameters.map(|(parameter, expression)| (*parameter, Program::compile(expression)));
    Arc::new(Apply {
        kind,
        left,
        right: right.clone(),
        right_types: column_types(&right.output),
        parameters: parameters.collect(),
        condition: condition.map(Program::compile),
    })
}

impl Node for Apply {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.left.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        // Every left row is a small statement of its own.
        self.left.rows_hint().saturating_mul(100)
    }

    fn follows_rounds(&self) -> bool {
        self.left.follows_rounds()
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(ApplyCursor {
            left: Arc::clone(&self.left).open(run)?,
            node: self,
            block: None,
        }))
    }
}

struct ApplyCursor {
    node: Arc<Apply>,
    left: Box<dyn Cursor>,
    block: Option<Block>,
}

/// A batch of left rows, one of which is being joined.
struct Block {
    left: Batch,
    parameters: Vec<ArrayRef>,
    next_row: usize,
    right: Option<Right>,
}

/// The right side under the parameters of one left row.
struct Right {
    run: RunContext,
    cursor: Box<dyn Cursor>,
    matched: bool,
}

impl Cursor for ApplyCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(mut block) = self.block.take()
                && let Some(batch) = self.node.advance(&mut block, run)?
            {
                self.block = Some(block);
                return Ok(Some(batch));
            }
            let Some(left) = self.left.next(run)? else {
                return Ok(None);
            };
            if left.is_empty() {
                continue;
            }
            let parameters = self
                .node
                .parameters
                .iter()
                .map(|(_, program)| Ok(to_column(program.evaluate_array(&left, run)?)))
                .collect::<Result<_>>()?;
            self.block = Some(Block {
                left,
                parameters,
                next_row: 0,
                right: None,
            });
        }
    }
}

impl Apply {
    /// The next rows of a block; `None` at its end.
    fn advance(&self, block: &mut Block, run: &RunContext) -> Result<Option<Batch>> {
        while block.right.is_some() || block.next_row < block.left.row_count() {
            run.statement.check_interrupt()?;
            let row = match &block.right {
                Some(_) => block.next_row - 1,
                None => {
                    block.right = Some(self.start(block, run)?);
                    block.next_row += 1;
                    block.next_row - 1
                }
            };
            let Some(right) = &mut block.right else {
                continue;
            };
            let given = match right.cursor.next(&right.run)? {
                Some(batch) if batch.is_empty() => None,
                Some(batch) => {
                    let pairs = self.pairs(&block.left, row, &batch)?;
                    let selection = selected(self.condition.as_ref(), &pairs, run)?;
                    let pairs = selection.rows_of(pairs);
                    right.matched |= pairs.is_some();
                    match self.kind {
                        JoinKind::Inner | JoinKind::Left => pairs,
                        _ if right.matched => {
                            block.right = None;
                            (self.kind == JoinKind::Semi).then(|| block.left.slice(row, 1))
                        }
                        _ => None,
                    }
                }
                None => {
                    let matched = right.matched;
                    block.right = None;
                    match self.kind {
                        JoinKind::Left if !matched => Some(self.alone(&block.left, row)),
                        JoinKind::Anti | JoinKind::NullAwareAnti if !matched => {
                            Some(block.left.slice(row, 1))
                        }
                        _ => None,
                    }
                }
            };
            if given.is_some() {
                return Ok(given);
            }
        }
        Ok(None)
    }

    fn start(&self, block: &Block, run: &RunContext) -> Result<Right> {
        let parameters = self.parameters.iter().zip(&block.parameters);
        let values = parameters.map(|((parameter, _), array)| {
            let value = array_value(array, block.next_row);
            (*parameter, value)
        });
        let run = run.with_outer_row(values);
        let node = run.build(&self.right)?;
        node.prepare(&run)?;
        Ok(Right {
            cursor: node.open(&run)?,
            run,
            matched: false,
        })
    }

    fn pairs(&self, left: &Batch, row: usize, right: &Batch) -> Result<Batch> {
        let rows = right.row_count();
        let index = UInt32Array::from(vec![row as u32; rows]);
        let mut columns = take_rows(left.columns(), &index)?;
        columns.extend_from_slice(right.columns());
        Ok(Batch::new(columns, rows))
    }

    fn alone(&self, left: &Batch, row: usize) -> Batch {
        let mut columns = left.slice(row, 1).into_columns();
        columns.extend(null_columns(&self.right_types, 1));
        Batch::new(columns, 1)
    }
}
