//! `FLUSH`, `LOCK TABLES` and the maintenance statements of tables.

use super::TableName;

/// `FLUSH [NO_WRITE_TO_BINLOG | LOCAL] target, ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flush {
    /// `NO_WRITE_TO_BINLOG` or `LOCAL`.
    pub local: bool,
    /// What to flush.
    pub targets: Vec<FlushTarget>,
}

/// What `FLUSH` flushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// `STATUS`.
    Status,
    /// `TABLES [names] [WITH READ LOCK | FOR EXPORT]`.
    Tables {
        /// The tables; empty means all.
        tables: Vec<TableName>,
        /// `WITH READ LOCK`.
        read_lock: bool,
        /// `FOR EXPORT`.
        for_export: bool,
    },
    /// `PRIVILEGES`, `LOGS`, `BINARY LOGS`, `USER_RESOURCES`, ...: upper-case, single blanks.
    Other(String),
}

/// One table of `LOCK TABLES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLock {
    /// The table.
    pub table: TableName,
    /// Its alias.
    pub alias: Option<String>,
    /// The lock.
    pub mode: LockMode,
}

/// Kinds of table locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum LockMode {
    Read,
    ReadLocal,
    Write,
}

/// `ANALYZE | CHECK | CHECKSUM | OPTIMIZE | REPAIR TABLE a, b [options]`, `CACHE INDEX a, b IN cache` and
/// `LOAD INDEX INTO CACHE a, b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMaintenance {
    /// The statement.
    pub verb: TableVerb,
    /// `NO_WRITE_TO_BINLOG` or `LOCAL`.
    pub local: bool,
    /// The tables.
    pub tables: Vec<TableName>,
    /// What follows (`QUICK`, `FOR UPGRADE`), as written; the name of the key cache of `CACHE INDEX`.
    pub options: String,
    /// What `ANALYZE TABLE` does to histograms.
    pub histogram: Option<HistogramChange>,
}

/// `UPDATE HISTOGRAM ON a, b [WITH n BUCKETS] [AUTO | MANUAL UPDATE] [USING DATA 'json']` and
/// `DROP HISTOGRAM ON a, b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramChange {
    /// The columns.
    pub columns: Vec<String>,
    /// None for `DROP`.
    pub update: Option<HistogramUpdate>,
}

/// Options of a histogram update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramUpdate {
    /// `WITH n BUCKETS`.
    pub buckets: Option<u64>,
    /// `AUTO UPDATE`.
    pub auto_update: bool,
    /// `USING DATA`.
    pub data: Option<String>,
}

/// The maintenance statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum TableVerb {
    Analyze,
    CacheIndex,
    Check,
    Checksum,
    LoadIndex,
    Optimize,
    Repair,
}
