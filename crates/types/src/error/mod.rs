//! Errors as MySQL reports them: errno, SQLSTATE, text. The texts are in one table, [`codes`].

pub mod codes;

use std::fmt;

/// Result of an operation that a user's statement can make fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One row of the table of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode {
    /// MySQL's error number.
    pub errno: u16,
    /// Five characters of SQLSTATE.
    pub sqlstate: &'static str,
    /// The text, with `{}` for each argument.
    pub format: &'static str,
}

impl ErrorCode {
    /// The error of this code with its arguments put into the text, in order.
    pub fn with(&self, arguments: &[&dyn fmt::Display]) -> Error {
        let mut message = String::with_capacity(self.format.len() + 32);
        let mut arguments = arguments.iter();
        let mut rest = self.format;
        while let Some(place) = rest.find("{}") {
            message.push_str(&rest[..place]);
            match arguments.next() {
                Some(argument) => message.push_str(&argument.to_string()),
                None => debug_assert!(false, "error {} lacks an argument", self.errno),
            }
            rest = &rest[place + 2..];
        }
        message.push_str(rest);
        debug_assert!(
            arguments.next().is_none(),
            "error {} has one too many",
            self.errno
        );
        Error(Box::new(ErrorParts {
            code: *self,
            message,
        }))
    }

    /// An error of this code whose text is complete: it was made in another process.
    pub fn with_text(&self, message: String) -> Error {
        Error(Box::new(ErrorParts {
            code: *self,
            message,
        }))
    }

    /// The error of a code whose text takes no argument.
    pub fn error(&self) -> Error {
        self.with(&[])
    }
}

/// An error with its final text, one pointer wide so that `Result`s stay small on the row path.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorParts>);

#[derive(Clone, PartialEq, Eq)]
struct ErrorParts {
    code: ErrorCode,
    message: String,
}

impl Error {
    /// The error of a defect in Mayfly itself, not in a user's statement or data.
    pub fn internal(what: impl fmt::Display) -> Self {
        codes::ER_UNKNOWN_ERROR.with(&[&format_args!(
            "internal error: {what}. This is a defect of Mayfly {}: please report it with the statement",
            env!("CARGO_PKG_VERSION")
        )])
    }

    /// The error of a statement that panicked.
    pub fn of_panic(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Self::internal(text)
    }

    /// MySQL's error number.
    pub fn errno(&self) -> u16 {
        self.0.code.errno
    }

    /// Five characters of SQLSTATE.
    pub fn sqlstate(&self) -> &'static str {
        self.0.code.sqlstate
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the error has this code.
    pub fn is(&self, code: &ErrorCode) -> bool {
        self.errno() == code.errno
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ERROR {} ({}): {}",
            self.errno(),
            self.sqlstate(),
            self.message()
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
