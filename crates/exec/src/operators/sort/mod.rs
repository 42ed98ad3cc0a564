//! Sorts: ORDER BY, of all rows or of the range of LIMIT and OFFSET; and the sorts of windows.
//!
//! Windows need the rows of a partition together and in order, but not the partitions in any order, unless the
//! statement does. Large inputs of windows go to a table partitioned by the hash of the partition keys, and each worker
//! takes some partitions, sorts them and reads them ([`partitions`]): nothing is merged, and each sort is small, which
//! is quicker even with one thread. Rows that are all in one order and in memory are merged by several threads, each of
//! which takes ranges of the order ([`ranges`]). Where conditions ask for the first rows of partitions only, most
//! others are left out before that ([`first_rows`]).

mod first_rows;
mod partitions;
mod ranges;

use std::sync::{Arc, Mutex, OnceLock};

use mayfly_plan::physical::{SortKey, TemporaryTable, WindowOrder};
use mayfly_storage::{
    Access, FirstKeyBound, PartitionQueue, SortedScan, TempTable, TempTableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result, SqlType, Stage};

use self::first_rows::FirstRowsFilter;
use self::partitions::PartitionsCursor;
use self::ranges::RangesCursor;
use super::keys::{Layout, key_mode};
use super::tables;
use crate::context::{Cursor, Node, RunContext, count};
use crate::driver::{Sink, drain_from, is_large, thread_count};
use crate::expression::Program;
use crate::key_filter::{ColumnFilter, GivenFilter};
use crate::state::lock;

struct Sort {
    input: Arc<dyn Node>,
    layout: Layout,
    keys: Vec<mayfly_storage::SortKey>,
    limit: Option<(u64, u64)>,
    for_windows: Option<WindowOrder>,
    /// Column of the input that is the first key, where a range of its values tells which rows are not among the first of
    /// LIMIT: no NULL comes before others.
    first: Option<usize>,
    temporary: TemporaryTable,
    sorted: Mutex<Sorted>,
}

enum Sorted {
    /// No rows: not prepared yet, or all rows are read.
    Nothing,
    /// All rows in one order.
    All {
        scan: Box<SortedScan>,
        rows: u64,
        /// Table of the rows, held as long as they are read.
        _table: TempTable,
    },
    /// Each partition in order, sorted by the worker that takes it.
    Partitions { queue: PartitionQueue, rows: u64 },
}

pub(super) fn build(
    input: Arc<dyn Node>,
    row: &[SqlType],
    keys: &[SortKey],
    limit: Option<(u64, u64)>,
    for_windows: Option<WindowOrder>,
    temporary: &TemporaryTable,
) -> Arc<dyn Node> {
    let mut layout = Layout::new(row);
    let bounded = keys
        .first()
        .filter(|key| limit.is_some() && (key.descending || !key.expression.nullable));
    let first = bounded.and_then(|key| Program::compile(&key.expression).as_column());
    let keys: Vec<_> = keys
        .iter()
        .map(|key| mayfly_storage::SortKey {
            column: layout.column_of(&key.expression),
            mode: key_mode(&key.expression.ty),
            descending: key.descending,
        })
        .collect();
    // A row that does not come gives no warning.
    let first = first.filter(|column| layout.is_total() && has_ranges(layout.columns[*column]));
    Arc::new(Sort {
        input: layout.slices(input),
        layout,
        keys,
        limit,
        for_windows,
        first,
        temporary: temporary.clone(),
        sorted: Mutex::new(Sorted::Nothing),
    })
}

/// Whether values of a type are numbers in the order of a sort.
fn has_ranges(ty: PhysicalType) -> bool {
    matches!(
        ty,
        PhysicalType::Int64 | PhysicalType::UInt64 | PhysicalType::Decimal128(_)
    )
}

impl Sort {
    /// Gives the input the bound of the first key, which is known while [`Self::fill`] reads it.
    fn give_bound(&self) -> Option<Arc<OnceLock<FirstKeyBound>>> {
        let column = self
            .first
            .filter(|column| self.input.takes_filter(*column))?;
        let bound = Arc::default();
        let given = GivenFilter {
            maker: (std::ptr::from_ref(self).addr(), 0),
            filter: Some(ColumnFilter::First(Arc::clone(&bound))),
        };
        self.input.give_filter(column, &given);
        Some(bound)
    }

    /// Fills a table with the input's rows.
    fn fill(&self, table: &TempTable, run: &RunContext) -> Result<()> {
        let _stage = run.within(Stage::SortingResult);
        let first = self.for_windows.and_then(|order| {
            let keys = self.keys.split_at_checked(order.partition_keys)?;
            Some((order.first?, keys))
        });
        let sinks = drain_from(&self.input, None, run, usize::MAX, || {
            let first = first.map(|(first, (partition, order))| {
                FirstRowsFilter::new(first, partition, order, table)
            });
            Ok(SortSink {
                layout: &self.layout,
                first: first.transpose()?.flatten(),
                writer: table.writer(),
            })
        })?;
        sinks.into_iter().try_for_each(|sink| sink.writer.finish())
    }

    /// Whether partitions are sorted one by one.
    fn is_by_partitions(&self, run: &RunContext) -> bool {
        self.for_windows
            .is_some_and(|order| order.partition_keys > 0 && !order.orders_partitions)
            && is_large(self.input.as_ref(), run)
    }
}

struct SortSink<'a> {
    layout: &'a Layout,
    first: Option<FirstRowsFilter>,
    writer: TempTableWriter,
}

impl Sink for SortSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let batch = self.layout.extend(batch, run)?;
        match &mut self.first {
            None => self.writer.append(&batch),
            Some(first) => self.writer.append(&first.keep(batch)?),
        }
    }
}

impl Node for Sort {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let (offset, count_max) = match self.limit {
            Some((_, 0)) => return Ok(()),
            Some((offset, count)) => (offset, Some(count)),
            None => (0, None),
        };
        let bound = self.give_bound();
        self.input.prepare(run)?;
        let partition = match self.for_windows {
            Some(order) if self.is_by_partitions(run) => &self.keys[..order.partition_keys],
            _ => &[],
        };
        let access = if partition.is_empty() {
            Access::Ordered {
                keys: self.keys.clone(),
                limit: count_max.map(|count| offset.saturating_add(count)),
            }
        } else {
            Access::Hash(partitions::hash_keys(partition))
        };
        let table = tables::create(&self.temporary, self.layout.columns.clone(), access, run)?;
        if let Some((bound, known)) = bound.zip(table.first_key_bound()) {
            let _ = bound.set(known);
        }
        self.fill(&table, run)?;
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
        *lock(&self.sorted) = if partition.is_empty() {
            Sorted::All {
                scan: Box::new(table.sorted(offset, count_max)?),
                rows: given,
                _table: table,
            }
        } else {
            Sorted::Partitions {
                queue: table.partitions(),
                rows: given,
            }
        };
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        match &*lock(&self.sorted) {
            Sorted::Nothing => 0,
            Sorted::All { rows, .. } | Sorted::Partitions { rows, .. } => *rows,
        }
    }

    fn is_unordered(&self) -> bool {
        matches!(&*lock(&self.sorted), Sorted::Partitions { .. })
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let is_shared = thread_count(self.as_ref(), run) > 1;
        let mut sorted = lock(&self.sorted);
        if let Sorted::Partitions { queue, .. } = &*sorted {
            let queue = queue.clone();
            drop(sorted);
            return Ok(Box::new(PartitionsCursor::new(self, queue)));
        }
        let in_ranges = is_shared && sorted.is_in_memory();
        // Rows in one order have one partition after the other, which windows cannot share.
        let is_owned = in_ranges || self.for_windows.is_some();
        let own = is_owned.then(|| std::mem::replace(&mut *sorted, Sorted::Nothing));
        drop(sorted);
        Ok(match own {
            Some(Sorted::All { scan, .. }) if in_ranges => {
                Box::new(RangesCursor::new(self, scan, run))
            }
            own => Box::new(SortCursor { sort: self, own }),
        })
    }
}

struct SortCursor {
    /// Rows that are not shared with other cursors. Declared before `sort`, so that they are dropped first.
    own: Option<Sorted>,
    sort: Arc<Sort>,
}

impl Cursor for SortCursor {
    fn next_batch(&mut self, _run: &RunContext) -> Result<Option<Batch>> {
        let batch = match &mut self.own {
            Some(own) => own.next_batch()?,
            None => lock(&self.sort.sorted).next_batch()?,
        };
        Ok(batch.map(|batch| self.sort.layout.strip(batch)))
    }
}

impl Sorted {
    fn is_in_memory(&self) -> bool {
        matches!(self, Self::All { scan, .. } if scan.is_in_memory())
    }

    /// The next batch of all rows.
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = match self {
            Self::All { scan, .. } => scan.next_batch()?,
            Self::Nothing | Self::Partitions { .. } => None,
        };
        if batch.is_none() {
            *self = Self::Nothing;
        }
        Ok(batch)
    }
}
