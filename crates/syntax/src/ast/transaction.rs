//! Transaction control.

use super::VariableScope;

/// `BEGIN [WORK]` and `START TRANSACTION ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTransaction {
    /// `WITH CONSISTENT SNAPSHOT`.
    pub consistent_snapshot: bool,
    /// `READ ONLY` or `READ WRITE`.
    pub access_mode: Option<AccessMode>,
}

/// Access modes of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum AccessMode {
    ReadOnly,
    ReadWrite,
}

/// Isolation levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// Options of `COMMIT` and `ROLLBACK` (`AND CHAIN`, `RELEASE`); `None` follows the variable
/// `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// `AND [NO] CHAIN`.
    pub chain: Option<bool>,
    /// `[NO] RELEASE`.
    pub release: Option<bool>,
}

/// `SET [scope] TRANSACTION ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetTransaction {
    /// `None` means the next transaction only.
    pub scope: Option<VariableScope>,
    /// `ISOLATION LEVEL`.
    pub isolation: Option<IsolationLevel>,
    /// `READ ONLY` or `READ WRITE`.
    pub access_mode: Option<AccessMode>,
}
