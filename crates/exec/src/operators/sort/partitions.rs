//! Partitioned sorts for windows: each partition is sorted by the worker that takes it.
//!
//! A hash partition holds whole window partitions, one or many. One that is of a single key and too large for memory is
//! sorted in runs, as a table is.

use std::sync::Arc;

use mayfly_storage::{
    Access, KeyColumn, Partition, PartitionQueue, SortKey, SortedScan, Taken, TempTable,
};
use mayfly_types::{Batch, Result};

use super::Sort;
use crate::context::{Cursor, RunContext};

/// Keys of the hash partitioning; NULL is a value of its own.
pub(super) fn hash_keys(keys: &[SortKey]) -> Vec<KeyColumn> {
    let key = |key: &SortKey| KeyColumn {
        column: key.column,
        mode: key.mode,
        null_safe: true,
    };
    keys.iter().map(key).collect()
}

/// Cursor over the rows of the partitions that a worker takes.
pub(super) struct PartitionsCursor {
    current: Option<Current>,
    queue: PartitionQueue,
    sort: Arc<Sort>,
}

/// The partition that is read.
enum Current {
    Loaded {
        partition: Box<Partition>,
        next: usize,
    },
    Large {
        scan: Box<SortedScan>,
        _table: TempTable,
    },
}

impl PartitionsCursor {
    pub(super) fn new(sort: Arc<Sort>, queue: PartitionQueue) -> Self {
        Self {
            current: None,
            queue,
            sort,
        }
    }

    fn sorted(&self, taken: Taken, run: &RunContext) -> Result<Current> {
        let keys = &self.sort.keys;
        match taken {
            Taken::Loaded(mut partition) => {
                partition.sort(keys)?;
                Ok(Current::Loaded {
                    partition: Box::new(partition),
                    next: 0,
                })
            }
            Taken::Large(mut partition) => {
                let access = Access::Ordered {
                    keys: keys.clone(),
                    limit: None,
                };
                let table = partition.table_beside(access);
                let mut writer = table.writer();
                while let Some(batch) = partition.read_next()? {
                    run.statement.check_interrupt()?;
                    writer.append(&batch)?;
                }
                writer.finish()?;
                // The rows were counted when they were stored.
                table.uncount(table.row_count());
                Ok(Current::Large {
                    scan: Box::new(table.sorted(0, None)?),
                    _table: table,
                })
            }
        }
    }
}

impl Current {
    /// The next rows, with their first `columns` columns.
    fn next_batch(&mut self, columns: &[usize], rows_max: usize) -> Result<Option<Batch>> {
        match self {
            Self::Loaded { partition, next } => {
                let end = partition.row_count().min(*next + rows_max.max(1));
                if *next == end {
                    return Ok(None);
                }
                let batch = partition.read(columns, *next..end)?;
                *next = end;
                Ok(Some(batch))
            }
            Self::Large { scan, .. } => scan.next_batch(),
        }
    }
}

impl Cursor for PartitionsCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let columns: Vec<usize> = (0..self.sort.layout.row_columns).collect();
        loop {
            run.statement.check_interrupt()?;
            if let Some(current) = &mut self.current {
                let rows_max = run.statement.options.batch_rows;
                if let Some(batch) = current.next_batch(&columns, rows_max)? {
                    return Ok(Some(self.sort.layout.strip(batch)));
                }
                self.current = None;
            }
            let Some(taken) = self.queue.next_taken()? else {
                return Ok(None);
            };
            self.current = Some(self.sorted(taken, run)?);
        }
    }
}
