//! All rows of an input, made before the first is read: derived tables, common table expressions,
//! SQL_BUFFER_RESULT.

use std::sync::Arc;

use mayfly_plan::physical::{Plan, TemporaryTable};
use mayfly_storage::{Access, TempTable, TempTableSpec, TempTableWriter};
use mayfly_types::{Batch, Result, SqlType};

use super::keys::storage_purpose;
use super::table_reader::TableReader;
use crate::context::{Cursor, Node, RunContext, count};
use crate::driver::{Sink, drain};
use crate::representation::column_types;

struct Materialize {
    input: Arc<dyn Node>,
    output: Vec<SqlType>,
    temporary: TemporaryTable,
    reader: TableReader,
}

pub(super) fn build(
    input: Arc<dyn Node>,
    output: &[SqlType],
    temporary: &TemporaryTable,
) -> Arc<dyn Node> {
    Arc::new(Materialize {
        input,
        output: output.to_vec(),
        temporary: temporary.clone(),
        reader: TableReader::default(),
    })
}

impl Node for Materialize {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.reader
            .set(fill(&self.input, &self.output, &self.temporary, run)?);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        self.reader.rows()
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        self.reader.open()
    }
}

/// Runs a plan into a table.
pub(crate) fn materialize(
    plan: &Plan,
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<TempTable> {
    fill(&run.build(plan)?, output, temporary, run)
}

/// An empty table without access structure.
pub(super) fn plain_table(
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<TempTable> {
    TempTable::create(
        &run.statement.temp,
        TempTableSpec {
            purpose: storage_purpose(temporary.purpose),
            cause: temporary.cause.clone(),
            columns: column_types(output),
            access: Access::Plain,
        },
    )
}

fn fill(
    input: &Arc<dyn Node>,
    output: &[SqlType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<TempTable> {
    let table = plain_table(output, temporary, run)?;
    // One writer: whoever reads the table sees the rows in the input's order.
    let sinks = drain(input, run, 1, || Ok(AppendSink(table.writer())))?;
    for sink in sinks {
        sink.0.finish()?;
    }
    Ok(table)
}

/// Appends whole batches.
pub(super) struct AppendSink(pub(super) TempTableWriter);

impl Sink for AppendSink {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        count(
            &run.statement.counters.handler_write,
            batch.row_count() as u64,
        );
        self.0.append(&batch)
    }
}
