//! A row that cannot be read.

/// Most rows that are kept of a file.
pub(super) const REJECTS_MAX: usize = 10_000;
/// Most bytes that are kept of a row.
const TEXT_MAX: usize = 1024;

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reject {
    /// The line that it begins in, and the bytes before it.
    pub(super) line: u64,
    pub(super) byte: u64,
    /// The column whose value is wrong.
    pub(super) column: Option<String>,
    pub(super) reason: String,
    /// Its beginning.
    pub(super) text: Vec<u8>,
}

impl Reject {
    /// The part of a row that is kept.
    pub(super) fn beginning(text: &[u8]) -> Vec<u8> {
        let kept = text.get(..TEXT_MAX).unwrap_or(text);
        // A character that is cut off is left out.
        let end = kept
            .utf8_chunks()
            .next()
            .map_or(0, |chunk| chunk.valid().len());
        kept.get(..end).unwrap_or_default().to_vec()
    }
}
