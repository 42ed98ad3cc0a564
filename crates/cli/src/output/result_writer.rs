//! The interface of the writers of results: one for each form of a result.
//!
//! A writer gets the rows of a result in parts, as they come, and the end of the result once. It prints only to the
//! output that each call gives it.

use std::io::{self, Write};

use super::part::Part;

/// Writer of the result of one statement.
pub(crate) trait Writer {
    /// Adds rows.
    fn rows(&mut self, out: &mut dyn Write, rows: Part<'_>) -> io::Result<()>;

    /// Ends the result after the last row.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
