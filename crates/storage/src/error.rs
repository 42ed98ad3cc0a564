//! Conversion of [`mayfly_memory`] failures into user errors.

use mayfly_memory::{MemoryError, corruption};
use mayfly_types::Error;
use mayfly_types::error::codes;

/// Name of an unnamed table in error messages.
pub const ANONYMOUS_TABLE: &str = "(temporary)";

/// The MySQL error for a failure in table `table`.
///
/// A limit gives error 1114 with setting, value and remedy; a full disk 1021 with path and bytes; any other failure
/// names the file and the system's errno.
pub fn user_error(error: &MemoryError, table: &str) -> Error {
    match error {
        MemoryError::Limit(limit) => codes::ER_RECORD_FILE_FULL_LIMIT.with(&[&table, limit]),
        MemoryError::NoRoom(error) => codes::ER_RECORD_FILE_FULL_LIMIT.with(&[&table, error]),
        MemoryError::Interrupted => codes::ER_QUERY_INTERRUPTED.error(),
        MemoryError::OutOfMemory { .. } => codes::ER_OUT_OF_MEMORY.with(&[error]),
        MemoryError::Io(failure) if failure.is_disk_full() => {
            codes::ER_DISK_FULL.with(&[&failure.path.display(), &failure.detail()])
        }
        MemoryError::Io(failure) if failure.operation == "read" => {
            codes::ER_ERROR_ON_READ.with(&[&failure.path.display(), &failure.detail()])
        }
        MemoryError::Io(failure) => {
            codes::ER_ERROR_ON_WRITE.with(&[&failure.path.display(), &failure.detail()])
        }
        MemoryError::Corrupt {
            path,
            offset,
            bytes,
        } => codes::ER_ERROR_ON_READ.with(&[&path.display(), &corruption(*offset, *bytes)]),
    }
}

/// Error: a caller has given a value that its column cannot hold.
pub(crate) fn wrong_type() -> Error {
    Error::internal("a value is not of its column's type")
}
