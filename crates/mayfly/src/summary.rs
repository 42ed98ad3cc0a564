//! The counts of a statement.

use std::borrow::Cow;

use mayfly_engine::StatementResult;

/// What a statement has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first number that AUTO_INCREMENT gave, or 0.
    pub last_insert_id: u64,
    /// How many [warnings](crate::Connection::warnings) there are.
    pub warning_count: u64,
    /// `Records: 4  Duplicates: 0  Warnings: 0` and the like; empty for most statements.
    pub info: Cow<'static, str>,
}

impl Summary {
    pub(crate) fn of(result: &StatementResult) -> Self {
        Self {
            affected_rows: result.affected_rows,
            last_insert_id: result.last_insert_id,
            warning_count: result.warning_count,
            info: result.info.clone(),
        }
    }
}
