//! Rows of a partition, batch by batch, with the number of each row's group.
//!
//! A partition in memory is grouped as a whole. One that is too large for that is of one key or very
//! few: its rows are read from the file, and an index of the keys numbers them.

use arrow_array::UInt32Array;
use mayfly_storage::temptable::Groups;
use mayfly_storage::{GroupIndex, Partition, Taken};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result};

use crate::context::RunContext;
use crate::rows::{rows_where, take_rows};

/// Reader of a partition from its first row to its last.
pub(super) struct PartitionGroups {
    partition: Partition,
    how: How,
    ids: Vec<u32>,
}

/// Some rows and their groups.
pub(super) struct GroupedRows<'a> {
    pub(super) batch: Batch,
    /// Group of each row.
    pub(super) ids: &'a [u32],
    /// Number of groups so far, at least.
    pub(super) group_count: usize,
}

enum How {
    Whole { groups: Groups, next: usize },
    Streamed { index: GroupIndex, keys: Vec<usize> },
}

impl PartitionGroups {
    /// Reader of a partition that was taken.
    pub(super) fn new(taken: Taken) -> Result<Self> {
        let (partition, how) = match taken {
            Taken::Loaded(partition) => {
                let groups = partition.groups()?;
                (partition, How::Whole { groups, next: 0 })
            }
            Taken::Large(partition) => {
                let (index, keys) = (partition.key_index()?, partition.key_columns());
                (partition, How::Streamed { index, keys })
            }
        };
        Ok(Self {
            partition,
            how,
            ids: Vec::new(),
        })
    }

    /// The next rows, with the columns `columns`.
    pub(super) fn next(
        &mut self,
        columns: &[usize],
        run: &RunContext,
    ) -> Result<Option<GroupedRows<'_>>> {
        run.statement.check_interrupt()?;
        match &mut self.how {
            How::Whole { groups, next } => {
                let first = *next;
                let end = first + run.statement.options.batch_rows;
                let end = end.min(self.partition.row_count());
                if first >= end {
                    return Ok(None);
                }
                *next = end;
                let batch = self.partition.read(columns, first..end)?;
                Ok(Some(GroupedRows {
                    batch,
                    ids: &groups.ids()[first..end],
                    group_count: groups.group_count(),
                }))
            }
            How::Streamed { index, keys } => {
                let Some(batch) = self.partition.read_next()? else {
                    return Ok(None);
                };
                let rows = batch.row_count();
                let of_keys: Vec<_> = keys.iter().map(|key| batch.column(*key).clone()).collect();
                if index.find_or_insert(&of_keys, rows, &mut self.ids)? < rows {
                    return Err(codes::ER_OUT_OF_MEMORY
                        .with(&[&"the keys of rows that one hash has; raise tmp_table_size"]));
                }
                let columns = columns.iter().map(|column| batch.column(*column).clone());
                Ok(Some(GroupedRows {
                    batch: Batch::new(columns.collect(), rows),
                    ids: &self.ids,
                    group_count: index.group_count(),
                }))
            }
        }
    }

    /// Whether the groups are known before the rows are read.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.how, How::Whole { .. })
    }

    /// Number of groups, all or so far.
    pub(super) fn group_count(&self) -> usize {
        match &self.how {
            How::Whole { groups, .. } => groups.group_count(),
            How::Streamed { index, .. } => index.group_count(),
        }
    }

    /// Key columns of some groups, in any order and with repetitions, after the last row.
    pub(super) fn keys(&self, groups_wanted: &[u32]) -> Result<Batch> {
        match &self.how {
            How::Whole { groups, .. } => {
                let firsts = groups.first_rows();
                let firsts: Vec<u32> = groups_wanted.iter().map(|g| firsts[*g as usize]).collect();
                self.partition
                    .gather(&self.partition.key_columns(), &firsts)
            }
            How::Streamed { index, .. } => {
                let keys = index.keys(0..index.group_count())?;
                let wanted = UInt32Array::from(groups_wanted.to_vec());
                let columns = take_rows(keys.columns(), &wanted)?;
                Ok(Batch::new(columns, groups_wanted.len()))
            }
        }
    }

    /// The next rows that are the first of their groups, all columns. Called from the start, and instead of
    /// [`Self::next`].
    pub(super) fn next_firsts(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let columns: Vec<usize> = (0..self.partition.column_count()).collect();
        if let How::Whole { groups, next } = &mut self.how {
            run.statement.check_interrupt()?;
            let firsts = &groups.first_rows()[*next..];
            let firsts = &firsts[..firsts.len().min(run.statement.options.batch_rows)];
            *next += firsts.len();
            if firsts.is_empty() {
                return Ok(None);
            }
            return self.partition.gather(&columns, firsts).map(Some);
        }
        loop {
            let known = self.group_count();
            let Some(GroupedRows { batch, ids, .. }) = self.next(&columns, run)? else {
                return Ok(None);
            };
            // A row is the first of its group when it is the first to carry the next number.
            let mut next = known;
            let firsts = rows_where(&batch, |row| {
                let first = ids[row] as usize == next;
                next += usize::from(first);
                first
            });
            if !firsts.is_empty() {
                return Ok(Some(firsts));
            }
        }
    }
}
