//! Single values, outside of arrays: literals, parameters, variables.

use arrow_buffer::i256;

/// A value of one of the physical types. The [`crate::SqlType`] beside it gives its meaning: an
/// `Int` may be a number or a packed DATETIME, `Bytes` a text or a JSON document.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// NULL of any type.
    #[default]
    Null,
    /// Physical Bool (0 or 1) and Int64.
    Int(i64),
    /// Physical UInt64.
    UInt(u64),
    /// Physical Float64.
    Float(f64),
    /// Physical Decimal128 and Decimal256: `unscaled` × 10^-`scale`.
    Decimal {
        /// All digits, as an integer.
        unscaled: i256,
        /// Number of digits after the point.
        scale: u8,
    },
    /// Physical Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}
