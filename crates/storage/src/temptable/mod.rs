//! The temporary table: one object for GROUP BY, DISTINCT, set operations, sorts, hash joins,
//! derived tables, common table expressions and subquery caches.
//!
//! A table is created from a [`TempTableSpec`] in a statement's [`TempTableContext`]. Worker
//! threads fill it, each through its own [`TempTableWriter`]; once all writers have finished, it is
//! read in the way its [`Access`] allows:
//!
//! | access | read by |
//! |---|---|
//! | any | [`TempTable::scan`]: every row, in batches, by several workers, as often as wanted |
//! | hash | [`TempTable::partitions`]: one [`Partition`] at a time, rows of one key together: [`Partition::groups`] |
//! | hash | [`TempTable::join_index`]: the whole table as one index, while it fits in memory |
//! | hash | [`TempTable::into_keyed_rows`]: lookups of a few keys at a time, in memory or out of it |
//! | hash | [`PartitionQueue::pairs`]: two tables partitioned alike, one [`JoinPair`] at a time, for joins that overflow |
//! | ordered | [`TempTable::sorted`]: all rows in order, or the range that LIMIT and OFFSET name |
//!
//! [`GroupIndex`] exists beside the table: it groups batches as they come, in memory, and a worker uses it until there
//! are too many groups; then it appends to a table.
//!
//! [`DistinctRows`] adds rows to a table and reports at once which of them are new, in memory and out of it: recursion
//! needs that round after round.
//!
//! Writing grows the table's memory up to its budget and then overflows, without the caller noticing: only temporary
//! space may run out, and then the error names the limit.

mod context;
mod dense;
mod distinct_rows;
mod exchange;
mod group_index;
mod keyed_rows;
mod known_values;
mod other_engine;
mod partition;
mod partition_queue;
mod queue;
pub(crate) mod reclaim;
mod record;
mod registry;
mod repartition;
mod repeats;
mod rows;
mod scan;
mod slots;
mod sorted;
mod spec;
mod store;
mod table;
mod user;

pub(crate) use rows::{View, hash_bytes};

pub use context::{HashFunction, OverflowPolicy, Resources, TempTableContext, TempTableOptions};
pub use distinct_rows::DistinctRows;
pub use exchange::ExchangeRecord;
pub use group_index::{GroupIndex, Groups};
pub use keyed_rows::KeyedRows;
pub use other_engine::{
    InternalScan, InternalTable, InternalTableEngine, InternalTableRecord, InternalTableSpec,
};
pub use partition::Partition;
pub use partition::join_index::{BuildRow, JoinIndex, JoinMatches, JoinProbe};
pub use partition_queue::join_pair::JoinPair;
pub use partition_queue::{PartitionQueue, Taken};
pub use queue::{MemoryQueue, QueueShare};
pub use reclaim::Reclaim;
pub(crate) use record::FORCED_OVERFLOW_LIMIT;
pub use record::{ExchangeFigures, LimitHit, RegistryEntry, StatementOwner};
pub use registry::{Registry, StatementCounters};
pub use rows::KeyHasher;
pub use scan::Scan;
pub use sorted::{FirstKeyBound, SortedScan};
pub use spec::{Access, KeyColumn, KeyMode, OperatorNumber, Purpose, SortKey, TempTableSpec};
pub use table::{TempTable, TempTableWriter};
pub(crate) use user::{MapSnapshot, OrderedMap};
pub use user::{
    MemoryIndex, MemoryKeyPart, MemoryLimits, UndoLog, UserTable, UserTableContext,
    UserTableEngine, VaryingBytes,
};
