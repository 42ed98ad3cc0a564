//! ORDER BY: rows in order, all of them or the range that LIMIT and OFFSET name; and the order that windows want.
//!
//! Windows want the rows of a partition together and in order, and do not ask which partition comes first, unless the
//! statement does. Where they are many, such rows go to a table by the hash of their partition, and each worker takes
//! some partitions, sorts them and reads them ([`partitions`]): nothing is merged, and what is sorted at once is small,
//! which one thread gains by as well as several. Rows that are all in one order and in memory are merged by several
//! threads, each of which takes ranges of the order ([`ranges`]). Where conditions ask for the first rows of partitions
//! only, most others are left out before that ([`first_rows`]).

mod first_rows;
mod partitions;
mod ranges;

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{SortKey, TemporaryTable, WindowOrder};
use mayfly_storage::{Access, PartitionQueue, SortedScan, TempTable, TempTableWriter};
use mayfly_types::{Batch, Result, SqlType, Stage};

use self::first_rows::FirstRowsFilter;
use self::partitions::PartitionsCursor;
use self::ranges::RangesCursor;
use super::keys::{Layout, key_mode};
use super::tables;
use crate::context::{Cursor, Node, RunContext, count};
use crate::driver::{Sink, drain_from, is_large, thread_count};
use crate::state::lock;

struct Sort {
    input: Arc<dyn Node>,
    layout: Layout,
    keys: Vec<mayfly_storage::SortKey>,
    limit: Option<(u64, u64)>,
    for_windows: Option<WindowOrder>,
    temporary: TemporaryTable,
    sorted: Mutex<Sorted>,
}

enum Sorted {
    /// Not before it is prepared, nor after its last row was read.
    Nothing,
    /// All rows are in one order.
    All {
        scan: Box<SortedScan>,
        rows: u64,
        /// Held for as long as its rows are read.
        _table: TempTable,
    },
    /// Each partition is, once a worker takes it.
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
        for_windows,
        temporary: temporary.clone(),
        sorted: Mutex::new(Sorted::Nothing),
    })
}

impl Sort {
    /// Puts the input's rows into a table.
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
        // Rows in one order are of one partition after the other: windows cannot share them.
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
    /// The rows, if they are not shared with other cursors. Before `sort`: they go first.
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

    /// The next of all rows.
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
