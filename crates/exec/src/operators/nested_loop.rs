//! Nested loop joins, by any condition: every left row is paired with every right row.
//!
//! The right rows are kept in a temporary table. A block of left rows is paired with one batch of right rows after the
//! other; as many pairs are made at once as a batch may have rows, so that a small right side costs no more a pair than
//! a large one.

use std::sync::{Arc, Mutex};

use arrow_array::UInt32Array;
use mayfly_plan::Expression;
use mayfly_plan::physical::{JoinKind, TemporaryTable};
use mayfly_storage::{Scan, TempTable};
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::materialize;
use crate::context::{Cursor, Node, RunContext};
use crate::expression::{Program, Selection, selected};
use crate::representation::column_types;
use crate::rows::{null_columns, rows_where, take_rows};
use crate::state::lock;

struct NestedLoop {
    kind: JoinKind,
    left: Arc<dyn Node>,
    right: Arc<dyn Node>,
    right_types: Vec<SqlType>,
    condition: Option<Program>,
    temporary: TemporaryTable,
    table: Mutex<Option<TempTable>>,
}

pub(super) fn build(
    kind: JoinKind,
    left: Arc<dyn Node>,
    right: Arc<dyn Node>,
    right_types: &[SqlType],
    condition: Option<&Expression>,
    temporary: &TemporaryTable,
) -> Arc<dyn Node> {
    Arc::new(NestedLoop {
        kind,
        left,
        right,
        right_types: right_types.to_vec(),
        condition: condition.map(Program::compile),
        temporary: temporary.clone(),
        table: Mutex::new(None),
    })
}

impl Node for NestedLoop {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let table =
            materialize::fill_temp_table(&self.right, &self.right_types, &self.temporary, run)?;
        *lock(&self.table) = Some(table);
        self.left.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        let right = lock(&self.table).as_ref().map_or(0, TempTable::row_count);
        self.left.rows_hint().saturating_mul(right.max(1))
    }

    fn follows_rounds(&self) -> bool {
        self.left.follows_rounds()
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let table = lock(&self.table).clone();
        Ok(Box::new(LoopCursor {
            left: Arc::clone(&self.left).open(run)?,
            right: table.map(|table| table.scan(None)),
            right_types: column_types(&self.right_types),
            node: self,
            block: None,
        }))
    }
}

struct LoopCursor {
    node: Arc<NestedLoop>,
    left: Box<dyn Cursor>,
    right: Option<Scan>,
    right_types: Vec<PhysicalType>,
    block: Option<Block>,
}

/// A batch of left rows that is paired with the right rows.
struct Block {
    left: Batch,
    matched: Vec<bool>,
    /// The current batch of right rows, and the left row that is paired with it next.
    right: Option<Batch>,
    next_left: usize,
}

impl Cursor for LoopCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(mut block) = self.block.take() {
                while self.has_right_rows(&mut block)? {
                    run.statement.check_interrupt()?;
                    if let Some(batch) = self.meet(&mut block, run)? {
                        self.block = Some(block);
                        return Ok(Some(batch));
                    }
                }
                if let Some(batch) = self.end(block) {
                    return Ok(Some(batch));
                }
            }
            run.statement.check_interrupt()?;
            let Some(left) = self.left.next(run)? else {
                return Ok(None);
            };
            if left.is_empty() {
                continue;
            }
            if let Some(scan) = &mut self.right {
                scan.rewind();
            }
            self.block = Some(Block {
                matched: vec![false; left.row_count()],
                left,
                right: None,
                next_left: 0,
            });
        }
    }
}

impl LoopCursor {
    fn has_right_rows(&mut self, block: &mut Block) -> Result<bool> {
        if block.right.is_some() && block.next_left < block.left.row_count() {
            return Ok(true);
        }
        block.next_left = 0;
        block.right = match &mut self.right {
            None => None,
            Some(scan) => scan.next_batch()?,
        };
        Ok(block.right.is_some())
    }

    /// Pairs some left rows with the current right rows.
    fn meet(&self, block: &mut Block, run: &RunContext) -> Result<Option<Batch>> {
        let Some(right) = &block.right else {
            return Ok(None);
        };
        let right_rows = right.row_count();
        let first = block.next_left;
        let left_rows = (run.statement.options.batch_rows / right_rows)
            .clamp(1, block.left.row_count() - first);
        block.next_left += left_rows;
        let count = left_rows * right_rows;
        let left_index: UInt32Array = (first..first + left_rows)
            .flat_map(|row| std::iter::repeat_n(row as u32, right_rows))
            .collect();
        let mut columns = take_rows(block.left.columns(), &left_index)?;
        if left_rows == 1 {
            columns.extend_from_slice(right.columns());
        } else {
            let right_index: UInt32Array =
                (0..count).map(|pair| (pair % right_rows) as u32).collect();
            columns.extend(take_rows(right.columns(), &right_index)?);
        }
        let pairs = Batch::new(columns, count);
        let selection = selected(self.node.condition.as_ref(), &pairs, run)?;
        if self.node.kind != JoinKind::Inner {
            let mark = |pair: usize| block.matched[first + pair / right_rows] = true;
            match &selection {
                Selection::All => (0..count).for_each(mark),
                Selection::None => {}
                Selection::Some(selection, _) => selection.set_indices().for_each(mark),
            }
        }
        if !matches!(self.node.kind, JoinKind::Inner | JoinKind::Left) {
            return Ok(None);
        }
        Ok(selection.rows_of(pairs))
    }

    /// Output of a block at its end, when it is paired with every right row.
    fn end(&self, block: Block) -> Option<Batch> {
        let wanted = match self.node.kind {
            JoinKind::Inner => return None,
            JoinKind::Semi => true,
            JoinKind::Left | JoinKind::Anti | JoinKind::NullAwareAnti => false,
        };
        let left = rows_where(&block.left, |row| block.matched[row] == wanted);
        let count = left.row_count();
        if count == 0 {
            return None;
        }
        if self.node.kind != JoinKind::Left {
            return Some(left);
        }
        let mut columns = left.into_columns();
        columns.extend(null_columns(&self.right_types, count));
        Some(Batch::new(columns, count))
    }
}
