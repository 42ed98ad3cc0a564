//! The dialect of a CSV file: its delimiter, quote and row ends.

/// How rows and fields are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: Option<u8>,
    /// What makes a quote in a quoted field a part of its text; the quote itself where it is doubled.
    pub(crate) escape: Option<u8>,
    /// The last byte of a row's end.
    pub(crate) row_end: u8,
    /// Begins lines that are no rows.
    pub(crate) comment: Option<u8>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            delimiter: b',',
            quote: Some(b'"'),
            escape: Some(b'"'),
            row_end: b'\n',
            comment: None,
        }
    }
}
