//! Clients that run statements: a session of Mayfly in this process, or a connection to a server.

use std::sync::Arc;
use std::time::Duration;

use mayfly_client::{Address, Limits};
use mayfly_engine::{Database, Session, StatementResult};

use crate::row_sum::RowSum;

/// The database of the experiments, here and on a server.
pub(super) const DATABASE: &str = "mayfly_reproduce";

/// Reason why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Time limit of a statement exceeded.
    TooLong,
    /// An error.
    Failed(String),
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::TooLong => "it takes too long: raise --seconds".to_owned(),
            Trouble::Failed(error) => error,
        }
    }
}

/// Rows as text.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// A client that runs statements.
pub(super) trait Client {
    /// Runs a statement, and gives its rows.
    fn rows(&mut self, sql: &str) -> Result<Rows, Trouble>;

    /// Runs a statement to its last row, and sums up its rows.
    fn sum(&mut self, sql: &str) -> Result<RowSum, Trouble>;

    /// Runs a statement.
    fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        self.sum(sql).map(drop)
    }
}

impl Client for Session {
    fn rows(&mut self, sql: &str) -> Result<Rows, Trouble> {
        let results = self.execute(sql).map_err(trouble)?;
        Ok(results.iter().flat_map(|it| it.rows_text()).collect())
    }

    fn sum(&mut self, sql: &str) -> Result<RowSum, Trouble> {
        let mut sum = RowSum::default();
        let mut stream = self.query(sql).map_err(trouble)?;
        let columns = stream.result().columns.clone();
        while let Some(batch) = stream.next_batch().map_err(trouble)? {
            let result = StatementResult {
                columns: columns.clone(),
                batches: vec![batch],
                ..StatementResult::default()
            };
            for row in 0..result.row_count() {
                sum.add(&result.row_bytes(row));
            }
        }
        Ok(sum)
    }
}

fn trouble(error: mayfly_engine::Error) -> Trouble {
    match error.errno() {
        ER_QUERY_TIMEOUT => Trouble::TooLong,
        _ => Trouble::Failed(error.to_string()),
    }
}

/// Maximum statement execution time exceeded, in MySQL and in MariaDB.
const ER_QUERY_TIMEOUT: u16 = 3024;
const ER_STATEMENT_TIMEOUT: u16 = 1969;

/// A connection to a server.
struct Remote(mayfly_client::Client);

impl Client for Remote {
    fn rows(&mut self, sql: &str) -> Result<Rows, Trouble> {
        let rows = self.0.query(sql).map_err(remote_trouble)?;
        Ok(rows.rows)
    }

    fn sum(&mut self, sql: &str) -> Result<RowSum, Trouble> {
        let mut sum = RowSum::default();
        let done = self.0.for_each_row(sql, |row| sum.add(row));
        done.map_err(remote_trouble)?;
        Ok(sum)
    }
}

fn remote_trouble(error: mayfly_client::Error) -> Trouble {
    match error.code() {
        ER_QUERY_TIMEOUT | ER_STATEMENT_TIMEOUT => Trouble::TooLong,
        _ => Trouble::Failed(error.to_string()),
    }
}

/// Additional time in which a server may report its own time limit of a statement.
const GRACE_SECONDS: u64 = 10;
/// Least time limit of a load: servers apply their own limit to queries only.
const LOAD_SECONDS: u64 = 600;

/// Target of connections.
pub(super) enum Place {
    /// A database of this process.
    Here(Arc<Database>),
    /// A server.
    There(Address),
}

impl Place {
    /// A client in the database of the experiments, with a time limit of `seconds` for a statement.
    pub(super) fn connect(&self, seconds: u64) -> Result<Box<dyn Client>, Trouble> {
        let mut client = self.connect_outside(seconds)?;
        client.run(&format!("USE {DATABASE}"))?;
        client.run("SET NAMES utf8mb4")?;
        let milliseconds = format!("SET SESSION max_execution_time = {}", seconds * 1000);
        if client.run(&milliseconds).is_err() {
            // MariaDB's variable; older servers have no time limit.
            let _ = client.run(&format!("SET SESSION max_statement_time = {seconds}"));
        }
        Ok(client)
    }

    /// A client without a default database.
    pub(super) fn connect_outside(&self, seconds: u64) -> Result<Box<dyn Client>, Trouble> {
        match self {
            Self::Here(database) => Ok(Box::new(database.session())),
            Self::There(address) => mayfly_client::Client::connect(address, limits(seconds))
                .map(|connection| Box::new(Remote(connection)) as Box<dyn Client>)
                .map_err(|error| Trouble::Failed(error.to_string())),
        }
    }
}

fn limits(seconds: u64) -> Limits {
    Limits {
        time: Duration::from_secs(seconds.max(LOAD_SECONDS) + GRACE_SECONDS),
        ..Limits::default()
    }
}
