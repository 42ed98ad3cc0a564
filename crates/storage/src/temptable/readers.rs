//! The ways to read what a temporary table holds.

use mayfly_types::Result;

use super::partition::join_index::JoinIndex;
use super::partition_queue::PartitionQueue;
use super::scan::Scan;
use super::sorted::SortedScan;
use super::table::TempTable;

impl TempTable {
    /// A scan of `columns` (all if `None`). Every scan sees every row once; workers that share a
    /// scan ([`Scan::for_another_worker`]) see each row once between them.
    pub fn scan(&self, columns: Option<&[usize]>) -> Scan {
        Scan::open(self, columns)
    }

    /// The partitions of a table with hash access, each to be taken by one worker. Taking a
    /// partition takes its rows out of the table and gives their memory back with it.
    pub fn partitions(&self) -> PartitionQueue {
        PartitionQueue::of(self)
    }

    /// An index over all rows of a table with hash access, taken out of the table, or `None` when
    /// they do not fit in memory together: then join by [`PartitionQueue::pairs`].
    pub fn join_index(&self) -> Result<Option<JoinIndex>> {
        JoinIndex::whole(self).map_err(|error| self.error(&error))
    }

    /// The rows of a table with ordered access, in order, from `offset` (counted from 0) and at
    /// most `limit` of them. Takes the rows out of the table.
    pub fn sorted(&self, offset: u64, limit: Option<u64>) -> Result<SortedScan> {
        SortedScan::open(self, offset, limit).map_err(|error| self.error(&error))
    }
}
