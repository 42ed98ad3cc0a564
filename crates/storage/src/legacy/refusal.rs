//! Why an engine did not take a row.

use mayfly_memory::{LimitError, MemoryError};

/// What the table answers with a conversion, or with an error.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The table in memory is full.
    Full(LimitError),
    /// A value does not fit into its column's declared width.
    LongValue,
    /// A key is longer than the index takes.
    LongKey,
    /// Nothing helps.
    Failed(MemoryError),
}

/// What an engine gives.
pub(super) type Outcome<T> = Result<T, Refusal>;

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
