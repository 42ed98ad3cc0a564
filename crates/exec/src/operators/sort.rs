//! ORDER BY: rows in order, all of them or the range that LIMIT and OFFSET name.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{SortKey, TemporaryTable};
use mayfly_storage::{Access, SortedScan, TempTable};
use mayfly_types::{Batch, Result, SqlType};

use super::keys::{Layout, key_mode};
use super::tables;
use crate::context::{Cursor, Node, RunContext, count};
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
            column: layout.column_of(&key.expression),
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
        let access = Access::Ordered {
            keys: self.keys.clone(),
            limit: count_max.map(|count| offset.saturating_add(count)),
        };
        let table = tables::create(&self.temporary, self.layout.columns.clone(), access, run)?;
        self.input.prepare(run)?;
        tables::fill(&table, &self.input, usize::MAX, run, |batch, run| {
            self.layout.extend(batch, run)
        })?;
        let counters = &run.statement.counters;
        count(&counters.sort_scan, 1);
        count(
            &counters.sort_priority_queue_sorts,
            u64::from(count_max.is_some()),
        );
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
