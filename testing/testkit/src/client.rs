//! A client of MariaDB, MySQL and Mayfly: text queries over a Unix socket, for a user without a password.
//!
//! The protocol is implemented by the `mysql` crate and not by the `wire` crate, so that the oracle shares no code with
//! the tested program.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use mysql::consts::ColumnType;
use mysql::prelude::Queryable as _;
use mysql::{Conn, LocalInfile, LocalInfileHandler, OptsBuilder, Params, Statement, Value};

use crate::fixture::Errno;

/// An error that the server sent.
pub use mysql::MySqlError as ServerError;

/// Error number of a lost connection, an error of the client itself (`CR_SERVER_LOST`).
pub const LOST: u16 = 2013;

/// A row: one value per column, in the server's text form.
pub type Row = Vec<Option<Vec<u8>>>;

/// Answer to a statement.
#[derive(Debug)]
pub enum Answer {
    /// A result set.
    Rows {
        /// The types of its columns.
        types: Vec<ColumnType>,
        /// Its rows.
        rows: Vec<Row>,
    },
    /// No result set; the number of affected rows.
    Done(u64),
}

/// One connection.
#[derive(Debug)]
pub struct Client(Conn);

impl Client {
    /// Connects as `user` without a password.
    ///
    /// # Errors
    /// When the socket cannot be reached or the server refuses the user.
    pub fn connect(socket: &Path, user: &str) -> Result<Self, ServerError> {
        let options = OptsBuilder::new()
            .socket(Some(socket.to_string_lossy()))
            .user(Some(user))
            // Without it, the crate would ask the server.
            .max_allowed_packet(Some(1 << 30))
            .local_infile_handler(Some(LocalInfileHandler::new(send_file)));
        Conn::new(options).map(Self).map_err(server_error)
    }

    /// Runs one statement.
    ///
    /// # Errors The server's error packet, or the lost connection.
    pub fn query(&mut self, sql: &str) -> Result<Answer, ServerError> {
        let result = self.0.query_iter(sql).map_err(server_error)?;
        let columns = result.columns();
        let types: Vec<_> = columns.as_ref().iter().map(|it| it.column_type()).collect();
        if types.is_empty() {
            return Ok(Answer::Done(result.affected_rows()));
        }
        let rows = result.map(|row| Ok(row?.unwrap().into_iter().map(bytes).collect()));
        let rows = rows.collect::<mysql::Result<_>>().map_err(server_error)?;
        Ok(Answer::Rows { types, rows })
    }

    /// Prepares a statement, runs it with the values of its `?` in the binary protocol, and closes it. Values other
    /// than texts are written as in SQL.
    ///
    /// # Errors
    /// The server's error packet, or the lost connection.
    pub fn execute(&mut self, sql: &str, values: Vec<Value>) -> Result<Answer, ServerError> {
        let statement = self.0.prep(sql).map_err(server_error)?;
        let count = usize::from(statement.num_params());
        let parameters = if count == 0 {
            Params::Empty
        } else {
            Params::Positional(values)
        };
        let found = self.executed(&statement, parameters);
        self.0.close(statement).map_err(server_error)?;
        found
    }

    fn executed(&mut self, statement: &Statement, values: Params) -> Result<Answer, ServerError> {
        let result = self.0.exec_iter(statement, values).map_err(server_error)?;
        let columns = result.columns();
        let types: Vec<_> = columns.as_ref().iter().map(|it| it.column_type()).collect();
        if types.is_empty() {
            return Ok(Answer::Done(result.affected_rows()));
        }
        let text = |value: Value| match value {
            Value::NULL => None,
            Value::Bytes(bytes) => Some(bytes),
            other => Some(other.as_sql(true).into_bytes()),
        };
        let rows = result.map(|row| Ok(row?.unwrap().into_iter().map(text).collect()));
        let rows = rows.collect::<mysql::Result<_>>().map_err(server_error)?;
        Ok(Answer::Rows { types, rows })
    }
}

impl Errno for Client {
    fn errno(&mut self, sql: &str) -> u16 {
        self.query(sql).map_or_else(|error| error.code, |_| 0)
    }
}

/// Sends the file that LOAD DATA LOCAL names.
fn send_file(name: &[u8], server: &mut LocalInfile<'_>) -> std::io::Result<()> {
    server.write_all(&std::fs::read(OsStr::from_bytes(name))?)
}

/// Text results have no other values.
fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn server_error(error: mysql::Error) -> ServerError {
    match error {
        mysql::Error::MySqlError(error) => error,
        error => ServerError {
            state: "HY000".to_owned(),
            message: error.to_string(),
            code: LOST,
        },
    }
}
