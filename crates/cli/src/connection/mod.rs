//! What the shell needs of a connection: a session of this process, or one of a server.
//!
//! A connection runs a text and passes its results, as they come, to a [`Receiver`]. Everything else of the shell
//! (statements and commands, forms of results, completion, the pager) is the same for both.

mod columns;
mod local;
mod names;
mod server;

use std::fmt;
use std::io;
use std::sync::Arc;

use mayfly_engine::{Error, Level, ProgressHandle, ResultColumn, TimeZone};

use crate::output::Part;

pub(crate) use self::local::of_session;
pub(crate) use self::server::{ServerConnection, ServerOptions};

/// Interrupts the running statement from another thread; returns whether there is one.
pub(crate) type Interrupter = Box<dyn Fn() -> bool + Send>;

/// A connection that runs the shell's statements.
pub(crate) trait Connection {
    /// Runs a text and passes on its results.
    fn run(&mut self, text: &[u8], receiver: &mut dyn Receiver) -> Result<(), Failure>;

    /// The warnings of the last statement.
    fn warnings(&mut self) -> Vec<Warning>;

    /// A line to be shown behind the results of a statement.
    fn note(&mut self) -> Option<String> {
        None
    }

    /// The progress of statements.
    fn progress(&self) -> Option<ProgressHandle> {
        None
    }

    /// The time zone in which TIMESTAMPs are shown, if they are known to be such.
    fn time_zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    /// The names of databases, and of the tables and columns of the current one.
    fn object_names(&mut self) -> Vec<String>;

    /// The names of system variables.
    fn variable_names(&mut self) -> Vec<String>;

    /// Whether a statement may change the names that are completed, so that they are read again.
    fn changes_names(&self, text: &[u8]) -> bool;

    /// The statement of `\s`.
    fn status(&self) -> String;

    /// What Ctrl-C does.
    fn interrupter(&self) -> Interrupter;
}

/// Receiver of results.
pub(crate) trait Receiver {
    /// A result with rows begins.
    fn columns(&mut self, columns: &Arc<[ResultColumn]>) -> io::Result<()>;

    /// Rows of it.
    fn rows(&mut self, rows: Part<'_>) -> io::Result<()>;

    /// A result ends, with rows or without.
    fn end(&mut self, end: &ResultEnd) -> io::Result<()>;
}

/// The end of a result.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResultEnd {
    /// Whether it has rows, perhaps none.
    pub(crate) has_rows: bool,
    pub(crate) affected_rows: u64,
    pub(crate) warning_count: u64,
    /// "Records: 4  Duplicates: 0  Warnings: 0" and the like.
    pub(crate) info: String,
    /// Whether it is the last result of the text.
    pub(crate) is_last: bool,
}

/// Error of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatementError {
    pub(crate) errno: u16,
    /// SQLSTATE; empty where it is not known.
    pub(crate) state: String,
    pub(crate) message: String,
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.errno, self.state, self.message)
    }
}

impl From<&Error> for StatementError {
    fn from(error: &Error) -> Self {
        Self {
            errno: error.errno(),
            state: error.sqlstate().to_owned(),
            message: error.message().to_owned(),
        }
    }
}

/// A line of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    pub(crate) level: Level,
    pub(crate) error: StatementError,
}

/// Reason why the results of a text were not printed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The text failed.
    Statement(StatementError),
    /// The results cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Statement(StatementError::from(&error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Whether a statement begins with one of these words.
fn begins_with(statement: &[u8], words: &[&str]) -> bool {
    let begins = |word: &&str| {
        let begin = statement.get(..word.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    };
    words.iter().any(begins)
}
