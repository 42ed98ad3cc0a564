//! Materialization of all rows of an input before the first is read: derived tables, common table expressions,
//! SQL_BUFFER_RESULT.

use std::sync::Arc;

use mayfly_plan::physical::TemporaryTable;
use mayfly_storage::{Access, InternalTable, TempTable};
use mayfly_types::{Batch, Error, Result, SqlType, Stage};

use super::tables;
use crate::context::{Node, RunContext, count};
use crate::driver::{Sink, drain};
use crate::representation::column_types;
use crate::state::MadeTable;

pub(super) fn build(
    input: Arc<dyn Node>,
    output: &[SqlType],
    temporary: &TemporaryTable,
) -> Arc<dyn Node> {
    let (output, temporary) = (output.to_vec(), temporary.clone());
    tables::read(move |run| fill(&input, &output, &temporary, run))
}

/// Creates an empty table without access structure.
pub(super) fn plain_table(
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<TempTable> {
    tables::create(temporary, column_types(output), Access::Plain, run)
}

/// Runs an operator into a table of the engine that the statement's settings select.
pub(super) fn fill(
    input: &Arc<dyn Node>,
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<MadeTable> {
    match &run.statement.other_engine {
        Some(engine) => {
            let table = tables::create_in(&**engine, temporary, output, Vec::new(), run)?;
            append(table, input, run)
        }
        None => fill_temp_table(input, output, temporary, run).map(MadeTable::TempTable),
    }
}

/// Runs an operator into a TempTable.
pub(super) fn fill_temp_table(
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

/// Appends the rows of an operator to a table of another engine, one after the other.
fn append(
    table: Box<dyn InternalTable>,
    input: &Arc<dyn Node>,
    run: &RunContext,
) -> Result<MadeTable> {
    struct Appending(Box<dyn InternalTable>);
    impl Sink for Appending {
        fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
            let rows = batch.row_count() as u64;
            count(&run.statement.counters.handler_write, rows);
            self.0.append(&batch)
        }
    }
    let _stage = run.within(Stage::CreatingTmpTable);
    let mut table = Some(table);
    let filled = drain(input, run, 1, || {
        let table = table
            .take()
            .ok_or_else(|| Error::internal("a table with two writers"))?;
        Ok(Appending(table))
    })?;
    let filled = filled.into_iter().next();
    let filled = filled.ok_or_else(|| Error::internal("a table without its writer"))?;
    Ok(MadeTable::OfOtherEngine(filled.0.into()))
}
