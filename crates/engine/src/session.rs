//! A session: one client's place in the engine. It runs one statement at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mayfly_storage::temptable::RegistryEntry as TemporaryTableRecord;
use mayfly_types::Result;

use crate::database::Database;
use crate::result::{ResultStream, StatementResult};
use crate::{error, statements};

/// Whose session it is.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The account's name.
    pub user: String,
    /// Where the client is.
    pub host: String,
    /// The database of unqualified names.
    pub database: Option<String>,
}

impl SessionOptions {
    /// `root@localhost` without a database.
    pub fn new() -> Self {
        Self {
            user: "root".to_owned(),
            host: "localhost".to_owned(),
            database: None,
        }
    }
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Ends the statement that a session runs, from another thread.
#[derive(Debug, Clone)]
pub struct KillHandle {
    killed: Arc<AtomicBool>,
}

impl KillHandle {
    /// The running statement, if there is one, ends with error 1317.
    pub fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
    }
}

/// How far the running statement is, for a progress bar in another thread.
#[derive(Debug, Clone)]
pub struct ProgressHandle {
    rows_read: Arc<AtomicU64>,
    rows_expected: Arc<AtomicU64>,
}

impl ProgressHandle {
    /// Rows read from tables so far.
    pub fn rows_read(&self) -> u64 {
        self.rows_read.load(Ordering::Relaxed)
    }

    /// Rows that will be read, when known; 0 otherwise.
    pub fn rows_expected(&self) -> u64 {
        self.rows_expected.load(Ordering::Relaxed)
    }
}

/// One client's session. Dropping it drops its temporary tables and gives back all its memory.
#[derive(Debug)]
pub struct Session {
    pub(crate) database: Arc<Database>,
    id: u64,
    options: SessionOptions,
    kill: KillHandle,
    progress: ProgressHandle,
    pub(crate) finished_temporary_tables: Vec<TemporaryTableRecord>,
}

impl Session {
    pub(crate) fn new(database: Arc<Database>, id: u64, options: SessionOptions) -> Self {
        Self {
            database,
            id,
            options,
            kill: KillHandle {
                killed: Arc::new(AtomicBool::new(false)),
            },
            progress: ProgressHandle {
                rows_read: Arc::new(AtomicU64::new(0)),
                rows_expected: Arc::new(AtomicU64::new(0)),
            },
            finished_temporary_tables: Vec::new(),
        }
    }

    /// The records of the temporary tables that the last statement used and gave back.
    pub fn finished_temporary_tables(&self) -> Vec<TemporaryTableRecord> {
        self.finished_temporary_tables.clone()
    }

    /// `CONNECTION_ID()`
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The account's name.
    pub fn user(&self) -> &str {
        &self.options.user
    }

    /// The database of unqualified names, if one is selected.
    pub fn current_database(&self) -> Option<&str> {
        self.options.database.as_deref()
    }

    /// Where the client is.
    pub fn host(&self) -> &str {
        &self.options.host
    }

    /// Runs every statement of a text and gathers their results. The first error ends it.
    pub fn execute(&mut self, sql: &str) -> Result<Vec<StatementResult>> {
        let parsed = mayfly_syntax::parse(sql, &mayfly_syntax::ParseOptions::MYSQL_DEFAULT)
            .map_err(|e| error::from_syntax(&e))?;
        let mut results = Vec::with_capacity(parsed.len());
        for statement in &parsed {
            results.push(statements::run(self, statement)?.into_result()?);
        }
        Ok(results)
    }

    /// Runs one statement and gives its rows as they are made.
    pub fn query(&mut self, sql: &str) -> Result<ResultStream<'_>> {
        let parsed = mayfly_syntax::parse(sql, &mayfly_syntax::ParseOptions::MYSQL_DEFAULT)
            .map_err(|e| error::from_syntax(&e))?;
        match parsed.as_slice() {
            [statement] => statements::run(self, statement),
            _ => Err(mayfly_types::error::codes::ER_EMPTY_QUERY.error()),
        }
    }

    /// What SHOW WARNINGS would list.
    pub fn warnings(&self) -> Vec<mayfly_types::Condition> {
        Vec::new()
    }

    /// Ends the running statement from another thread.
    pub fn kill_handle(&self) -> KillHandle {
        self.kill.clone()
    }

    /// Watches the running statement from another thread.
    pub fn progress_handle(&self) -> ProgressHandle {
        self.progress.clone()
    }
}
