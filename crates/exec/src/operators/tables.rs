//! Temporary tables of operators: created for the purposes of a plan, filled and read by workers.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{Purpose, TemporaryTable};
use mayfly_storage::{
    Access, InternalTable, InternalTableEngine, InternalTableSpec, KeyColumn, KeyMode, TempTable,
    TempTableSpec, TempTableWriter,
};
use mayfly_types::{Batch, Error, PhysicalType, Result, SqlType, Stage};

use crate::context::{Cursor, Node, RunContext};
use crate::driver::{Sink, drain_from};
use crate::state::{MadeScan, MadeTable, lock};

/// Creates an empty table that a plan specifies.
pub(super) fn create(
    temporary: &TemporaryTable,
    columns: Vec<PhysicalType>,
    access: Access,
    run: &RunContext,
) -> Result<TempTable> {
    create_for(temporary.purpose, temporary, columns, access, run)
}

/// Creates an empty table of the operator of `temporary`, for another purpose.
pub(crate) fn create_for(
    purpose: Purpose,
    temporary: &TemporaryTable,
    columns: Vec<PhysicalType>,
    access: Access,
    run: &RunContext,
) -> Result<TempTable> {
    let spec = TempTableSpec {
        purpose,
        cause: Arc::clone(&temporary.cause),
        operator: temporary.operator,
        columns,
        access,
    };
    TempTable::create(&run.statement.temp, spec)
}

/// Creates an empty table of another engine than TempTable, with a unique key over its first columns if `key` has any.
pub(super) fn create_in(
    engine: &dyn InternalTableEngine,
    temporary: &TemporaryTable,
    columns: &[SqlType],
    key: Vec<KeyMode>,
    run: &RunContext,
) -> Result<Box<dyn InternalTable>> {
    let spec = InternalTableSpec {
        purpose: temporary.purpose,
        cause: Arc::clone(&temporary.cause),
        operator: temporary.operator,
        columns: columns.to_vec(),
        key,
    };
    engine.create(&run.statement.temp, spec)
}

/// Key columns: the first columns of a table, NULL being equal to NULL.
pub(super) fn key_columns(modes: impl IntoIterator<Item = KeyMode>) -> Vec<KeyColumn> {
    let key = |(column, mode)| KeyColumn {
        column,
        mode,
        null_safe: true,
    };
    modes.into_iter().enumerate().map(key).collect()
}

/// Runs a prepared input to its end and puts the batches, transformed by `change`, into a table.
pub(super) fn fill(
    table: &TempTable,
    input: &Arc<dyn Node>,
    threads_max: usize,
    run: &RunContext,
    change: impl Fn(Batch, &RunContext) -> Result<Batch> + Sync,
) -> Result<()> {
    let _stage = run.within(if table.is_ordered() {
        Stage::SortingResult
    } else {
        Stage::CreatingTmpTable
    });
    let sinks = drain_from(input, None, run, threads_max, || {
        Ok(TableSink {
            change: &change,
            writer: table.writer(),
        })
    })?;
    sinks.into_iter().try_for_each(|sink| sink.writer.finish())
}

struct TableSink<'a, F> {
    change: &'a F,
    writer: TempTableWriter,
}

impl<F> Sink for TableSink<'_, F>
where
    F: Fn(Batch, &RunContext) -> Result<Batch> + Sync,
{
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        self.writer.append(&(self.change)(batch, run)?)
    }
}

/// Builds a scan of a table that `make` creates when the operator is prepared.
pub(super) fn read(
    make: impl Fn(&RunContext) -> Result<MadeTable> + Send + Sync + 'static,
) -> Arc<dyn Node> {
    Arc::new(TableNode {
        make,
        made: Mutex::new(None),
    })
}

struct TableNode<F> {
    make: F,
    /// The table, and a scan that workers share.
    made: Mutex<Option<(MadeTable, MadeScan)>>,
}

impl<F: Fn(&RunContext) -> Result<MadeTable> + Send + Sync> Node for TableNode<F> {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let table = (self.make)(run)?;
        let scan = table.scan()?;
        *lock(&self.made) = Some((table, scan));
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        let made = lock(&self.made);
        made.as_ref().map_or(0, |(table, _)| table.row_count())
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        match lock(&self.made).as_ref() {
            Some((_, scan)) => Ok(Box::new(TableCursor(scan.for_another_worker()))),
            None => Err(Error::internal("a table was not made before reading")),
        }
    }
}

struct TableCursor(MadeScan);

impl Cursor for TableCursor {
    fn next_batch(&mut self, _run: &RunContext) -> Result<Option<Batch>> {
        self.0.next_batch()
    }
}
