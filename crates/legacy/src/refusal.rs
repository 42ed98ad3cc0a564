//! Refusals: why an engine did not accept a row.

use mayfly_memory::{LimitError, MemoryError};

/// Refusal of a row, answered by the table with a conversion or an error.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The table in memory is full.
    Full(LimitError),
    /// A value does not fit into its column's declared width.
    LongValue,
    /// A key is longer than the index takes.
    LongKey,
    /// Failure that no conversion helps against.
    Failed(MemoryError),
}

/// Result of an engine's operation.
pub(crate) type Outcome<T> = Result<T, Refusal>;

impl From<MemoryError> for Refusal {
    fn from(error: MemoryError) -> Self {
        Self::Failed(error)
    }
}

impl From<LimitError> for Refusal {
    fn from(error: LimitError) -> Self {
        Self::Failed(error.into())
    }
}
