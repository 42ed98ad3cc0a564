//! One run of a statement, as a server has recorded it.

/// What a slow log says of one run. A number that the log's format does not have is `None`, which is not the same
/// as zero: without the number of temporary tables, whether there was one has to be found out in another way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// When it began or ended, in microseconds since 1970.
    pub time: Option<i64>,
    /// The account, as `user@host`.
    pub account: String,
    /// The default database.
    pub database: Option<String>,
    /// The statement.
    pub text: String,
    /// The statement was longer than what is kept of it.
    pub truncated: bool,
    /// Seconds that it took.
    pub query_time: f64,
    /// Seconds that it waited for locks.
    pub lock_time: f64,
    /// Rows that the client got.
    pub rows_sent: u64,
    /// Rows that were read.
    pub rows_examined: u64,
    /// Temporary tables that were made, in memory and on disk.
    pub tables: Option<u64>,
    /// Temporary tables that were on disk in the end.
    pub disk_tables: Option<u64>,
    /// The bytes of all of them.
    pub bytes: Option<u64>,
    /// Temporary tables that outgrew `tmp_table_size`.
    pub size_limit_hits: Option<u64>,
    /// Rounds of merging that sorts made on disk.
    pub merge_passes: Option<u64>,
    /// A sort used files.
    pub sort_on_disk: Option<bool>,
    /// A table was joined without an index.
    pub full_join: Option<bool>,
    /// The server's own EXPLAIN, one line a row, the first line the names of the columns.
    pub explain: Vec<String>,
}
