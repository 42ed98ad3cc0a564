//! Stored programs: procedures, functions, triggers and events.

use super::TableName;

/// What is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum StoredProgramKind {
    Procedure,
    Function,
    Trigger,
    Event,
}

/// `DROP PROCEDURE | FUNCTION | TRIGGER | EVENT [IF EXISTS] name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropStoredProgram {
    /// What is dropped.
    pub kind: StoredProgramKind,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Its name, which is made as a table's is.
    pub name: TableName,
}
