//! Why bytes are not text, or text has no bytes in a character set.

/// A character that a character set cannot hold, or bytes that are no text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharsetError {
    /// Where in the input the first wrong byte stands.
    pub position: usize,
}
