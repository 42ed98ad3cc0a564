//! Errors of a client: those of the server, which leave the connection usable, and those that end it.

use std::fmt;

/// Error of a connection or a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// An error packet of the server. After the login the connection can still be used.
    Server {
        /// The number.
        code: u16,
        /// The SQLSTATE.
        state: String,
        /// The text, without control characters.
        message: String,
    },
    /// The file of a LOAD DATA LOCAL cannot be read. The connection can still be used.
    File(String),
    /// Nobody answers at the address.
    Unreachable(String),
    /// The connection is lost, or ended because the server breaks the protocol or a limit.
    Connection(String),
}

impl Error {
    /// The number that MySQL's clients give it.
    pub fn code(&self) -> u16 {
        match self {
            Self::Server { code, .. } => *code,
            Self::File(_) => EE_FILENOTFOUND,
            Self::Unreachable(_) => CR_CONN_HOST_ERROR,
            Self::Connection(_) => CR_SERVER_LOST,
        }
    }

    /// The SQLSTATE.
    pub fn state(&self) -> &str {
        match self {
            Self::Server { state, .. } => state,
            _ => "HY000",
        }
    }

    /// The text.
    pub fn message(&self) -> &str {
        match self {
            Self::Server { message, .. } => message,
            Self::File(message) | Self::Unreachable(message) | Self::Connection(message) => message,
        }
    }

    /// Whether the connection cannot be used any more.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Connection(_))
    }
}

const EE_FILENOTFOUND: u16 = 29;
const CR_CONN_HOST_ERROR: u16 = 2003;
const CR_SERVER_LOST: u16 = 2013;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server {
                code,
                state,
                message,
            } => write!(f, "ERROR {code} ({state}): {message}"),
            _ => f.write_str(self.message()),
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::Connection(message)
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}
