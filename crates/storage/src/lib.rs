//! Storage: temporary tables, which are Mayfly's purpose, and base tables.
//!
//! - [`temptable`]: the temporary table behind GROUP BY, DISTINCT, set operations, sorts, hash joins,
//!   derived tables, common table expressions and subquery caches.
//! - [`base`]: base tables, durable or with the lifetime of the process.
//! - [`key_encoding`]: order-preserving encoding of index keys.
//! - [`workers`]: the pool of threads that help statements.
//! - [`table`]: the trait through which the layers above scan and change any table.
//! - [`values`]: stored forms of values.
//!
//! This crate sees column numbers, positions and [`mayfly_types::Batch`]es. It knows no SQL text and
//! no session variable: limits come in as [`mayfly_memory::Budget`]s and plain options.

pub mod base;
pub mod batch_table;
pub mod error;
pub mod key_encoding;
mod row_filter;
mod scan_request;
pub mod streamed;
pub mod table;
pub mod temptable;
pub mod transaction;
mod tree_version;
pub mod values;
pub mod workers;

pub use base::{
    ChangeStorage, Durability, DurableStore, DurableTable, DurableTransaction, LockedRow, ReadView,
    RowLockWaits, Statement, StatementOptions, StoreLocation, StoreOptions, SyncThread,
    TableDefinition, TreeId, TreeSpace,
};
pub use batch_table::BatchTable;
pub use error::{ANONYMOUS_TABLE, user_error};
pub use key_encoding::{ByteRange, KeyEncoder, RowKeyEncoder, RowKeys};
pub use row_filter::{FilterKind, FilteredRows, NumberRange, RowFilter};
pub use scan_request::{ColumnCondition, ColumnId, ColumnTerm, ScanPredicate, ScanRequest};
pub use streamed::{BatchStream, StreamScan};
pub use table::{
    DeclaredSize, Duplicate, IndexId, IndexPart, IndexSpec, KeyBound, KeyRange, LockMode, LockWait,
    Locked, ReadLock, RowChange, RowsWritten, Table, TableScan, TableState, TableStatistics,
    TableWriter,
};
pub use transaction::Participant;
pub use tree_version::{TreeVersion, WatchedRanges};
pub use workers::{Worker, WorkerPool};

pub use temptable::{
    Access, BuildRow, DistinctRows, ExchangeFigures, ExchangeRecord, FirstKeyBound, GroupIndex,
    Groups, HashFunction, InternalScan, InternalTable, InternalTableEngine, InternalTableRecord,
    InternalTableSpec, JoinIndex, JoinMatches, JoinPair, JoinProbe, KeyColumn, KeyHasher, KeyMode,
    KeyedRows, LimitHit, MemoryIndex, MemoryKeyPart, MemoryLimits, Partition, PartitionQueue,
    Purpose, Registry, RegistryEntry, Resources, Scan, SortKey, SortedScan, StatementCounters,
    StatementOwner, Taken, TempTable, TempTableContext, TempTableOptions, TempTableSpec,
    TempTableWriter, UndoLog, UserTable, UserTableContext, UserTableEngine, VaryingBytes,
};
