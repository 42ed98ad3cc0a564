//! Errors of conversions from and to character sets.

/// A character that a character set cannot hold, or bytes that are not valid in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharsetError {
    /// Position of the first wrong byte in the input.
    pub position: usize,
}
