//! Index merge: rows of a base table at the positions that several of its indexes have found together.
//!
//! The input is a set operation over scans of the indexes, which gives each position once, whatever its size; here the
//! rows are fetched, a batch of positions at a time and by all workers, and checked.

use std::sync::Arc;

use mayfly_plan::physical::{self, OperatorNumber};
use mayfly_storage::{ColumnId, Table};
use mayfly_types::{Batch, Error, Result};

use super::first_rows::{FirstRows, passed};
use crate::context::{Cursor, Node, RunContext, count};
use crate::expression::Program;

struct IndexMerge {
    number: OperatorNumber,
    positions: Arc<dyn Node>,
    table: mayfly_plan::TableId,
    columns: Vec<ColumnId>,
    predicate: Option<Program>,
    wanted: FirstRows,
}

pub(super) fn build(
    merge: &physical::IndexMerge,
    positions: Arc<dyn Node>,
    number: OperatorNumber,
) -> Arc<dyn Node> {
    Arc::new(IndexMerge {
        number,
        positions,
        table: merge.table.id,
        columns: merge.columns.iter().copied().map(ColumnId).collect(),
        predicate: merge.predicate.as_ref().map(Program::compile),
        wanted: FirstRows::all(),
    })
}

impl Node for IndexMerge {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.positions.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        self.positions.rows_hint()
    }

    fn first_rows(&self, rows: u64) {
        self.wanted.set(rows);
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(IndexMergeCursor {
            positions: Arc::clone(&self.positions).open(run)?,
            table: run.statement.tables.open(self.table)?,
            wanted: self.wanted.get(),
            node: self,
        }))
    }
}

struct IndexMergeCursor {
    node: Arc<IndexMerge>,
    positions: Box<dyn Cursor>,
    table: Arc<dyn Table>,
    /// Number of rows still wanted.
    wanted: u64,
}

impl Cursor for IndexMergeCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let counters = &run.statement.counters;
        while self.wanted > 0
            && let Some(found) = self.positions.next(run)?
        {
            if found.row_count() == 0 {
                continue;
            }
            let Some(positions) = found.columns().first() else {
                return Err(Error::internal("an index merge without positions"));
            };
            let rows = self.table.fetch(positions, &self.node.columns)?;
            count(&counters.handler_read_rnd, rows.row_count() as u64);
            let predicate = self.node.predicate.as_ref();
            let (rows, used) = passed(rows, predicate, self.wanted, run)?;
            run.statement.examined(self.node.number, used as u64);
            match rows {
                Some(rows) => {
                    self.wanted -= rows.row_count() as u64;
                    return Ok(Some(rows));
                }
                None => run.statement.check_interrupt()?,
            }
        }
        Ok(None)
    }
}
