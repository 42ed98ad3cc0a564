//! Syntax errors, with the parts of MySQL's error 1064: the rest of the text from the offending
//! token on, and its line.

use std::fmt;

/// Greatest number of characters of the rest of the text in error 1064.
const NEAR_LENGTH_MAX: usize = 80;

/// Error of a text that is not a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Kind of the error.
    pub kind: SyntaxErrorKind,
    /// The text from the offending token on, at most 80 characters; empty at the end of the text.
    pub near: String,
    /// The line of the offending token, counted from 1.
    pub line: u32,
    /// The byte offset of the offending token.
    pub offset: usize,
}

/// The kinds of errors; the engine maps each to an error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// The token cannot stand here: 1064 (42000).
    Unexpected,
    /// MySQL's grammar has it and MySQL does not support it: 1235 (42000).
    Unsupported {
        /// The unsupported feature.
        feature: &'static str,
    },
    /// No statement at all, only blanks and comments: 1065 (42000).
    Empty,
    /// Nested or chained more deeply than [`crate::DEPTH_MAX`]: 1436 (HY000), as when MySQL's
    /// parser runs out of stack.
    TooDeep {
        /// The limit.
        limit: u32,
    },
    /// The statement's tree would take more memory than it may: 3170 (HY000).
    TooLarge {
        /// Estimated bytes of the tree up to the token where it got too large.
        bytes: u64,
    },
    /// Longer than [`crate::LENGTH_MAX`]: 1153 (08S01), as for a too large packet.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

impl SyntaxError {
    /// The error at a byte offset of a text. Its line is the one of the byte `line_at`.
    pub(crate) fn at(kind: SyntaxErrorKind, sql: &str, offset: usize, line_at: usize) -> Self {
        let before = sql.as_bytes().get(..line_at).unwrap_or_default();
        let newlines = before.iter().filter(|byte| **byte == b'\n').count();
        let rest = sql.get(offset..).unwrap_or("");
        SyntaxError {
            kind,
            near: rest.chars().take(NEAR_LENGTH_MAX).collect(),
            line: u32::try_from(newlines + 1).unwrap_or(u32::MAX),
            offset,
        }
    }
}

impl fmt::Display for SyntaxError {
    /// The message text of the MySQL error that the kind stands for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            SyntaxErrorKind::Unexpected => write!(
                f,
                "You have an error in your SQL syntax; check the manual that corresponds to your \
                 MySQL server version for the right syntax to use near '{}' at line {}",
                self.near, self.line
            ),
            SyntaxErrorKind::Unsupported { feature } => {
                write!(f, "This version of MySQL doesn't yet support '{feature}'")
            }
            SyntaxErrorKind::Empty => f.write_str("Query was empty"),
            SyntaxErrorKind::TooDeep { limit } => write!(
                f,
                "Statement is nested more than {limit} levels deep near '{}' at line {}",
                self.near, self.line
            ),
            SyntaxErrorKind::TooLarge { bytes } => {
                write!(f, "Statement takes more than {bytes} bytes of memory")
            }
            SyntaxErrorKind::TooLong { limit } => {
                write!(f, "Statement is longer than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for SyntaxError {}
