//! All rows of an input, made before the first is read: derived tables, common table expressions,
//! SQL_BUFFER_RESULT.

use std::sync::Arc;

use mayfly_plan::physical::TemporaryTable;
use mayfly_storage::{Access, TempTable};
use mayfly_types::{Result, SqlType};

use super::tables;
use crate::context::{Node, RunContext, count};
use crate::representation::column_types;

pub(super) fn build(
    input: Arc<dyn Node>,
    output: &[SqlType],
    temporary: &TemporaryTable,
) -> Arc<dyn Node> {
    let (output, temporary) = (output.to_vec(), temporary.clone());
    tables::read(move |run| fill(&input, &output, &temporary, run))
}

/// An empty table without access structure.
pub(super) fn plain_table(
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<TempTable> {
    tables::create(temporary, column_types(output), Access::Plain, run)
}

/// Runs an operator into a table.
pub(super) fn fill(
    input: &Arc<dyn Node>,
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<TempTable> {
    let table = plain_table(output, temporary, run)?;
    input.prepare(run)?;
    // One writer: readers of the table see the rows in the input's order.
    tables::fill(&table, input, 1, run, |batch, run| {
        let rows = batch.row_count() as u64;
        count(&run.statement.counters.handler_write, rows);
        Ok(batch)
    })?;
    Ok(table)
}
