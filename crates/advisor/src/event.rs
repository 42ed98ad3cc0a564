//! One run of a statement, as recorded by a server.

/// Entry of a slow log for one run. A number that the log's format does not have is `None`, as opposed to zero: without
/// the number of temporary tables, whether there was one must be concluded from other facts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Time of its start or end, in microseconds since 1970.
    pub time: Option<i64>,
    /// The account, as `user@host`.
    pub account: String,
    /// The default database.
    pub database: Option<String>,
    /// The statement.
    pub text: String,
    /// Whether the statement was longer than the kept part.
    pub truncated: bool,
    /// Seconds that it took.
    pub query_time: f64,
    /// Seconds that it waited for locks.
    pub lock_time: f64,
    /// Rows sent to the client.
    pub rows_sent: u64,
    /// Rows that were read.
    pub rows_examined: u64,
    /// Temporary tables created, in memory and on disk.
    pub tables: Option<u64>,
    /// Temporary tables that were on disk in the end.
    pub disk_tables: Option<u64>,
    /// Bytes of all of them.
    pub bytes: Option<u64>,
    /// Temporary tables that outgrew `tmp_table_size`.
    pub size_limit_hits: Option<u64>,
    /// Sort merge passes on disk.
    pub merge_passes: Option<u64>,
    /// A sort used files.
    pub sort_on_disk: Option<bool>,
    /// Whether a table was joined without an index.
    pub full_join: Option<bool>,
    /// The server's own EXPLAIN, one line a row, the first line the names of the columns.
    pub explain: Vec<String>,
}
