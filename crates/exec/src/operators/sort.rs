//! ORDER BY: rows in order, all of them or the range that LIMIT and OFFSET name.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{SortKey, TemporaryTable};
use mayfly_storage::{Access, SortedScan, TempTable, TempTableSpec, TempTableWriter};
use mayfly_types::{Batch, Result, SqlType};

use super::keys::{Layout, key_mode, storage_purpose};
use crate::context::{Cursor, Node, RunContext, count};
use crate::driver::{Sink, drain};
use crate::state::lock;

struct Sort {
    input: Arc<dyn Node>,
    layout: Layout,
    keys: Vec<mayfly_storage::SortKey>,
    limit: Option<(u64, u64)>,
    temporary: TemporaryTable,
    sorted: Mutex<Option<Sorted>>,
}

struct Sorted {
    scan: SortedScan,
    rows: u64,
    /// Held for as long as its rows are read.
    _table: TempTable,
}

pub(super) fn build(
    input: Arc<dyn Node>,
    row: &[SqlType],
    keys: &[SortKey],
    limit: Option<(u64, u64)>,
    temporary: &TemporaryTable,
) -> Arc<dyn Node> {
    let mut layout = Layout::new(row);
    let keys = keys
        .iter()
        .map(|key| mayfly_storage::SortKey {
            column: layout.place(&key.expression),
            mode: key_mode(&key.expression.ty),
            descending: key.descending,
        })
        .collect();
    Arc::new(Sort {
        input: layout.slices(input),
        layout,
        keys,
        limit,
        temporary: temporary.clone(),
        sorted: Mutex::new(None),
    })
}

impl Node for Sort {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        let (offset, count_max) = match self.limit {
            Some((_, 0)) => return Ok(()),
            Some((offset, count)) => (offset, Some(count)),
            None => (0, None),
        };
        let table = TempTable::create(
            &run.statement.temp,
            TempTableSpec {
                purpose: storage_purpose(self.temporary.purpose),
                cause: self.temporary.cause.clone(),
                columns: self.layout.columns.clone(),
                access: Access::Ordered {
                    keys: self.keys.clone(),
                    limit: count_max.map(|count| offset.saturating_add(count)),
                },
            },
        )?;
        let sinks = drain(&self.input, run, usize::MAX, || {
            Ok(SortSink {
                layout: &self.layout,
                writer: table.writer(),
            })
        })?;
        for sink in sinks {
            sink.writer.finish()?;
        }
        let counters = &run.statement.counters;
        count(&counters.sort_scan, 1);
        let rows = table.row_count();
        let given = rows
            .saturating_sub(offset)
            .min(count_max.unwrap_or(u64::MAX));
        count(&counters.sort_rows, given);
        *lock(&self.sorted) = Some(Sorted {
            scan: table.sorted(offset, count_max)?,
            rows: given,
            _table: table,
        });
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        lock(&self.sorted).as_ref().map_or(0, |sorted| sorted.rows)
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(SortCursor(self)))
    }
}

struct SortSink<'a> {
    layout: &'a Layout,
    writer: TempTableWriter,
}

impl Sink for SortSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        self.writer.append(&self.layout.extend(batch, run)?)
    }
}

struct SortCursor(Arc<Sort>);

impl Cursor for SortCursor {
    fn next(&mut self, _run: &RunContext) -> Result<Option<Batch>> {
        let mut sorted = lock(&self.0.sorted);
        let batch = match sorted.as_mut() {
            Some(sorted) => sorted.scan.next_batch()?,
            None => None,
        };
        if batch.is_none() {
            *sorted = None;
        }
        Ok(batch.map(|batch| self.0.layout.strip(batch)))
    }
}
