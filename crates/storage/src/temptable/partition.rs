//! Partitions: the rows whose keys share a part of their hash.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, new_empty_array};
use mayfly_types::{Batch, PhysicalType, Result};

use super::group_index::Groups;
use super::join_index::JoinIndex;
use super::spec::TempTableSpec;
use super::table::TempTable;

/// The partitions of a table, taken by workers one at a time. A partition that does not fit in
/// memory comes out as several. Cloning gives another worker's handle to the same queue.
#[derive(Clone)]
pub struct PartitionQueue {
    waiting: Arc<Mutex<VecDeque<(Partition, Option<Partition>)>>>,
}

impl PartitionQueue {
    pub(crate) fn of(table: &TempTable) -> Self {
        Self::waiting([(Partition::whole(table), None)])
    }

    /// The partitions of two tables whose hash keys correspond (the first key of one to the first
    /// of the other, of equal types and modes): rows that may match come in one pair, and
    /// every row of either table comes exactly once.
    pub fn pairs(build: &TempTable, probe: &TempTable) -> Self {
        Self::waiting([(Partition::whole(build), Some(Partition::whole(probe)))])
    }

    fn waiting(pairs: impl Into<VecDeque<(Partition, Option<Partition>)>>) -> Self {
        Self {
            waiting: Arc::new(Mutex::new(pairs.into())),
        }
    }

    /// The next partition, in memory; `None` when every one was taken.
    pub fn next_partition(&self) -> Result<Option<Partition>> {
        Ok(self.pop().map(|(partition, _)| partition))
    }

    /// The next pair of a queue made by [`Self::pairs`]: the build side in memory, the probe side to
    /// be read through [`Partition::read_next`].
    pub fn next_pair(&self) -> Result<Option<(Partition, Partition)>> {
        Ok(self
            .pop()
            .and_then(|(build, probe)| probe.map(|probe| (build, probe))))
    }

    fn pop(&self) -> Option<(Partition, Option<Partition>)> {
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }
}

/// Rows of one table whose keys share a part of their hash: all rows of a key are in one partition.
pub struct Partition {
    spec: TempTableSpec,
    rows: Batch,
    read: usize,
    batch_rows: usize,
}

impl Partition {
    fn whole(table: &TempTable) -> Self {
        Self {
            spec: table.spec().clone(),
            rows: table.all_rows(),
            read: 0,
            batch_rows: table.0.context.options().batch_rows,
        }
    }

    /// How many rows it has.
    pub fn row_count(&self) -> usize {
        self.rows.row_count()
    }

    /// Columns of the rows at `range`, in the partition's own order.
    pub fn read(&self, columns: &[usize], range: Range<usize>) -> Result<Batch> {
        let count = range.len();
        let columns: Vec<ArrayRef> = columns
            .iter()
            .map(|column| self.rows.column(*column).slice(range.start, count))
            .collect();
        Ok(Batch::new(columns, count))
    }

    /// Columns of rows at the given places, in that order.
    pub fn gather(&self, columns: &[usize], rows: &[u32]) -> Result<Batch> {
        let indices = arrow_array::UInt32Array::from(rows.to_vec());
        let columns = columns
            .iter()
            .map(|column| {
                arrow_select::take::take(self.rows.column(*column), &indices, None)
                    .expect("rows lie in the partition")
            })
            .collect();
        Ok(Batch::new(columns, rows.len()))
    }

    /// The next rows, all columns, from first to last; `None` at the end. For a probe side this
    /// does not need the partition in memory.
    pub fn read_next(&mut self) -> Result<Option<Batch>> {
        let count = self.batch_rows.min(self.row_count() - self.read);
        if count == 0 {
            return Ok(None);
        }
        let batch = self.rows.slice(self.read, count);
        self.read += count;
        Ok(Some(batch))
    }

    /// Which rows are of one key: numbers the groups in the order of their first rows.
    pub fn groups(&self) -> Result<Groups> {
        Groups::of(&self.spec, &self.rows)
    }

    /// An index of the rows by key, for the probe side of a join. Takes the partition with it.
    pub fn into_join_index(self) -> Result<JoinIndex> {
        JoinIndex::build(&self.spec, self.rows)
    }
}

pub(crate) fn concatenate(columns: &[PhysicalType], batches: &[Batch]) -> Batch {
    let row_count = batches.iter().map(Batch::row_count).sum();
    let columns = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let parts: Vec<_> = batches
                .iter()
                .map(|batch| batch.column(index).as_ref())
                .collect();
            if parts.is_empty() {
                new_empty_array(&column.arrow())
            } else {
                arrow_select::concat::concat(&parts).expect("batches of one table have its types")
            }
        })
        .collect();
    Batch::new(columns, row_count)
}
