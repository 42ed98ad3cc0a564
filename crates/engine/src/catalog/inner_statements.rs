//! Interface of stored programs to the session that runs them: a program runs its statements inside the statement that
//! has invoked it (see `session::frame`).

use std::sync::Arc;

use mayfly_types::{Result, SqlType, Value};

use crate::result::StatementResult;

/// What the statements of a stored program run under, whoever invokes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// The current database: that of the program.
    pub(crate) database: Option<Arc<str>>,
    /// `sql_mode`, as flags of the variable, when the program was created; `None` for the invoker's.
    pub(crate) sql_mode: Option<u64>,
    /// The user and host of the account whose privileges apply; `None` for the invoker's (SQL SECURITY INVOKER).
    pub(crate) definer: Option<(String, String)>,
}

/// Statements inside a running statement.
pub trait InnerStatements {
    /// Runs a text of one statement to its end, under the settings of the frame. After an error the statement's own
    /// changes are undone.
    fn run(&mut self, text: &str, parameters: &[(Value, SqlType)]) -> Result<StatementResult>;
}
