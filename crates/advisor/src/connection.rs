//! Connections that run statements: to a remote server, or a session of this process.

/// A result: the names of its columns, and its rows in text form.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Option<String>>>,
}

/// A connection that runs statements.
pub trait Connection {
    /// Runs a statement.
    ///
    /// # Errors
    /// The server's message, or that of a lost connection.
    fn query(&mut self, sql: &str) -> Result<Rows, String>;
}
