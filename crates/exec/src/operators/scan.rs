//! The rows of a base table, with a predicate applied on the way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayfly_plan::{Expression, TableSource};
use mayfly_storage::{ColumnId, TableScan};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result};

use super::{Cursor, Node};
use crate::context::{RunContext, count};
use crate::expression::{Program, Selection, filter_batch};
use crate::state::lock;

struct Scan {
    table: Arc<TableSource>,
    columns: Vec<ColumnId>,
    predicate: Option<Program>,
    rows: AtomicU64,
    ended: AtomicBool,
    scan: Mutex<Option<Box<dyn TableScan>>>,
}

pub(super) fn build(
    table: &Arc<TableSource>,
    columns: &[usize],
    predicate: Option<&Expression>,
) -> Arc<dyn Node> {
    Arc::new(Scan {
        table: Arc::clone(table),
        columns: columns.iter().copied().map(ColumnId).collect(),
        predicate: predicate.map(Program::compile),
        rows: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        scan: Mutex::new(None),
    })
}

impl Node for Scan {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        let table = run.statement.tables.open(self.table.id)?;
        let rows = table.statistics().rows;
        self.rows.store(rows, Ordering::Relaxed);
        *lock(&self.scan) = Some(table.scan(&self.columns)?);
        self.ended.store(false, Ordering::Relaxed);
        count(&run.statement.counters.handler_read_first, 1);
        count(&run.statement.progress.rows_expected, rows);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let scan = match lock(&self.scan).as_ref() {
            Some(scan) => scan.for_another_worker(),
            None => return Err(codes::ER_UNKNOWN_ERROR.with(&[&"a scan was not prepared"])),
        };
        Ok(Box::new(ScanCursor { node: self, scan }))
    }
}

struct ScanCursor {
    node: Arc<Scan>,
    scan: Box<dyn TableScan>,
}

impl Cursor for ScanCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        while let Some(batch) = self.scan.next_batch()? {
            let rows = batch.row_count() as u64;
            count(&run.statement.counters.handler_read_rnd_next, rows);
            count(&run.statement.counters.rows_examined, rows);
            count(&run.statement.progress.rows_read, rows);
            let Some(predicate) = &self.node.predicate else {
                return Ok(Some(batch));
            };
            match predicate.select(&batch, run)? {
                Selection::All => return Ok(Some(batch)),
                Selection::None => run.statement.check_interrupt()?,
                Selection::Some(selection, count) => {
                    return Ok(Some(filter_batch(&batch, &selection, count)));
                }
            }
        }
        // MySQL counts the attempt to read behind the last row too.
        if !self.node.ended.swap(true, Ordering::Relaxed) {
            count(&run.statement.counters.handler_read_rnd_next, 1);
        }
        Ok(None)
    }
}
