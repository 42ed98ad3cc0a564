//! Rows that a round of a recursion adds and the next one reads: a batch while they are few, else a temporary table.

use mayfly_plan::physical::SharedResult;
use mayfly_storage::{Access, Purpose, TempTable, TempTableWriter};
use mayfly_types::{Batch, Result};

use crate::context::RunContext;
use crate::operators::tables;
use crate::representation::column_types;
use crate::rows::{held_bytes, joined_batches, with_own_strings};
use crate::state::Round;

/// Maximum number of rows of a round kept as a batch; more rows, or more bytes, go to a table.
const BATCH_ROWS_MAX: usize = 1024;
const BATCH_BYTES_MAX: u64 = 64 << 10;

/// Rows of the running round.
pub(super) struct NewRows<'a> {
    result: &'a SharedResult,
    batches: Vec<Batch>,
    rows: usize,
    bytes: u64,
    table: Option<(TempTable, TempTableWriter)>,
}

impl<'a> NewRows<'a> {
    pub(super) fn new(result: &'a SharedResult) -> Self {
        Self {
            result,
            batches: Vec::new(),
            rows: 0,
            bytes: 0,
            table: None,
        }
    }

    pub(super) fn add(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        if let Some((_, writer)) = &mut self.table {
            return writer.append(&batch);
        }
        let stable = &run.statement.temp.resources().stable;
        let mut batch = batch;
        let mut bytes = held_bytes(&batch, stable);
        if bytes > BATCH_BYTES_MAX {
            // A few rows may keep a large block of strings alive.
            batch = with_own_strings(batch, stable);
            bytes = held_bytes(&batch, stable);
        }
        self.rows += batch.row_count();
        self.bytes += bytes;
        self.batches.push(batch);
        let rows_max = BATCH_ROWS_MAX.min(run.statement.options.batch_rows);
        if self.rows <= rows_max && self.bytes <= BATCH_BYTES_MAX {
            return Ok(());
        }
        let temporary = &self.result.temporary;
        let columns = column_types(&self.result.output);
        let purpose = Purpose::RecursionRound;
        let table = tables::create_for(purpose, temporary, columns, Access::Plain, run)?;
        let mut writer = table.writer();
        for batch in std::mem::take(&mut self.batches) {
            writer.append(&batch)?;
        }
        self.table = Some((table, writer));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Round> {
        if let Some((table, writer)) = self.table {
            writer.finish()?;
            return Ok(Round::Table(table));
        }
        let only = match self.batches.len() {
            1 => self.batches.pop(),
            _ => None,
        };
        let columns = self.result.output.len();
        Ok(Round::Batch(match only {
            Some(batch) => batch,
            None if self.batches.is_empty() => Batch::new(Vec::new(), 0),
            None => joined_batches(&self.batches, columns)?,
        }))
    }
}
