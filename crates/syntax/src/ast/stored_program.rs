//! Stored programs: procedures, functions, triggers and events.

use super::TableName;

/// Kind of a stored program.
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
    /// The kind of the program.
    pub kind: StoredProgramKind,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Its name, with the same qualifier as a table's.
    pub name: TableName,
}
